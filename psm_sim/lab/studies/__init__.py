"""Studies of published claims: one module per study."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from psm_sim.common.registry import unknown_name_error
from psm_sim.lab.studies.study import Study

STUDIES = {
    "lpsm-100": "lpsm_energy:LPSM_100",
    "lpsm-4x500": "lpsm_energy:LPSM_4X500",
    "bsd-energy": "bsd_energy:STUDY",
    "bsd-rtt": "bsd_rtt:STUDY",
    "slowdown-by-page": "slowdown_by_page:STUDY",
    "sleep-times": "sleep_times:STUDY",
    "sensitivity": "sensitivity:STUDY",
    "one-setting": "one_setting.study:STUDY",
    "optimum": "optimum:STUDY",
    "trace-study": "trace_study:STUDY",
    "non-stationary": "non_stationary.study:STUDY",
}
"""Module and object of each study by its name on the command line, in the order of the report."""


OWN = {
    "listening": "listening.study:STUDY",
    "devices": "devices.study:STUDY",
    "mac": "link_against_mac:STUDY",
}
"""Studies that repeat no published experiment; ``all`` does not include them."""


def load_study(
    name: str, studies: Mapping[str, str] = STUDIES | OWN, package: str = "psm_sim.lab.studies"
) -> Study:
    """Import and return a study.

    Parameters
    ----------
    name : str
        Name of the study on the command line.
    studies : mapping of str to str
        Location of each study by its name, as ``"module:OBJECT"``.
    package : str
        Package of the modules.

    Raises
    ------
    InputError
        If there is no study with that name.
    """
    if name not in studies:
        raise unknown_name_error("study", name, [*studies, "all"])
    module, _, attribute = studies[name].partition(":")
    study: Study = getattr(importlib.import_module(f"{package}.{module}"), attribute)
    return study

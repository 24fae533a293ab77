"""Studies of published claims: one module per study."""

from __future__ import annotations

import importlib

from psm_sim.registry import unknown
from psm_sim.studies.study import Study

STUDIES = {
    "lpsm-100": "lpsm_energy:LPSM_100",
    "lpsm-4x500": "lpsm_energy:LPSM_4X500",
    "bsd-energy": "bsd_energy:STUDY",
    "bsd-rtt": "bsd_rtt:STUDY",
    "slowdown-by-page": "slowdown_by_page:STUDY",
    "sleep-times": "sleep_times:STUDY",
    "sensitivity": "sensitivity:STUDY",
    "optimum": "optimum:STUDY",
}
"""The module and object of each study, by its name on the command line, in the order of the report."""


def load_study(name: str) -> Study:
    """Return the study of a name.

    Raises
    ------
    InputError
        If there is no study of that name.
    """
    if name not in STUDIES:
        raise unknown("study", name, [*STUDIES, "all"])
    module, _, attribute = STUDIES[name].partition(":")
    found: Study = getattr(importlib.import_module(f"psm_sim.studies.{module}"), attribute)
    return found

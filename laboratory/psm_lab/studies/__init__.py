"""Studies of published claims: one module per study, and their names on the command line."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psm_lab.studies.study import Study

STUDIES = {
    "lpsm-100": "lpsm_main_results:LPSM_100",
    "lpsm-4x500": "lpsm_main_results:LPSM_4X500",
    "bsd-energy": "bsd_energy",
    "bsd-rtt": "bsd_rtt",
    "slowdown-by-page": "slowdown_by_page",
    "sleep-times": "sleep_times",
    "sensitivity": "sensitivity",
    "one-setting": "joint_setting_search",
    "optimum": "distance_to_optimum",
    "trace-study": "lpsm_trace_replay",
    "non-stationary": "non_stationary",
}
"""Module and object of each study of published power savings, in the order of the report."""

OWN = {
    "listening": "listening",
    "devices": "devices",
    "mac": "link_against_mac",
    "what-limits-lpsm": "what_limits_lpsm",
}
"""Studies that repeat no published experiment. They belong to no group and run by name only."""

FIELD = {"field": "field"}
"""Study of published results on power saving beyond the two papers. It runs by name only."""

VALIDATIONS = {
    "data-sheet": "validation:DATA_SHEET",
    "dtim": "validation:DTIM",
    "calibration": "validation:CALIBRATION",
    "duty-cycle": "validation:DUTY_CYCLE",
    "latency": "validation:LATENCY",
    "ping": "validation:PING",
}
"""Studies that compare the simulator with measured hardware."""

ACTIVE_STUDIES = {
    "sphere": "active.perceptrons_on_sphere",
    "patience": "active.dkm_patience",
    "worst-case": "active.adversarial_mistake_bounds",
    "text-like": "active.text_classes",
    "ocr": "active.digit_ocr",
    "drift": "active.drift",
    "isal-1d": "active.isal_1d",
    "isal-planes": "active.isal_planes",
    "isal-pool": "active.isalp_and_pool_rules",
    "trees": "active.decision_trees",
    "lmu": "active.lmu_image_selection",
}
"""Studies of the online active learners."""

GROUPS = {"all": STUDIES, "validation": VALIDATIONS, "learners": ACTIVE_STUDIES}
"""Groups of studies by name. ``all`` is the default and has no studies of the other groups."""

_LOCATIONS = STUDIES | OWN | FIELD | VALIDATIONS | ACTIVE_STUDIES


def select_studies(names: Sequence[str]) -> list[str]:
    """Return the names of studies, with groups expanded, in the order of the report.

    Parameters
    ----------
    names : sequence of str
        Names of studies and groups; empty for the group ``all``.

    Raises
    ------
    InputError
        If a name is unknown.
    """
    from psm_sim.common.registry import unknown_name_error

    selected: set[str] = set()
    for name in names or ["all"]:
        if name not in {**_LOCATIONS, **GROUPS}:
            raise unknown_name_error("study", name, [*_LOCATIONS, *GROUPS])
        selected.update(GROUPS.get(name, [name]))
    return [name for name in _LOCATIONS if name in selected]


def load_study(name: str) -> Study:
    """Import and return the study *name*."""
    location, _, attribute = _LOCATIONS[name].partition(":")
    module: Any = importlib.import_module(f"psm_lab.studies.{location}")
    study: Study = getattr(module, attribute) if attribute else module
    return study

"""Limits of a workload, checked before the memory is asked for."""

from __future__ import annotations

from psm_sim.bounds import MOST_OBJECTS
from psm_sim.errors import InputError


def check_objects(objects: int, owner: str) -> None:
    """Refuse more objects than memory is meant for; *owner* is what they are of, as ``"trace ucb"``."""
    if objects > MOST_OBJECTS:
        raise InputError(
            f"{owner}: the pages have {objects:,} objects; expected at most {MOST_OBJECTS:,} in all, so give "
            "fewer pages."
        )

"""Limits of a workload, checked before the memory is asked for."""

from __future__ import annotations

from psm_sim.errors import InputError
from psm_sim.limits import MAX_OBJECTS


def check_objects(objects: int, owner: str) -> None:
    """Refuse more objects than memory is meant for; *owner* is what they are of, as ``"trace ucb"``."""
    if objects > MAX_OBJECTS:
        raise InputError(
            f"{owner}: the pages have {objects:,} objects; expected at most {MAX_OBJECTS:,} in all, so give "
            "fewer pages."
        )

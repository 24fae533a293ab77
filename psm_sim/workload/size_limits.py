"""Size limit of a workload, checked before memory is allocated."""

from __future__ import annotations

from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_OBJECTS


def check_objects(objects: int, owner: str) -> None:
    """Raise an error if *objects* exceeds the limit. *owner* names the source, e.g. ``"trace ucb"``."""
    if objects > MAX_OBJECTS:
        raise InputError(
            f"{owner}: expected at most {MAX_OBJECTS:,} objects in all pages, got {objects:,}; use fewer "
            "pages."
        )

"""Figures of the studies by name, in the form of the thesis's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from psm_sim.reporting.figures import bars, curves, learners, listening, scatter

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


_DRAWERS: dict[str, Callable[[Any], Any]] = {
    "energy": bars.energy,
    "slowdown": bars.slowdown,
    "round-trips": curves.round_trips,
    "sleep-times": curves.sleep_times,
    "pages": scatter.pages,
    "frontier": scatter.frontier,
    "listening": listening.listening,
    "labels": learners.labels,
    "drift": learners.drift,
    "f-measure": learners.f_measure,
}


def draw(key: str, frame: pd.DataFrame) -> tuple[Figure, str]:
    """Return the figure of that name, drawn from its numbers, and its caption."""
    figure, caption = _DRAWERS[key](frame)
    return figure, caption

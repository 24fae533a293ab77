"""Figures of the studies by name, in the form of the thesis's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from psm_sim.lab.reporting.figures import (
    bars,
    curves,
    devices,
    learners,
    listening,
    non_stationary,
    scatter,
    settings,
    validation,
)

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
    "settings": settings.settings,
    "trade-off": non_stationary.energy_against_slowdown,
    "regret": non_stationary.loss_of_each_rate,
    "polling": non_stationary.polling_times,
    "listening": listening.listening,
    "labels": learners.labels,
    "drift": learners.drift,
    "f-measure": learners.f_measure,
    "bought": learners.bought,
    "currents": validation.currents,
    "trade": devices.trade,
    "crossover": devices.crossover,
}


def draw(key: str, frame: pd.DataFrame) -> tuple[Figure, str]:
    """Return the figure of that name, drawn from its numbers, and its caption."""
    figure, caption = _DRAWERS[key](frame)
    return figure, caption

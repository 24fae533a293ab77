"""Registry of the study figures."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from psm_sim.lab.reporting.figures import (
    devices,
    energy_bars,
    learners,
    listening,
    non_stationary,
    page_slowdowns,
    round_trip_curves,
    setting_search,
    validation,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


_DRAWERS: dict[str, Callable[[Any], Any]] = {
    "energy": energy_bars.draw_energy,
    "slowdown": energy_bars.draw_slowdown,
    "round-trips": round_trip_curves.draw_round_trips,
    "sleep-times": round_trip_curves.draw_sleep_times,
    "pages": page_slowdowns.draw_pages,
    "frontier": page_slowdowns.draw_frontier,
    "settings": setting_search.draw_settings,
    "trade-off": non_stationary.draw_trade_off,
    "regret": non_stationary.draw_rate_losses,
    "polling": non_stationary.draw_polling_times,
    "listening": listening.draw_listening,
    "labels": learners.draw_labels,
    "drift": learners.draw_drift,
    "f-measure": learners.draw_f_measure,
    "bought": learners.draw_queried,
    "currents": validation.draw_currents,
    "trade": devices.draw_trade_off,
    "crossover": devices.draw_crossover,
}


def draw(key: str, frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot the figure *key* from its data, and return it with its caption."""
    figure, caption = _DRAWERS[key](frame)
    return figure, caption

"""Registry of the study figures."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from psm_lab.reporting.figures import (
    active_learning_studies,
    energy_and_slowdown_bars,
    hardware,
    listening,
    non_stationary,
    replay,
    round_trip_curves,
    scatter_plots,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


_DRAWERS: dict[str, Callable[[Any], Any]] = {
    "energy": energy_and_slowdown_bars.draw_energy,
    "slowdown": energy_and_slowdown_bars.draw_slowdown,
    "round-trips": round_trip_curves.draw_round_trips,
    "sleep-times": round_trip_curves.draw_sleep_times,
    "pages": scatter_plots.draw_pages,
    "frontier": scatter_plots.draw_frontier,
    "settings": scatter_plots.draw_settings,
    "trade-off": non_stationary.draw_trade_off,
    "regret": non_stationary.draw_rate_losses,
    "polling": non_stationary.draw_polling_times,
    "losses": replay.draw_losses,
    "weights": replay.draw_weights,
    "against-best": replay.draw_against_best,
    "listening": listening.draw_listening,
    "labels": active_learning_studies.draw_labels,
    "drift": active_learning_studies.draw_drift,
    "f-measure": active_learning_studies.draw_f_measure,
    "bought": active_learning_studies.draw_queried,
    "currents": hardware.draw_currents,
    "trade": hardware.draw_trade_off,
    "crossover": hardware.draw_crossover,
}


def draw(key: str, frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot the figure *key* from its data, and return it with its caption."""
    figure, caption = _DRAWERS[key](frame)
    return figure, caption

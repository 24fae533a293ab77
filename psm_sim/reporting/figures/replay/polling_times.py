"""Figure of the polling times of a replay under two losses.

It corresponds to the thesis, figure 2-5, which shows polling times in the simulator instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from psm_sim.common.formatting import truncate
from psm_sim.reporting.figures.replay.axes_and_colours import (
    FigureData,
    concat_columns,
    history_of,
    in_unit,
    opening_axes,
    title_window,
)
from psm_sim.reporting.figures.style import COLOURS, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from psm_sim.replay.replay_history import PollTable
    from psm_sim.replay.trace_replay import ReplayedClient


def sleep_times(client: ReplayedClient, other: ReplayedClient) -> FigureData:
    """Plot the polling times over time, with one row per loss.

    The columns show the whole replay and its start. Marks below each curve show the polls that retrieved
    bytes.

    Parameters
    ----------
    client, other : ReplayedClient
        Replays of the same activity under the two losses, with their histories.
    """
    figure, axes = new_figure(2, 2, width_in=7.2, height_in=5.2)
    numbers: dict[str, list[Any]] = {}
    span_s = opening_axes(history_of(client)).end_s[-1]
    for row, replayed in enumerate((client, other)):
        history, name = history_of(replayed), str(replayed.method.parameters["loss"])
        whole = history.whole
        portion = history.beginning.first(int(np.searchsorted(history.beginning.end_s, span_s)) + 1)
        _plot(axes[2 * row], whole, replayed, f"({'ab'[row]}) loss {truncate(name, 24, '…')}")
        _plot(axes[2 * row + 1], portion, replayed, title_window(portion.polls, "start"))
        axes[2 * row].set_ylabel(f"polling time (ms)\n{title_window(whole.polls, '').lstrip(', ')}")
        for panel, table in (("whole", whole), ("beginning", portion)):
            key = f"{'ab'[row]}_{panel}"
            numbers[f"{key}_time_s"] = concat_columns(table.end_s)
            numbers[f"{key}_polling_ms"] = concat_columns(table.facts["slept_ms"])
            numbers[f"{key}_held_bytes"] = concat_columns(table.facts["buffered_bytes"])
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return FigureData(figure, numbers)


def _plot(axes: Axes, table: PollTable, client: ReplayedClient, title: str) -> None:
    times_ms = client.replay.times_ms
    time, unit = in_unit(table.end_s)
    axes.step(time, table.facts["slept_ms"], where="pre", color=COLOURS[0], label="polling time")
    axes.set(xlabel=f"time ({unit})", ylim=(0, times_ms[-1] * 1.05))
    axes.set_title(title, loc="left", fontsize=9)
    with_bytes = np.flatnonzero(table.facts["buffered_bytes"] > 0)
    style: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "color": COLOURS[1], "linewidth": 0.7}
    axes.vlines(time[with_bytes], 0, 0.045, label="poll that retrieved bytes", **style)
    axes.margins(x=0.01)

"""Shared helpers of the replay figures: history, time axes and expert colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from psm_sim.replay.replay_history import PollTable, ReplayHistory
    from psm_sim.replay.trace_replay import ReplayedClient

_ZOOM = (300, 3_000)
_POLLS_WITH_BYTES = 60
LONG_ZOOM = (2_000, 10_000)
LONG_POLLS_WITH_BYTES = 300
"""Number of polls with bytes that is large enough to show the convergence of the learner."""

_UNITS = (("days", 86_400.0), ("h", 3_600.0), ("min", 60.0), ("s", 1.0))


class FigureData(NamedTuple):
    """Figure and its data, by column."""

    figure: Figure
    numbers: Mapping[str, Sequence[Any]]


def history_of(client: ReplayedClient) -> ReplayHistory:
    """Return the history of a replay, or raise ValueError if it was not recorded."""
    if client.history is None:
        raise ValueError("the replay has no history; run it with history=True")
    return client.history


def opening_axes(
    history: ReplayHistory, polls_with_bytes: int = _POLLS_WITH_BYTES, zoom: tuple[int, int] = _ZOOM
) -> PollTable:
    """Return the first polls of a replay, for the panel that zooms in on the start.

    Parameters
    ----------
    history : ReplayHistory
        History of the whole replay.
    polls_with_bytes : int
        Number of polls with buffered bytes to include.
    zoom : (int, int)
        Minimum and maximum number of polls to include.
    """
    table = history.beginning
    indices = np.flatnonzero(table.facts["buffered_bytes"])[:polls_with_bytes]
    low, high = zoom
    return table.first(int(np.clip(indices[-1] + 1 if indices.size == polls_with_bytes else high, low, high)))


def in_unit(seconds: NDArray[Any]) -> tuple[NDArray[Any], str]:
    """Return times in the largest unit in which the last time is at least 3, and the unit."""
    fits = [(unit, size) for unit, size in _UNITS if seconds[-1] >= 3 * size]
    unit, size = (fits or [_UNITS[-1]])[0]
    return seconds / size, unit


def expert_colours(experts: int) -> list[Any]:
    """Return one colour per expert, from dark blue to light yellow, which stay ordered in greyscale."""
    from matplotlib import colormaps

    return [colormaps["cividis"](share) for share in np.linspace(0.0, 0.95, experts)]


def expert_scale(figure: Figure, axes: Sequence[Axes], times_ms: NDArray[Any]) -> None:
    """Add a colour bar with one step per expert.

    Parameters
    ----------
    figure : Figure
        Figure to add to.
    axes : sequence of Axes
        Axes next to which the colour bar is placed.
    times_ms : ndarray, shape (n,)
        Polling times of the experts in ms, evenly spaced, with n >= 2.
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import BoundaryNorm, ListedColormap

    edges = np.concatenate([times_ms, [2 * times_ms[-1] - times_ms[-2]]]) - (times_ms[1] - times_ms[0]) / 2
    scale = ScalarMappable(BoundaryNorm(edges, times_ms.size), ListedColormap(expert_colours(times_ms.size)))
    bar = figure.colorbar(scale, ax=list(axes), pad=0.02, aspect=30)
    every = -(-times_ms.size // 12)
    bar.set_ticks(times_ms[::every].tolist(), labels=[f"{ms:g}" for ms in times_ms[::every]])
    bar.set_label("expert: polling time (ms)")
    bar.ax.tick_params(length=0)
    bar.ax.minorticks_off()


def title_window(polls: NDArray[Any], span: str = "whole replay") -> str:
    """Return a panel title, which states whether the panel shows every poll or means over several polls."""
    return f"{span}, every poll" if polls[0] == 1 else f"{span}, means over {polls[0]:g} polls"


def round_values(values: NDArray[Any]) -> list[float]:
    """Return values rounded to seven significant digits, for the CSV."""
    return [float(f"{value:.7g}") for value in values.tolist()]


def concat_columns(*columns: NDArray[Any]) -> list[float]:
    """Return the concatenated columns, rounded for the CSV."""
    return round_values(np.concatenate(columns))

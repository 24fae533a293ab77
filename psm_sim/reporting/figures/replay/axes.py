"""Series that the figures of a replay share: their history, axes of time, and colours of ordered experts."""

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
_EVENTFUL = 60
LONG_ZOOM = (2_000, 10_000)
LONG_EVENTFUL = 300
"""A beginning long enough to show how the learner comes from the mean of the experts to the best ones."""

_UNITS = (("days", 86_400.0), ("h", 3_600.0), ("min", 60.0), ("s", 1.0))


class FigureData(NamedTuple):
    """A figure and its numbers, by column."""

    figure: Figure
    numbers: Mapping[str, Sequence[Any]]


def history_of(client: ReplayedClient) -> ReplayHistory:
    """Return the history that figures need."""
    if client.history is None:
        raise ValueError("the replay kept no history; make it with history=True")
    return client.history


def opening_axes(
    history: ReplayHistory, eventful: int = _EVENTFUL, zoom: tuple[int, int] = _ZOOM
) -> PollTable:
    """Return the beginning to zoom in on.

    Parameters
    ----------
    history
        The whole replay.
    eventful
        The polls that have found bytes by its end.
    zoom
        The least and the largest number of polls, whatever they found.
    """
    table = history.beginning
    found = np.flatnonzero(table.facts["buffered_bytes"])[:eventful]
    least, most = zoom
    return table.first(int(np.clip(found[-1] + 1 if found.size == eventful else most, least, most)))


def in_unit(seconds: NDArray[Any]) -> tuple[NDArray[Any], str]:
    """Return times in the largest unit of which there are at least three, and the unit."""
    fits = [(unit, size) for unit, size in _UNITS if seconds[-1] >= 3 * size]
    unit, size = (fits or [_UNITS[-1]])[0]
    return seconds / size, unit


def expert_colours(experts: int) -> list[Any]:
    """Return one colour per expert, from dark blue to light yellow: the order is seen in grey too."""
    from matplotlib import colormaps

    return [colormaps["cividis"](share) for share in np.linspace(0.0, 0.95, experts)]


def expert_scale(figure: Figure, axes: Sequence[Axes], times_ms: NDArray[Any]) -> None:
    """Put a scale of the experts' colours beside the axes, one step per expert.

    Parameters
    ----------
    figure : Figure
        The figure that is changed.
    axes : sequence of Axes
        The axes beside which the scale stands.
    times_ms : ndarray, shape (n,)
        The experts' polling times in ms, evenly spaced, n at least 2.
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


def title_window(polls: NDArray[Any], what: str = "whole replay") -> str:
    """Return what a panel shows: every poll, or means over windows of a number of polls."""
    return f"{what}, every poll" if polls[0] == 1 else f"{what}, means over {polls[0]:g} polls"


def round_up(values: NDArray[Any]) -> list[float]:
    """Return numbers with seven digits, for the CSV."""
    return [float(f"{value:.7g}") for value in values.tolist()]


def concat_columns(*columns: NDArray[Any]) -> list[float]:
    """Return columns one below the other, for the CSV."""
    return round_up(np.concatenate(columns))

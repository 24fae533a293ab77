"""Figures of a replay: losses and weights of the experts (thesis, figures 2-9 to 2-11)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from psm_sim.reporting.figures.canvas import add_legend, new_figure
from psm_sim.reporting.style import BLUE, VERMILLION

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_UNITS = (("days", 86_400.0), ("h", 3_600.0), ("min", 60.0), ("s", 1.0))  # seconds per unit

_LEARNER_LABELS = {"mixture": "learner: mixture loss", "suffered": "learner: loss at the polling time used"}


def draw_losses(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot the losses of the experts and of the learner, of the whole replay and of its start.

    Returns the figure and its caption. *frame* is the result of
    :func:`~psm_lab.replay.figure_columns.loss_columns`.
    """
    times_ms = _expert_times_ms(frame)
    figure, axes = new_figure(2, 1, height_in=6.0)
    for panel, (name, marker) in zip(axes, (("whole", ""), ("beginning", "o")), strict=True):
        rows = frame[frame["panel"] == name]
        _plot_losses(panel, rows, times_ms, marker)
        panel.set_title(_title_rows(name, rows["polls"]), loc="left", fontsize=9)
    add_legend(figure, axes[1])
    _add_expert_scale(figure, axes, times_ms)
    return figure, "Loss per poll of each expert and of the learner (thesis, figure 2-9)."


def _plot_losses(axes: Axes, rows: pd.DataFrame, times_ms: NDArray[Any], marker: str) -> None:
    time, unit = _in_unit(rows["time_s"].to_numpy())
    for ms, colour in zip(times_ms.tolist(), _expert_colours(times_ms.size), strict=True):
        axes.plot(time, rows[f"expert_{ms:g}_ms_nats"], color=colour, linewidth=0.8)
    circles: dict[str, Any] = {"marker": marker, "markersize": 2.6, "markerfacecolor": "white"}
    circles["markevery"] = -(-time.size // 150)
    axes.plot(time, rows["suffered_nats"], color=VERMILLION, label=_LEARNER_LABELS["suffered"], **circles)
    axes.plot(time, rows["mixture_nats"], "k--", linewidth=1.0, label=_LEARNER_LABELS["mixture"])
    axes.set(xlabel=f"time ({unit})", ylabel="loss per poll (nats)", yscale="log")
    axes.margins(x=0.01)


def draw_against_best(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot the loss of the learner, of the best fixed and of the current best expert, and the differences.

    Returns the figure and its caption. *frame* is the result of
    :func:`~psm_lab.replay.figure_columns.best_expert_columns`.
    """
    time, unit = _in_unit(frame["time_s"].to_numpy())
    comparators = {
        "best fixed expert in hindsight": frame["best_fixed_expert_nats"],
        "current best expert of each poll": frame["current_best_nats"],
    }
    figure, axes = new_figure(2, 2, width_in=7.2, height_in=5.6)
    style: dict[str, Any] = {"color": VERMILLION, "linestyle": "-", "linewidth": 1.0}
    for above, below, (title, comparator) in zip(axes[:2], axes[2:], comparators.items(), strict=True):
        above.set_title(title, loc="left", fontsize=9)
        above.plot(time, comparator, color=BLUE, linewidth=1.6, label="comparator")
        above.plot(time, frame["suffered_nats"], label=_LEARNER_LABELS["suffered"], **style)
        above.set_yscale("log")
        below.axhline(0, color=BLUE, linewidth=1.6)
        below.plot(time, frame["suffered_nats"] - comparator, **style)
        below.set_xlabel(f"time ({unit})")
    axes[0].set_ylabel("loss per poll (nats)")
    axes[2].set_ylabel("regret per poll (nats)")
    add_legend(figure, axes[0])
    figure.suptitle(_title_window(frame["poll"].iloc[0]), fontsize=9)
    return figure, (
        "Loss per poll of the learner, of the best fixed expert and of the current best expert (thesis,"
        " figure 2-11). Lower panels: differences."
    )


def draw_weights(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot the weights of the experts, stacked to 1, of the whole replay and of its start.

    Returns the figure and its caption. *frame* is the result of
    :func:`~psm_lab.replay.figure_columns.weight_columns`.
    """
    times_ms = _expert_times_ms(frame)
    figure, axes = new_figure(2, 1, height_in=5.6)
    for panel, name in zip(axes, ("whole", "beginning"), strict=True):
        rows = frame[frame["panel"] == name]
        layers = [rows[f"weight_{ms:g}_ms"] for ms in times_ms.tolist()]
        panel.stackplot(rows["poll"], layers, colors=_expert_colours(times_ms.size), linewidth=0)
        panel.set(xlabel="poll", ylabel="weight", ylim=(0, 1))
        panel.margins(x=0)
        panel.grid(visible=False)
        panel.set_title(_title_rows(name, rows["poll"]), loc="left", fontsize=9)
    _add_expert_scale(figure, axes, times_ms)
    return figure, "Weights of the experts before each poll (thesis, figure 2-10)."


def _in_unit(seconds: NDArray[Any]) -> tuple[NDArray[Any], str]:
    """Return times in the largest unit in which the last time is at least 3, and the unit."""
    fits = [(unit, size) for unit, size in _UNITS if seconds[-1] >= 3 * size]
    unit, size = (fits or [_UNITS[-1]])[0]
    return seconds / size, unit


def _expert_colours(experts: int) -> list[Any]:
    """Return one colour per expert, from dark blue to light yellow; the order also holds in greyscale."""
    from matplotlib import colormaps

    return [colormaps["cividis"](share) for share in np.linspace(0.0, 0.95, experts)]


def _add_expert_scale(figure: Figure, axes: Sequence[Axes], times_ms: NDArray[Any]) -> None:
    """Add a colour bar with one step per expert. *times_ms* has at least two evenly spaced values."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import BoundaryNorm, ListedColormap

    edges = np.concatenate([times_ms, [2 * times_ms[-1] - times_ms[-2]]]) - (times_ms[1] - times_ms[0]) / 2
    scale = ScalarMappable(BoundaryNorm(edges, times_ms.size), ListedColormap(_expert_colours(times_ms.size)))
    bar = figure.colorbar(scale, ax=list(axes), pad=0.02, aspect=30)
    every = -(-times_ms.size // 12)
    bar.set_ticks(times_ms[::every].tolist(), labels=[f"{ms:g}" for ms in times_ms[::every]])
    bar.set_label("expert: polling time (ms)")
    bar.ax.tick_params(length=0)
    bar.ax.minorticks_off()


def _title_window(polls: float) -> str:
    """Return a title that states whether a panel shows every poll or means over *polls* polls."""
    return f"whole replay, {'every poll' if polls == 1 else f'means over {polls:g} polls'}"


def _title_rows(panel: str, polls: pd.Series) -> str:
    """Return the title of a panel; the first of *polls* is the window size."""
    return _title_window(polls.iloc[0]) if panel == "whole" else f"the first {polls.size} polls"


def _expert_times_ms(frame: pd.DataFrame) -> NDArray[Any]:
    """Return the polling times in the names of the columns ``expert_MS_ms_nats`` or ``weight_MS_ms``."""
    names = [name for name in frame if str(name).startswith(("expert_", "weight_"))]
    return np.array([float(str(name).split("_")[1]) for name in names])

"""Figures of the active-learning studies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psm_sim.reporting.figures.canvas import add_legend, new_figure
from psm_sim.reporting.style import series_style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_RATE = "share of queried labels"
_MAX_TICKS = 6  # more labels overlap


def draw_labels(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot the queried labels against the error, with logarithmic axes.

    Returns the figure and its caption. The columns of *frame* are ``setting, error, labels``.
    """
    figure = _plot_lines(frame, ("error of the half-space", "queried labels, median"))
    figure.axes[0].set_yscale("log")
    figure.axes[0].invert_xaxis()
    return figure, "Median number of labels queried until the error is reached, d = 10."


def draw_drift(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot the accuracy under drift against the query rate.

    Returns the figure and its caption. The columns of *frame* are ``learner, rate, accuracy``.
    """
    figure = _plot_lines(frame, (_RATE, "accuracy"))
    return figure, "Accuracy against the share of queried labels. The target changes every 500 rounds."


def draw_f_measure(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot the F-measure against the query rate.

    Returns the figure and its caption. The columns of *frame* are ``learner, rate, F``.
    """
    figure = _plot_lines(frame.sort_values(["learner", "rate"]), (_RATE, "macro F-measure"))
    ticks = [tick for tick in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0) if tick >= frame["rate"].min() / 2]
    _set_ticks(figure, ticks)
    return figure, "Macro F-measure of the last predictions against the share of queried labels."


def draw_queried(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot a mean value against the number of queried labels.

    Returns the figure and its caption. The columns of *frame* are a name, ``bought`` and the value.
    """
    by, _, value = frame.columns
    figure = _plot_lines(frame, ("queried labels or images", f"mean {value}"))
    return figure, f"Mean {value} against the number of queried labels or images, one line per {by}."


def _plot_lines(frame: pd.DataFrame, labels: tuple[str, str]) -> Figure:
    """Plot the third column against the second, one line per name in the first, with these axis labels."""
    by, x, y = frame.columns
    figure, (axes,) = new_figure(height_in=4.6)
    for index, (name, line) in enumerate(frame.groupby(by, sort=False)):
        style = series_style(index)
        axes.plot(
            line[x],
            line[y],
            color=style.colour,
            linestyle=style.line,
            marker=style.marker,
            markersize=4,
            linewidth=1.2,
            label=str(name),
        )
    axes.set_xscale("log")
    axes.set(xlabel=labels[0], ylabel=labels[1])
    if len(ticks := sorted(frame[x].unique())) < _MAX_TICKS:
        _set_ticks(figure, ticks)
    add_legend(figure, axes)
    return figure


def _set_ticks(figure: Figure, ticks: list[float]) -> None:
    figure.axes[0].set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    figure.axes[0].minorticks_off()

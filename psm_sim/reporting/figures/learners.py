"""Lines of the learners' studies: labels against the error, accuracy and F-measure against the label rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psm_sim.reporting.figures.style import COLOURS, LINES, MARKERS, new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def labels(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Draw ``setting, error, labels``, both axes logarithmic."""
    figure = _lines(frame, "setting", "error", "labels")
    figure.axes[0].set_yscale("log")
    figure.axes[0].invert_xaxis()
    return figure, "Labels bought until the error is reached, medians, d = 10."


def drift(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Draw ``learner, rate, accuracy``."""
    figure = _lines(frame, "learner", "rate", "accuracy")
    return figure, "Accuracy against the share of labels bought, target redrawn every 500 rounds."


def f_measure(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Draw ``learner, rate, F``."""
    figure = _lines(frame.sort_values(["learner", "rate"]), "learner", "rate", "F")
    return figure, "Macro F-measure of the last predictions against the share of labels bought."


def _lines(frame: pd.DataFrame, by: str, x: str, y: str) -> Figure:
    figure, (axes,) = new_figure(height_in=4.6)
    for place, (name, line) in enumerate(frame.groupby(by, sort=False)):
        axes.plot(
            line[x],
            line[y],
            color=COLOURS[place % len(COLOURS)],
            linestyle=LINES[place // len(COLOURS) % len(LINES)],
            marker=MARKERS[place % len(MARKERS)],
            markersize=4,
            linewidth=1.2,
            label=str(name),
        )
    axes.set_xscale("log")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    ticks = sorted(frame[x].unique())
    if len(ticks) < 6:
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
    figure.legend(loc="outside lower center", ncols=2 if place < 4 else 4, frameon=False, fontsize=8)
    return figure

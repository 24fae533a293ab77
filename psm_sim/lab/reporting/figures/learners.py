"""Lines of the learners' studies: labels against the error, accuracy, F-measure and error against labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psm_sim.reporting.figures.style import COLOURS, LINES, MARKERS, new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_RATE = "share of labels bought"
_FEW = 6
_WIDTH = 80
"""Letters of the names that stand side by side in a legend."""


def draw_labels(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Draw ``setting, error, labels``, both axes logarithmic."""
    figure = _lines(frame, ("error of the half-space", "labels bought, median"))
    figure.axes[0].set_yscale("log")
    figure.axes[0].invert_xaxis()
    return figure, "Labels bought until the error is reached, medians, d = 10."


def draw_drift(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Draw ``learner, rate, accuracy``."""
    figure = _lines(frame, (_RATE, "accuracy"))
    return figure, "Accuracy against the share of labels bought, target redrawn every 500 rounds."


def draw_f_measure(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Draw ``learner, rate, F``."""
    figure = _lines(frame.sort_values(["learner", "rate"]), (_RATE, "macro F-measure"))
    ticks = [tick for tick in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0) if tick >= frame["rate"].min() / 2]
    _mark(figure, ticks)
    return figure, "Macro F-measure of the last predictions against the share of labels bought."


def draw_queried(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Draw a name, ``bought`` and a value."""
    by, _, value = frame.columns
    figure = _lines(frame, ("labels or images bought", f"mean {value}"))
    return figure, f"Mean {value} after the labels or images bought, one line per {by}."


def _lines(frame: pd.DataFrame, words: tuple[str, str]) -> Figure:
    """Draw the third column over the second, one line per name in the first, under axes of those words."""
    by, x, y = frame.columns
    figure, (axes,) = new_figure(height_in=4.6)
    for place, (name, line) in enumerate(frame.groupby(by, sort=False)):
        colour, again = place % len(COLOURS), place // len(COLOURS)
        axes.plot(line[x], line[y], color=COLOURS[colour], linestyle=LINES[again % len(LINES)])
        axes.lines[-1].set(marker=MARKERS[place % len(MARKERS)], markersize=4, linewidth=1.2, label=str(name))
    axes.set_xscale("log")
    axes.set(xlabel=words[0], ylabel=words[1])
    if len(ticks := sorted(frame[x].unique())) < _FEW:
        _mark(figure, ticks)
    columns = min(4, _WIDTH // max(len(str(name)) for name in frame[by].unique()))
    figure.legend(loc="outside lower center", ncols=max(1, columns), frameon=False, fontsize=8)
    return figure


def _mark(figure: Figure, ticks: list[float]) -> None:
    figure.axes[0].set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    figure.axes[0].minorticks_off()

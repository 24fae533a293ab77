"""Lines: error or F-measure after the labels that were bought, one line per learner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psm_sim.reporting.figures.style import COLOURS, LINES, MARKERS, new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def bought(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Draw a name, ``bought`` and a value as one line per name; the number bought is logarithmic."""
    by, x, y = frame.columns
    figure, (axes,) = new_figure(height_in=4.6)
    for place, (name, line) in enumerate(frame.groupby(by, sort=False)):
        colour, style = place % len(COLOURS), (place + place // len(COLOURS)) % len(LINES)
        axes.plot(line[x], line[y], color=COLOURS[colour], linestyle=LINES[style], marker=MARKERS[colour])
        axes.lines[-1].set(markersize=4, linewidth=1.2, label=str(name))
    axes.set_xscale("log")
    ticks = frame[x].unique()
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set(xlabel="labels or images bought", ylabel=f"mean {y}")
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return figure, f"Mean {y} after the labels or images bought, one line per {by}."

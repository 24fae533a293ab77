"""Interactive bar chart of the energy by radio state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from psm_sim.reporting.html.figure_style import make_figure, put_legend_below
from psm_sim.reporting.marks import ENERGY, LABELS, Mark, split_far, state_measure, states_of
from psm_sim.reporting.style import STATES, VERMILLION

if TYPE_CHECKING:
    from bokeh.plotting import figure as Figure  # noqa: N812


def draw(marks: Sequence[Mark], measure: str = ENERGY) -> Figure:
    """Plot one stacked bar per mark, with the confidence interval of the total energy.

    The initial axis excludes the ends of far longer bars.

    Parameters
    ----------
    marks : sequence of Mark
        At least one mark.
    measure : str
        Energy per page, or mean power.
    """
    from bokeh.models import HoverTool

    names = unique_names([mark.label for mark in marks])
    limit = 1.15 * max(mark.values[measure] for mark in split_far(marks, measure)[0])
    figure = make_figure(
        150 + 34 * len(marks), y_range=names[::-1], x_range=(0, limit), x_axis_label=LABELS[measure]
    )
    left = [0.0] * len(marks)
    for state in states_of(marks):
        widths = [mark.values.get(state_measure(measure, state), 0.0) for mark in marks]
        right = [start + width for start, width in zip(left, widths, strict=True)]
        data: dict[str, Any] = {"row": names, "left": left, "right": right, "width": widths}
        bar = _bar(figure, {**data, "name": [mark.name for mark in marks]}, state)
        tips = [("", "@name"), (LABELS[state_measure(measure, state)], "@width{0.0000}")]
        figure.add_tools(HoverTool(renderers=[bar], tooltips=tips))
        left = right
    _plot_intervals(figure, marks, names, measure)
    put_legend_below(figure, max(map(len, STATES)))
    return figure


def _bar(figure: Figure, data: dict[str, Any], state: str) -> Any:
    from bokeh.models import ColumnDataSource

    return figure.hbar(
        y="row",
        left="left",
        right="right",
        height=0.62,
        source=ColumnDataSource(data),
        color=STATES[state][0],
        line_color="#444444",
        legend_label=state,
    )


def _plot_intervals(figure: Figure, marks: Sequence[Mark], names: Sequence[str], measure: str) -> None:
    low, high = zip(*(mark.ends(measure) for mark in marks), strict=True)
    figure.segment(x0=low, y0=list(names), x1=high, y1=list(names), color=VERMILLION, line_width=3)


def unique_names(names: Sequence[str]) -> list[str]:
    """Return the names with numbers appended to duplicates, because a categorical axis needs unique names."""
    return [name if name not in names[:index] else f"{name} ({index})" for index, name in enumerate(names)]

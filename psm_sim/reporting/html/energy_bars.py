"""Bars of a page: the energy of each policy by radio state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from psm_sim.reporting.html.figure_style import make_figure, put_legend_below
from psm_sim.reporting.html.trade_off import FAR, Mark, Y

if TYPE_CHECKING:
    from bokeh.plotting import figure as Figure  # noqa: N812

STATES = {"asleep": "#56B4E9", "awake": "#0072B2", "beacons": "#E69F00"}


def draw(marks: Sequence[Mark]) -> Figure:
    """Draw one bar per mark, with the interval of the whole; bars that are far longer begin in view."""
    from bokeh.models import HoverTool

    names = unique_names([mark.series for mark in marks])
    limit = 1.15 * max(each for each in _energies(marks) if each <= FAR * min(_energies(marks)))
    figure = make_figure(
        150 + 34 * len(marks), y_range=names[::-1], x_range=(0, limit), x_axis_label="energy (J per page)"
    )
    left = [0.0] * len(marks)
    for state, colour in STATES.items():
        widths = [mark.values[f"energy_by_state_per_page_j.{state}"] for mark in marks]
        right = [begin + width for begin, width in zip(left, widths, strict=True)]
        data: dict[str, Any] = {"row": names, "left": left, "right": right, "joules": widths}
        bar = _bar(figure, {**data, "name": [mark.name for mark in marks]}, colour, state)
        tips = [("", "@name"), (state, "@joules{0.0000} J per page")]
        figure.add_tools(HoverTool(renderers=[bar], tooltips=tips))
        left = right
    _intervals(figure, marks, names)
    put_legend_below(figure, max(map(len, STATES)))
    return figure


def _bar(figure: Figure, data: dict[str, Any], colour: str, state: str) -> Any:
    from bokeh.models import ColumnDataSource

    return figure.hbar(
        y="row",
        left="left",
        right="right",
        height=0.62,
        source=ColumnDataSource(data),
        color=colour,
        line_color="#444444",
        legend_label=state,
    )


def _intervals(figure: Figure, marks: Sequence[Mark], names: Sequence[str]) -> None:
    halves = [mark.half_widths.get(Y, 0.0) for mark in marks]
    ends = list(zip(_energies(marks), halves, strict=True))
    low, high = [value - half for value, half in ends], [value + half for value, half in ends]
    figure.segment(x0=low, y0=list(names), x1=high, y1=list(names), color="#D55E00", line_width=3)


def _energies(marks: Sequence[Mark]) -> list[float]:
    return [mark.values[Y] for mark in marks]


def is_clipped(marks: Sequence[Mark]) -> bool:
    """Say whether a bar runs out of view at first."""
    return max(_energies(marks)) > FAR * min(_energies(marks))


def unique_names(names: Sequence[str]) -> list[str]:
    """Return the names, a number behind those that were there before: an axis has each name once."""
    return [name if name not in names[:place] else f"{name} ({place})" for place, name in enumerate(names)]

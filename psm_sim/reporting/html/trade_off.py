"""Interactive figure of two selectable measures of each policy."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

from psm_sim.reporting.html.figure_style import make_figure, put_legend_below
from psm_sim.reporting.marks import ENERGY, LABELS, OFFLINE_OPTIMUM, SLOWDOWN, Mark, split_far
from psm_sim.reporting.style import OPTIMUM_COLOUR

if TYPE_CHECKING:
    from bokeh.models import ColumnDataSource
    from bokeh.plotting import figure as Figure  # noqa: N812

_MAX_LABELLED = 40
"""Maximum number of marks of a series that are labelled with their values."""


def draw(
    marks: Sequence[Mark],
    optimum: Sequence[tuple[float, float]] = (),
    x: str = SLOWDOWN,
    y: str = ENERGY,
) -> Figure:
    """Plot the marks with confidence intervals along both axes. Marks of one series are joined.

    Parameters
    ----------
    marks : sequence of Mark
        At least one mark.
    optimum : sequence of (float, float)
        Slowdown and energy of the offline-optimal schedules. An empty sequence omits the line.
    x, y : str
        Measures that the axes show initially.
    """
    figure = make_figure(440, x_axis_label=LABELS[x], y_axis_label=LABELS[y])
    figure.y_range.range_padding = 0.2  # type: ignore[attr-defined]
    figure.x_range.only_visible = figure.y_range.only_visible = True  # type: ignore[attr-defined]
    if (start := _start(x, [mark.values[x] for mark in marks])) is not None:
        figure.x_range.start = start  # type: ignore[attr-defined]
    if optimum:
        slowdowns, energies = zip(*optimum, strict=True)
        style: dict[str, Any] = {"color": OPTIMUM_COLOUR, "line_width": 2, "legend_label": OFFLINE_OPTIMUM}
        line = figure.line(slowdowns, energies, **style)
        line.tags = ["offline optimum"]
    near = {mark.label for mark in split_far(marks, y)[0]}
    names = list(dict.fromkeys(mark.label for mark in marks))
    for name in names:
        _plot_series(figure, [mark for mark in marks if mark.label == name], (x, y), name not in near)
    put_legend_below(figure, max(map(len, names)))
    return figure


def _start(measure: str, values: Sequence[float]) -> float | None:
    """Return where an axis begins: slowdowns at 1, with room for the marks there, and latencies at 0.

    ``page.js`` does the same when another measure is selected.
    """
    if measure.startswith("slowdown.") and min(values) >= 1:
        return 1 - 0.03 * ((max(values) - 1) or 1)
    return 0.0 if measure.startswith("latency.") else None


def _plot_series(figure: Figure, marks: Sequence[Mark], axes: tuple[str, str], hidden: bool) -> None:
    """Plot the marks of one series.

    Parameters
    ----------
    figure : bokeh.plotting.figure
        Figure to add to.
    marks : sequence of Mark
        Marks of the series, in the order in which they are joined.
    axes : (str, str)
        Measures of both axes.
    hidden : bool
        Whether the series is hidden initially.
    """
    from bokeh.models import HoverTool

    source, look = _source(marks, axes), marks[0].style
    style: dict[str, Any] = {
        "source": source,
        "color": look.colour,
        "legend_label": marks[0].label,
        "visible": not hidden,
    }
    # Use segments instead of whiskers, because a legend can hide only glyphs.
    figure.segment(x0="x_low", y0="y", x1="x_high", y1="y", line_width=1.5, **style)
    figure.segment(x0="x", y0="y_low", x1="x", y1="y_high", line_width=1.5, **style)
    if any(mark.value for mark in marks):
        figure.line("x", "y", line_dash=look.bokeh_line, line_width=1.5, **style)
        if len(marks) <= _MAX_LABELLED:
            figure.text("x", "y", "value", y_offset=-8, text_align="center", text_font_size="11px", **style)
    points = figure.scatter("x", "y", marker=look.bokeh_marker, size=11, fill_alpha=0.75, **style)
    tips = [("", "@name"), ("x", "@x_text"), ("y", "@y_text")]
    figure.add_tools(HoverTool(renderers=[points], tooltips=tips))


def _source(marks: Sequence[Mark], axes: tuple[str, str]) -> ColumnDataSource:
    """Return the plotted columns of one series, and the columns of all measures for ``page.js``."""
    from bokeh.models import ColumnDataSource

    columns: dict[str, Any] = {"name": [mark.name for mark in marks], "value": [mark.value for mark in marks]}
    for measure in _measures(marks):
        ends = [mark.ends(measure) for mark in marks]
        columns[measure] = [mark.values[measure] for mark in marks]
        columns[f"{measure}_low"] = [low for low, _ in ends]
        columns[f"{measure}_high"] = [high for _, high in ends]
        columns[f"{measure}_text"] = [_format_value(mark, measure) for mark in marks]
    for axis, measure in zip("xy", axes, strict=True):
        for suffix in ("", "_low", "_high", "_text"):
            columns[axis + suffix] = columns[measure + suffix]
    return ColumnDataSource(columns, tags=["marks"])


def _measures(marks: Sequence[Mark]) -> list[str]:
    return [measure for measure in marks[0].values if all(measure in mark.values for mark in marks)]


def _format_value(mark: Mark, measure: str) -> str:
    value, half_width = mark.values[measure], mark.half_widths.get(measure, nan)
    return f"{value:.4f} ± {half_width:.4f}" if isfinite(half_width) else f"{value:.4f}"


def choices(marks: Sequence[Mark]) -> dict[str, str]:
    """Return the labels of the measures that the axes can show, by name."""
    return {measure: LABELS.get(measure, measure) for measure in _measures(marks)}

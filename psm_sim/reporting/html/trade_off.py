"""Interactive figure of two selectable measures of each policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

from psm_sim.reporting.figures.style import FAR, interactive_style_of
from psm_sim.reporting.html.figure_style import make_figure, put_legend_below

if TYPE_CHECKING:
    from bokeh.models import ColumnDataSource
    from bokeh.plotting import figure as Figure  # noqa: N812

X, Y = "slowdown.mean", "energy_per_page_j"
"""Measures that the axes show initially."""

LABELS = {
    "energy_per_page_j": "energy (J per page)",
    "energy_by_state_per_page_j.awake": "energy while awake (J per page)",
    "energy_by_state_per_page_j.asleep": "energy while asleep (J per page)",
    "energy_by_state_per_page_j.beacons": "energy for beacons (J per page)",
    "energy_saved_percent": "energy saved (%)",
    "beacons_per_page": "beacons received per page",
    "page_time_s.mean": "page time, mean (s)",
    "slowdown.mean": "slowdown, mean",
    "slowdown.median": "slowdown, median",
    "slowdown.p95": "slowdown, 95th percentile",
    "slowdown.max": "slowdown, maximum",
}
"""Labels of the measures. Other measures are labelled with their names."""


@dataclass(frozen=True)
class Mark:
    """Mark of the figure.

    Attributes
    ----------
    series : str
        Name of its series in the legend.
    name : str
        Name of the mark.
    values : mapping of str to float
        Measures, by name.
    half_widths : mapping of str to float
        Half-widths of the 95 % confidence intervals of the measures.
    """

    series: str
    name: str
    values: Mapping[str, float]
    half_widths: Mapping[str, float] = field(default_factory=dict)


def draw(marks: Sequence[Mark], optimum: Sequence[tuple[float, float]] = ()) -> Figure:
    """Plot the marks with confidence intervals along both axes, one colour per series.

    Parameters
    ----------
    marks : sequence of Mark
        At least one mark. All marks have the same measures.
    optimum : sequence of (float, float)
        Slowdown and energy of the offline-optimal schedules. An empty sequence omits the line.
    """
    figure = make_figure(440, x_axis_label=LABELS[X], y_axis_label=LABELS[Y])
    if optimum:
        slowdowns, energies = zip(*optimum, strict=True)
        line = figure.line(slowdowns, energies, color="#888888", line_width=2, legend_label=OFFLINE_OPTIMUM)
        line.tags = ["offline optimum"]
    names = list(dict.fromkeys(mark.series for mark in marks))
    for index, name in enumerate(names):
        _plot_series(figure, [mark for mark in marks if mark.series == name], index, _is_hidden(marks, name))
    figure.x_range.only_visible = figure.y_range.only_visible = True  # type: ignore[attr-defined]
    put_legend_below(figure, max(map(len, names)))
    return figure


OFFLINE_OPTIMUM = "offline optimum"


def _is_hidden(marks: Sequence[Mark], series: str) -> bool:
    lowest = min(mark.values[Y] for mark in marks)
    return min(mark.values[Y] for mark in marks if mark.series == series) > FAR * lowest


def _plot_series(figure: Figure, marks: Sequence[Mark], index: int, hidden: bool) -> None:
    """Plot the marks of one series.

    Parameters
    ----------
    figure : bokeh.plotting.figure
        Figure to add to.
    marks : sequence of Mark
        Marks of the series.
    index : int
        Index of the series, which selects its colour and marker.
    hidden : bool
        Whether the series is hidden initially.
    """
    from bokeh.models import HoverTool

    source = _source(marks)
    colour, marker, _ = interactive_style_of(index)
    style: dict[str, Any] = {
        "source": source,
        "color": colour,
        "legend_label": marks[0].series,
        "visible": not hidden,
    }
    # Use segments instead of whiskers, because a legend can hide only glyphs.
    figure.segment(x0="x_low", y0="y", x1="x_high", y1="y", line_width=1.5, **style)
    figure.segment(x0="x", y0="y_low", x1="x", y1="y_high", line_width=1.5, **style)
    points = figure.scatter("x", "y", marker=marker, size=11, fill_alpha=0.75, **style)
    tips = [("", "@name"), ("x", "@x_text"), ("y", "@y_text")]
    figure.add_tools(HoverTool(renderers=[points], tooltips=tips))


def _source(marks: Sequence[Mark]) -> ColumnDataSource:
    """Return the plotted columns of one series, and the columns of all measures for ``page.js``."""
    from bokeh.models import ColumnDataSource

    columns: dict[str, Any] = {"name": [mark.name for mark in marks]}
    for measure in marks[0].values:
        columns[f"value {measure}"] = [mark.values[measure] for mark in marks]
        columns[f"half {measure}"] = [mark.half_widths.get(measure, nan) for mark in marks]
    for axis, measure in (("x", X), ("y", Y)):
        values, half_widths = columns[f"value {measure}"], columns[f"half {measure}"]
        pairs = list(zip(values, half_widths, strict=True))
        columns |= {axis: values, f"{axis}_text": [_format_value(*pair) for pair in pairs]}
        columns |= {f"{axis}_low": [value - half for value, half in pairs]}
        columns |= {f"{axis}_high": [value + half for value, half in pairs]}
    return ColumnDataSource(columns, tags=["marks"])


def _format_value(value: float, half_width: float) -> str:
    return f"{value:.4f} ± {half_width:.4f}" if isfinite(half_width) else f"{value:.4f}"


def choices(marks: Sequence[Mark]) -> dict[str, str]:
    """Return the labels of the measures that the axes can show, by name."""
    return {measure: LABELS.get(measure, measure) for measure in marks[0].values}

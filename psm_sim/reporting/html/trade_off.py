"""Marks of a page: each policy's measures with their intervals, in a figure whose axes the reader chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

from psm_sim.reporting.html.figure_style import COLOURS, MARKERS, make_figure, put_legend_below

if TYPE_CHECKING:
    from bokeh.models import ColumnDataSource
    from bokeh.plotting import figure as Figure  # noqa: N812

X, Y = "slowdown.mean", "energy_per_page_j"
"""The measures that the axes show at first."""

LABELS = {
    "energy_per_page_j": "energy (J per page)",
    "energy_by_state_per_page_j.awake": "energy awake (J per page)",
    "energy_by_state_per_page_j.asleep": "energy asleep (J per page)",
    "energy_by_state_per_page_j.beacons": "energy for beacons (J per page)",
    "energy_saved_percent": "energy saved (%)",
    "beacons_per_page": "beacons heard per page",
    "page_time_s.mean": "page time, mean (s)",
    "slowdown.mean": "slowdown, mean",
    "slowdown.median": "slowdown, median",
    "slowdown.p95": "slowdown, 95th percentile",
    "slowdown.max": "slowdown, largest",
}
"""Measures in words; others are called by their names."""

FAR = 3.0
"""The energy, in that of the least, from which a series is hidden until the reader asks for it."""


@dataclass(frozen=True)
class Mark:
    """A mark: the series it belongs to, its own name, its measures, and half of their 95 % intervals."""

    series: str
    name: str
    values: Mapping[str, float]
    half_widths: Mapping[str, float] = field(default_factory=dict)


def draw(marks: Sequence[Mark], hindsight: Sequence[tuple[float, float]] = ()) -> Figure:
    """Draw marks, one series in each colour, with the intervals along both axes.

    Parameters
    ----------
    marks : sequence of Mark
        At least one; all have the same measures.
    hindsight : sequence of (float, float)
        Slowdown and energy of hindsight's schedules; empty for none.
    """
    figure = make_figure(440, x_axis_label=LABELS[X], y_axis_label=LABELS[Y])
    if hindsight:
        slowdowns, energies = zip(*hindsight, strict=True)
        line = figure.line(slowdowns, energies, color="#888888", line_width=2, legend_label=HINDSIGHT)
        line.tags = ["hindsight"]
    names = list(dict.fromkeys(mark.series for mark in marks))
    for place, name in enumerate(names):
        _series(figure, [mark for mark in marks if mark.series == name], place, _hidden(marks, name))
    figure.x_range.only_visible = figure.y_range.only_visible = True  # type: ignore[attr-defined]
    put_legend_below(figure, max(map(len, names)))
    return figure


HINDSIGHT = "hindsight"


def _hidden(marks: Sequence[Mark], series: str) -> bool:
    least = min(mark.values[Y] for mark in marks)
    return min(mark.values[Y] for mark in marks if mark.series == series) > FAR * least


def _series(figure: Figure, marks: Sequence[Mark], place: int, hidden: bool) -> None:
    from bokeh.models import HoverTool

    source, colour = _source(marks), COLOURS[place % 8]
    shape: dict[str, Any] = {"marker": MARKERS[(place + place // 8) % 8], "size": 11}
    shown: dict[str, Any] = {
        "source": source,
        "color": colour,
        "legend_label": marks[0].series,
        "visible": not hidden,
    }
    # Segments, not whiskers: a legend hides glyphs only.
    figure.segment(x0="x_low", y0="y", x1="x_high", y1="y", line_width=1.5, **shown)
    figure.segment(x0="x", y0="y_low", x1="x", y1="y_high", line_width=1.5, **shown)
    points = figure.scatter("x", "y", fill_alpha=0.75, **shape, **shown)
    tips = [("", "@name"), ("x", "@x_told"), ("y", "@y_told")]
    figure.add_tools(HoverTool(renderers=[points], tooltips=tips))


def _source(marks: Sequence[Mark]) -> ColumnDataSource:
    """Return the columns of one series: those drawn, and each measure, from which the page chooses."""
    from bokeh.models import ColumnDataSource

    columns: dict[str, Any] = {"name": [mark.name for mark in marks]}
    for measure in marks[0].values:
        columns[f"value {measure}"] = [mark.values[measure] for mark in marks]
        columns[f"half {measure}"] = [mark.half_widths.get(measure, nan) for mark in marks]
    for axis, measure in (("x", X), ("y", Y)):
        values, halves = columns[f"value {measure}"], columns[f"half {measure}"]
        pairs = list(zip(values, halves, strict=True))
        columns |= {axis: values, f"{axis}_told": [_told(*pair) for pair in pairs]}
        columns |= {f"{axis}_low": [value - half for value, half in pairs]}
        columns |= {f"{axis}_high": [value + half for value, half in pairs]}
    return ColumnDataSource(columns, tags=["marks"])


def _told(value: float, half: float) -> str:
    return f"{value:.4f} ± {half:.4f}" if isfinite(half) else f"{value:.4f}"


def choices(marks: Sequence[Mark]) -> dict[str, str]:
    """Return the measures that the axes can show, in words."""
    return {measure: LABELS.get(measure, measure) for measure in marks[0].values}

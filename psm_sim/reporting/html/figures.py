"""Interactive figures of the pages: bokeh figures in a common layout, and their JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

from psm_sim.reporting.marks import (
    ENERGY,
    LABELS,
    OFFLINE_OPTIMUM,
    SLOWDOWN,
    SLOWDOWN_TICKS,
    Mark,
    labels_of,
    run_style,
    slowdown_steps,
    split_far,
    state_measure,
    states_of,
)
from psm_sim.reporting.style import EVENT_COLOURS, GREY, OPTIMUM_COLOUR, STATES, VERMILLION
from psm_sim.simulation.result import Result, complete_slowdowns

if TYPE_CHECKING:
    from bokeh.models import ColumnDataSource
    from bokeh.plotting import figure as Figure  # noqa: N812

TOOLS = "pan,box_zoom,wheel_zoom,reset,save"
"""Tools of a figure. Wheel zoom must be selected first, so that the wheel scrolls the page by default."""


def make_figure(height_px: int, *, tools: str = TOOLS, **options: Any) -> Figure:
    """Return an empty figure of the width of the page, and *height_px* high.

    *tools* and further *options* as for :func:`bokeh.plotting.figure`.
    """
    from bokeh.plotting import figure

    empty = figure(height=height_px, tools=tools, sizing_mode="stretch_width", min_width=260, **options)
    empty.toolbar.logo = None
    for axis in empty.axis:
        axis.axis_label_text_font_style = "normal"
    return empty


def put_legend_below(figure: Figure, max_length: int) -> None:
    """Put the legend below the figure. Clicking an entry hides or shows its series.

    If the longest label has few characters (*max_length*), the labels are arranged in two columns.
    """
    legend = figure.legend[0]
    legend.click_policy = "hide"
    legend.ncols = 2 if max_length <= 18 else 1
    legend.label_text_font_size = "12px"
    legend.border_line_color = None
    legend.location = "left"
    figure.add_layout(legend, "below")


def to_json_item(figure: Figure) -> dict[str, Any]:
    """Return the JSON from which BokehJS embeds a figure. Equal figures have equal JSON.

    Bokeh numbers the models of a whole process. Here the numbers restart with each figure.
    """
    from bokeh import __version__
    from bokeh.document import Document

    document = Document()
    document.add_root(figure)
    # As bokeh.embed.json_item, which takes twice as long.
    item = {
        "target_id": None,
        "root_id": figure.id,
        "doc": document.to_json(deferred=False),
        "version": __version__,
    }
    text = json.dumps(item)
    numbers: dict[str, str] = {}

    def renumber(match: re.Match[str]) -> str:
        return f'{match[1]}"f{numbers.setdefault(match[2], str(len(numbers)))}"'

    return dict(json.loads(re.sub(r'("(?:id|root_id)": )"(p\d+)"', renumber, text)))


_MAX_LABELLED = 40
"""Maximum number of marks of a series that are labelled with their values."""


def draw_trade_off(
    marks: Sequence[Mark],
    optimum: Sequence[tuple[float, float]] = (),
    x: str = SLOWDOWN,
    y: str = ENERGY,
) -> Figure:
    """Plot the marks with confidence intervals along both axes. Marks of one series are joined.

    *optimum* has slowdown and energy of the offline-optimal schedules; without any, the line is omitted. *x*
    and *y* are the measures that the axes of the *marks* show initially.
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
    """Plot the marks of one series, joined in their order. *axes* are the measures of both axes."""
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


def axis_choices(marks: Sequence[Mark]) -> dict[str, str]:
    """Return the labels of the measures that the axes can show, by name."""
    return {measure: LABELS.get(measure, measure) for measure in _measures(marks)}


def draw_energy_by_state(marks: Sequence[Mark], measure: str = ENERGY) -> Figure:
    """Plot one stacked bar per mark, with the confidence interval of the total energy.

    The initial axis excludes the ends of far longer bars. *measure* is energy per page or mean power.
    """
    from bokeh.models import HoverTool

    names = _unique_names([mark.label for mark in marks])
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


def _unique_names(names: Sequence[str]) -> list[str]:
    """Return the names with numbers appended to duplicates, because a categorical axis needs unique names."""
    return [name if name not in names[:index] else f"{name} ({index})" for index, name in enumerate(names)]


def draw_slowdowns(runs: Sequence[Result]) -> Figure:
    """Plot one cumulative distribution per policy, with a logarithmic slowdown axis."""
    from bokeh.models import HoverTool

    labels, steps = labels_of(runs), [slowdown_steps(complete_slowdowns(run)) for run in runs]
    ends = [end for slowdowns, _ in steps for end in (slowdowns[0], slowdowns[-1]) if isfinite(end)] or [1.0]
    figure = make_figure(
        380,
        x_axis_type="log",
        x_range=(min(1.0, *ends), 1.1 * max(ends)),
        x_axis_label="page slowdown",
        y_axis_label="cumulative share of pages",
    )
    figure.xaxis.ticker = list(SLOWDOWN_TICKS)
    for run, name, (slowdowns, shares) in zip(runs, labels, steps, strict=True):
        style = run_style(run)
        line = figure.step(
            slowdowns,
            shares,
            mode="after",
            name=name,
            color=style.colour,
            line_dash=style.bokeh_line,
            line_width=2,
            legend_label=name,
        )
        tips = [("", "$name"), ("slowdown", "$x{0.000}"), ("cumulative share", "$y{0.000}")]
        figure.add_tools(HoverTool(renderers=[line], tooltips=tips))
    put_legend_below(figure, max(map(len, labels)))
    return figure


_COLOURS = {"page": GREY, **EVENT_COLOURS}
_SPANS = ("page", "radio awake", "frame buffered")
_TIMES = ("beacon received", "uplink frame", "downlink frame")
_ROWS = ("downlink frame", "frame buffered", "uplink frame", "beacon received", "radio awake", "page")


def draw_timeline() -> Figure:
    """Return a figure with empty rows. ``page.js`` fills them with the selected policy and page."""
    figure = make_figure(
        300,
        tools="xpan,xbox_zoom,xwheel_zoom,reset,save",
        y_range=list(_ROWS),
        x_range=(0.0, 1.0),
        x_axis_label="simulation time (s)",
        active_drag="xpan",
    )
    for row in _SPANS:
        _add_spans(figure, row, _COLOURS[row])
    for row in _TIMES:
        _add_times(figure, row, _COLOURS[row])
    return figure


def _add_spans(figure: Figure, row: str, colour: str) -> None:
    from bokeh.models import ColumnDataSource, HoverTool

    source = ColumnDataSource({"left": [], "right": [], "row": [], "text": []}, tags=[row])
    bars = figure.hbar(y="row", left="left", right="right", height=0.5, source=source, color=colour)
    tips = [("", "@text"), ("from", "@left{0.0000} s"), ("to", "@right{0.0000} s")]
    figure.add_tools(HoverTool(renderers=[bars], tooltips=tips))


def _add_times(figure: Figure, row: str, colour: str) -> None:
    from bokeh.models import ColumnDataSource, HoverTool

    source = ColumnDataSource({"time": [], "row": []}, tags=[row])
    marks = figure.scatter("time", "row", marker="dash", angle=1.5708, size=16, source=source, color=colour)
    figure.add_tools(HoverTool(renderers=[marks], tooltips=[(row, "@time{0.0000} s")]))

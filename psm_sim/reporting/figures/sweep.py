"""Figure of a sweep, with confidence intervals over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from psm_sim.campaign.sweep.results import Point
from psm_sim.common.errors import InputError
from psm_sim.common.summary_stats import Interval
from psm_sim.reporting.figures.canvas import add_legend, add_title, common_style, new_figure
from psm_sim.reporting.marks import (
    are_geometric,
    column_label,
    cut_interval,
    format_value,
    short_name,
    sort_key,
)
from psm_sim.reporting.style import Style, policy_style, series_style, variant_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_SERIES = 16
"""Maximum number of series. Their styles are distinguishable up to this number."""

_POLICY_COLUMNS = ("name", "policy")
_MAX_TICKS = 10
_MAX_LABELLED = 40
"""Maximum number of points of a series that are labelled with their values."""


def draw(
    points: Sequence[Point], x: str, y: str, by: str, scenario: str = ""
) -> tuple[Figure, dict[str, list[Any]]]:
    """Plot the points, and return the figure and its data by column.

    Points of a series are joined in the order of the parameter in which they differ. If both axes are
    measures, they are labelled with its values. Variants of a policy are labelled with their parameters. *x*,
    *y* and *by* are the columns of the axes and the series of *points*. *scenario* is what all points have in
    common, for the title.

    Raises
    ------
    InputError
        If there are more than :data:`MAX_SERIES` series.
    """
    series = list(dict.fromkeys(point.series for point in points))
    if len(series) > MAX_SERIES:
        raise InputError(
            f"--by {by} must give at most {MAX_SERIES} series, got {len(series)}; select fewer with --where."
        )
    figure, (axes,) = new_figure(width_in=6.4, height_in=4.4)
    with common_style():
        for index, name in enumerate(series):
            style = policy_style(name) if by in _POLICY_COLUMNS and name else series_style(index)
            _plot_series(axes, [point for point in points if point.series == name], (x, y), style, name)
        axes.set_xlabel(column_label(x))
        axes.set_ylabel(column_label(y))
        _set_scales(axes, x, [point.x for point in points])
        if _begins_at_1(y, [point.y for point in points]):
            axes.set_ylim(bottom=1)
        swept = dict.fromkeys(column_label(point.swept) for point in points if point.swept not in ("", x))
        notes = ["means over seeds with 95 % intervals"]
        notes += [f"marks: {', '.join(swept)}"] if swept else []
    add_title(figure, [*filter(None, [scenario]), "; ".join(notes)])
    add_legend(figure, axes, None if by in _POLICY_COLUMNS else column_label(by))
    return figure, _numbers(points, x, y, by)


def _set_scales(axes: Axes, x: str, values: Sequence[Any]) -> None:
    """Begin a slowdown axis at 1, and make the axis of geometric values of a parameter logarithmic."""
    if _begins_at_1(x, values):
        axes.set_xlim(left=1)
    elif all(map(_is_number, values)) and are_geometric(sorted(set(values))):
        axes.set_xscale("log")
        ticks = sorted(set(values))
        ticks = ticks[:: -(-len(ticks) // _MAX_TICKS)]
        axes.set_xticks(ticks, [format_value(float(tick)) for tick in ticks])
        axes.minorticks_off()


def _begins_at_1(column: str, values: Sequence[Any]) -> bool:
    return column.startswith("slowdown.") and min(interval.mean for interval in values) >= 1


def _plot_series(
    axes: Axes, points: Sequence[Point], columns: tuple[str, str], style: Style, name: str
) -> None:
    """Plot the points of one series, whose axes show *columns*."""
    x_is_measured = isinstance(points[0].x, Interval)
    points = sorted(points, key=lambda point: sort_key(point.value if x_is_measured else point.x))
    xs = [point.x.mean if isinstance(point.x, Interval) else _coordinate(point.x) for point in points]
    axes.errorbar(
        xs,
        [point.y.mean for point in points],
        xerr=_errors(columns[0], [point.x for point in points]) if x_is_measured else None,
        yerr=_errors(columns[1], [point.y for point in points]),
        color=style.colour,
        marker=style.marker,
        linestyle="none" if x_is_measured and not points[0].swept else style.line,
        linewidth=1.2,
        capsize=2,
        clip_on=False,
        zorder=3,
        label=short_name(name) if name else "(none)",
    )
    is_swept = x_is_measured and points[0].swept and len(points) <= _MAX_LABELLED
    texts = [format_value(point.value) if is_swept else "" for point in points]
    texts[-1] = texts[-1] or variant_of(name)
    for x, point, text in zip(xs, points, texts, strict=True):
        axes.annotate(text, (x, point.y.mean), (5, 4), textcoords="offset points", fontsize=7)


def _errors(measure: str, intervals: Sequence[Interval]) -> list[list[float]]:
    """Return the lengths of the error bars below and above each mean."""
    ends = [cut_interval(measure, each.mean, each.half_width) for each in intervals]
    below = [each.mean - low for each, (low, _) in zip(intervals, ends, strict=True)]
    return [below, [each.half_width for each in intervals]]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _coordinate(value: Any) -> Any:
    """Return a number unchanged and any other value as text, which becomes a category of the axis."""
    return value if _is_number(value) else str(value)


def _numbers(points: Sequence[Point], x: str, y: str, by: str) -> dict[str, list[Any]]:
    xs = [point.x if isinstance(point.x, Interval) else Interval(point.x, 0.0, 1) for point in points]
    return {
        by: [point.series for point in points],
        x: [interval.mean for interval in xs],
        f"{x} ±": [interval.half_width for interval in xs],
        y: [point.y.mean for point in points],
        f"{y} ±": [point.y.half_width for point in points],
        "seeds": [point.y.replications for point in points],
        "swept": [point.swept for point in points],
        "value": [point.value for point in points],
    }

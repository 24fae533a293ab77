"""Figure of a sweep, with confidence intervals over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from psm_sim.campaign.sweep.results import Point
from psm_sim.common.errors import InputError
from psm_sim.common.summary_stats import Interval
from psm_sim.reporting.figures.style import common_style, name_of, new_figure, style_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_SERIES = 16
"""Maximum number of series. Each colour occurs with two markers, so all series are distinguishable."""

_LABELS = {"energy_per_page_j": "energy (J per page)", "slowdown.mean": "slowdown"}


def draw(points: Sequence[Point], x: str, y: str, by: str) -> tuple[Figure, dict[str, list[Any]]]:
    """Plot the points, and return the figure and its data by column.

    Parameters
    ----------
    points : sequence of Point
        At least one point.
    x, y, by : str
        Columns of x, y and the series, for the labels.

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
    figure, (axes,) = new_figure(width_in=6.4, height_in=4.2)
    for index, name in enumerate(series):
        _plot_series(axes, [point for point in points if point.series == name], index, name)
    axes.set_xlabel(_LABELS.get(x, x))
    axes.set_ylabel(_LABELS.get(y, y))
    with common_style():
        axes.set_title("means over seeds, with 95 % confidence intervals", fontsize=9)
        figure.legend(loc="outside lower center", ncols=4, title=by)
    return figure, _numbers(points, x, y, by)


def _plot_series(axes: Axes, points: Sequence[Point], index: int, name: str) -> None:
    """Plot one series, as a line unless x is a measure too.

    Parameters
    ----------
    axes : Axes
        Axes to plot to.
    points : sequence of Point
        Points of the series.
    index : int
        Index of the series, which selects its style.
    name : str
        Name of the series.
    """
    x_is_measured = isinstance(points[0].x, Interval)
    if not x_is_measured:
        points = sorted(points, key=lambda point: (isinstance(point.x, str), point.x is None, point.x))
    colour, marker, line = style_of(index)
    axes.errorbar(
        [point.x.mean if isinstance(point.x, Interval) else _coordinate(point.x) for point in points],
        [point.y.mean for point in points],
        xerr=[point.x.half_width for point in points] if x_is_measured else None,
        yerr=[point.y.half_width for point in points],
        color=colour,
        marker=marker,
        linestyle="none" if x_is_measured else line,
        capsize=2,
        label=name_of(name) if name else "(none)",
    )


def _coordinate(value: Any) -> Any:
    """Return a number unchanged and any other value as text, which becomes a category of the axis."""
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)


def _numbers(points: Sequence[Point], x: str, y: str, by: str) -> dict[str, list[Any]]:
    xs = [point.x if isinstance(point.x, Interval) else Interval(point.x, 0.0, 1) for point in points]
    return {
        by: [point.series for point in points],
        x: [interval.mean for interval in xs],
        f"{x} ±": [interval.half_width for interval in xs],
        y: [point.y.mean for point in points],
        f"{y} ±": [point.y.half_width for point in points],
        "seeds": [point.y.replications for point in points],
    }

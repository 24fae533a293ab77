"""Figure of a sweep: points with their intervals over seeds, one colour, marker and line per series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from psm_sim.campaign.sweep.plot_points import Columns, Point
from psm_sim.errors import InputError
from psm_sim.reporting.figures.policy_names import name_of
from psm_sim.reporting.figures.style import COLOURS, LINES, MARKERS, common_style, new_figure
from psm_sim.summary_stats import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_SERIES = 16
"""The most series of a figure: two line styles in each colour, so that no two look the same."""

_LABELS = {"energy_per_page_j": "energy (J per page)", "slowdown.mean": "slowdown"}


def draw(points: Sequence[Point], columns: Columns) -> tuple[Figure, dict[str, list[Any]]]:
    """Draw points; return the figure and its numbers, by column.

    Parameters
    ----------
    points : sequence of Point
        At least one.
    columns : Columns
        What they show, for the labels.

    Raises
    ------
    InputError
        If there are more than :data:`MAX_SERIES` series.
    """
    series = list(dict.fromkeys(point.series for point in points))
    if len(series) > MAX_SERIES:
        raise InputError(
            f"--by {columns.by} makes {len(series)} series; expected at most {MAX_SERIES}: choose "
            "some with --where."
        )
    figure, (axes,) = new_figure(width_in=6.4, height_in=4.2)
    for place, name in enumerate(series):
        _series(axes, [point for point in points if point.series == name], place, name)
    axes.set_xlabel(_LABELS.get(columns.x, columns.x))
    axes.set_ylabel(_LABELS.get(columns.y, columns.y))
    with common_style():
        axes.set_title("means over seeds, with 95 % intervals", fontsize=9)
        figure.legend(loc="outside lower center", ncols=4, title=columns.by)
    return figure, _numbers(points, columns)


def _series(axes: Axes, points: Sequence[Point], place: int, name: str) -> None:
    measured = isinstance(points[0].x, Interval)
    if not measured:
        points = sorted(points, key=lambda point: (isinstance(point.x, str), point.x is None, point.x))
    axes.errorbar(
        [point.x.mean if isinstance(point.x, Interval) else _shown(point.x) for point in points],
        [point.y.mean for point in points],
        xerr=[point.x.half_width for point in points] if measured else None,
        yerr=[point.y.half_width for point in points],
        color=COLOURS[place % len(COLOURS)],
        marker=MARKERS[place % len(MARKERS)],
        linestyle="none" if measured else LINES[(place + place // len(COLOURS)) % len(LINES)],
        capsize=2,
        label=name_of(name) if name else "(none)",
    )


def _shown(value: Any) -> Any:
    """Return a number as it is and anything else as a text, which gets a place of its own on the axis."""
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)


def _numbers(points: Sequence[Point], columns: Columns) -> dict[str, list[Any]]:
    xs = [point.x if isinstance(point.x, Interval) else Interval(point.x, 0.0, 1) for point in points]
    return {
        columns.by: [point.series for point in points],
        columns.x: [x.mean for x in xs],
        f"{columns.x} ±": [x.half_width for x in xs],
        columns.y: [point.y.mean for point in points],
        f"{columns.y} ±": [point.y.half_width for point in points],
        "seeds": [point.y.replications for point in points],
    }

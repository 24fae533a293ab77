"""Figures of a comparison of policies: energy, slowdown, and their trade-off."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from psm_sim.campaign.offline_pareto_frontier import ParetoCorner, best_known, pareto_frontier
from psm_sim.common.progress import Progress, no_progress
from psm_sim.reporting.figures.canvas import (
    WIDTH_IN,
    add_legend,
    add_title,
    common_style,
    new_figure,
)
from psm_sim.reporting.figures.timelines import draw_page_timeline, draw_polling_times
from psm_sim.reporting.marks import (
    BEST_KNOWN,
    LABELS,
    POWER,
    SLOWDOWN_TICKS,
    Mark,
    axes_of,
    axis_start,
    first_run,
    labels_of,
    loads_pages,
    marks_of,
    split_far,
    styles_of,
    title_of,
)
from psm_sim.reporting.style import OPTIMUM_COLOUR, STATE_STYLES
from psm_sim.simulation.result import complete_slowdowns
from psm_sim.simulation.table import ENERGY, SLOWDOWN

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from psm_sim.simulation import Comparison


def frontier_of(
    comparison: Comparison, workers: int | None = None, progress: Progress = no_progress
) -> list[ParetoCorner]:
    """Return the best known frontier of energy against slowdown on the pages of a comparison.

    The frontier is empty if there are too many pages, if a policy of the comparison is below the frontier, or
    if the channel is shared, which the offline search does not model. For *workers* and
    *progress* see :func:`~psm_sim.campaign.offline_pareto_frontier.pareto_frontier`.
    """
    if comparison.resolved_topology.stations or comparison.resolved_topology.mac.model == "dcf":
        return []
    corners = pareto_frontier(comparison.workloads, comparison.resolved_topology, workers, progress)
    return best_known(corners, [(run[SLOWDOWN], run[ENERGY]) for run in comparison.shown])


def figures_of(comparison: Comparison, frontier: Sequence[ParetoCorner] = ()) -> dict[str, Figure]:
    """Return all figures of a comparison by name.

    *frontier* comes from :func:`frontier_of`. A comparison without pages has no figures of pages. With a
    single page, the figure of the distribution of slowdowns is omitted.
    """
    figures = {
        "energy-slowdown": draw_trade_off(comparison, frontier),
        "energy-by-state": draw_energy_by_state(comparison),
    }
    if loads_pages(comparison):
        if comparison.runs[0]["pages"] > 1:
            figures["slowdowns"] = draw_slowdowns(comparison)
        title = title_of(comparison, first_run(comparison))
        figures["page-timeline"] = draw_page_timeline(comparison.runs, title)
    polling = draw_polling_times(comparison)
    return figures if polling is None else {**figures, "polling-times": polling}


def draw_trade_off(comparison: Comparison, frontier: Sequence[ParetoCorner] = ()) -> Figure:
    """Plot one mark with error bars per policy, and the best known frontier.

    Without pages, the figure shows power against latency. *frontier* comes from :func:`frontier_of`.
    """
    return draw_marks(marks_of(comparison), axes_of(comparison), frontier, title_of(comparison))


def draw_marks(
    marks: Sequence[Mark],
    measures: tuple[str, str] = (SLOWDOWN, ENERGY),
    frontier: Sequence[ParetoCorner] = (),
    title: str = "",
) -> Figure:
    """Plot marks with error bars, and join marks of the same label by a line.

    *measures* names the measures on the x and y axis. Marks with far higher energy, e.g. of always-on, are
    not plotted, but listed below the *title*.
    """
    x, y = measures
    near, far = split_far(marks, y)
    figure, (axes,) = new_figure(width_in=WIDTH_IN, height_in=4.0)
    with common_style():
        series: dict[str, list[Mark]] = {}
        for mark in near:
            series.setdefault(mark.label, []).append(mark)
        for group in series.values():
            plot_series(axes, group, x, y)
        if frontier:
            xs, ys = [corner.slowdown for corner in frontier], [corner.energy_j for corner in frontier]
            axes.plot(xs, ys, color=OPTIMUM_COLOUR, linewidth=1.5, label=BEST_KNOWN)
        axes.set_xlabel(LABELS[x])
        axes.set_ylabel(LABELS[y])
        axes.margins(0.08)
        if (start := axis_start(x, [mark.values[x] for mark in near])) is not None:
            axes.set_xlim(left=start)
        notes = [f"{mark.label}: {mark.values[y]:.3g} {_unit(y)} (not plotted)" for mark in far]
        notes += [CUT_NOTE] if any(mark.is_cut(x) for mark in near) else []
    add_title(figure, [*filter(None, [title]), *notes])
    add_legend(figure, axes)
    return figure


def _unit(measure: str) -> str:
    return LABELS[measure].rpartition("(")[2].rstrip(")").removesuffix(" per page")


CUT_NOTE = "intervals of the slowdown are cut at 1"


def plot_series(
    axes: Axes, marks: Sequence[Mark], x: str = SLOWDOWN, y: str = ENERGY, max_labelled: int = 0
) -> None:
    """Plot marks of the same label. If they have values, such as gamma, a line joins them in this order.

    If there are more than *max_labelled* marks, only the first and the last are labelled with their values.
    """
    style = marks[0].style
    values = {measure: [mark.values[measure] for mark in marks] for measure in (x, y)}
    errors = {
        measure: np.abs(np.array([mark.ends(measure) for mark in marks]).T - values[measure])
        for measure in values
        if measure in marks[0].half_widths
    }
    axes.errorbar(
        values[x],
        values[y],
        xerr=errors.get(x),
        yerr=errors.get(y),
        color=style.colour,
        marker=style.marker,
        markersize=7,
        markeredgecolor="white",
        markeredgewidth=0.5,
        elinewidth=1,
        capsize=2,
        linestyle=style.line if marks[0].value else "none",
        clip_on=False,
        zorder=3,
        label=marks[0].label,
    )
    ends = {id(mark): mark for mark in (marks[0], marks[-1])}.values()
    for mark in marks if len(marks) <= max_labelled else ends:
        point = (mark.values[x], mark.values[y])
        axes.annotate(mark.value, point, (6, 5), textcoords="offset points", fontsize=7)


_EDGE = "#222222"


def draw_energy_by_state(comparison: Comparison) -> Figure:
    """Plot one stacked horizontal bar per policy, with the confidence interval of the total energy.

    Bars that are far longer than the others are truncated and labelled with their energy. Without pages, the
    bars show mean power.
    """
    marks, (_, measure) = marks_of(comparison), axes_of(comparison)
    figure, (axes,) = new_figure(width_in=WIDTH_IN, height_in=1.6 + 0.38 * len(marks))
    limit = 1.3 * max(mark.values[measure] for mark in split_far(marks, measure)[0])
    rows = [run.row for run in comparison.shown]
    factors = [1000 * row["pages"] / row["simulated_s"] if measure == POWER else 1.0 for row in rows]
    with common_style():
        left = [0.0] * len(marks)
        for state, (colour, hatch) in STATE_STYLES.items():
            name = f"energy_by_state_per_page_j.{state}"
            if not any(name in row for row in rows):
                continue
            widths = [factor * row.get(name, 0.0) for factor, row in zip(factors, rows, strict=True)]
            axes.barh(
                range(len(marks)), widths, 0.62, left, label=state, color=colour, hatch=hatch, edgecolor=_EDGE
            )
            left = [start + width for start, width in zip(left, widths, strict=True)]
        for number, mark in enumerate(marks):
            _label_bar(axes, number, mark, measure, limit)
        axes.set_xlim(0, limit)
        axes.set_yticks(range(len(marks)), [fill(mark.label, _TICK_CHARACTERS) for mark in marks])
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(LABELS[measure])
    add_title(figure, [title_of(comparison)])
    add_legend(figure, axes)
    return figure


_TICK_CHARACTERS = 22
"""Maximum length of a line of a tick label."""


def _label_bar(axes: Axes, row: int, mark: Mark, measure: str, limit: float) -> None:
    """Add the total and its interval to a bar. A bar beyond *limit* is labelled at its visible end."""
    total, half_width = mark.values[measure], mark.half_widths.get(measure, 0.0)
    if half_width:
        axes.errorbar([total], [row], xerr=[half_width], color="black", capsize=3, linestyle="none")
    is_beyond = total > limit
    axes.annotate(
        f"{total:.2f} {_unit(measure)}" + (" (truncated)" if is_beyond else ""),
        (limit if is_beyond else total + half_width, row),
        (-4 if is_beyond else 4, 0),
        ha="right" if is_beyond else "left",
        va="center",
        textcoords="offset points",
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
    )


def draw_slowdowns(comparison: Comparison) -> Figure:
    """Plot one cumulative distribution per policy, over the pages of all seeds or clients."""
    figure, (axes,) = new_figure(width_in=WIDTH_IN, height_in=3.8)
    runs = comparison.shown
    with common_style():
        for run, label, style in zip(runs, labels_of(runs), styles_of(runs), strict=True):
            ranked = sorted(complete_slowdowns(run))  # Axes.ecdf rejects nan, which stands for no page
            xs, shares = [ranked[0], *ranked], np.linspace(0, 1, len(ranked) + 1)
            axes.step(xs, shares, where="post", color=style.colour, linestyle=style.line, label=label)
        largest = max(run["slowdown.max"] for run in comparison.shown)
        axes.set_xscale("log")
        ticks = [tick for tick in SLOWDOWN_TICKS if tick <= 1.2 * largest]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        lowest = min(min(complete_slowdowns(run)) for run in comparison.shown)
        axes.set_xlim(left=0.97 * min(1.0, lowest))
        axes.set_xlabel("page slowdown")
        axes.set_ylabel("cumulative share of pages")
        axes.set_ylim(0, 1)
    add_title(figure, [title_of(comparison, comparison.seed_range)])
    add_legend(figure, axes)
    return figure

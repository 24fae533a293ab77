"""Figures of a comparison of policies: energy, slowdown, and their trade-off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from psm_sim.campaign.offline_pareto_frontier import ParetoCorner, pareto_frontier
from psm_sim.common.errors import InputError
from psm_sim.common.output_files import atomic_write, check_writable
from psm_sim.common.progress import Progress, no_progress
from psm_sim.reporting.figures.canvas import (
    FORMATS,
    add_legend,
    add_title,
    common_style,
    new_figure,
    save_picture,
)
from psm_sim.reporting.figures.timelines import draw_page_timeline, draw_polling_times
from psm_sim.reporting.marks import (
    LABELS,
    OFFLINE_OPTIMUM,
    SLOWDOWN,
    SLOWDOWN_TICKS,
    Mark,
    axes_of,
    first_run,
    has_pages,
    labels_of,
    marks_of,
    run_style,
    slowdown_steps,
    split_far,
    state_measure,
    states_of,
    title_of,
)
from psm_sim.reporting.run_events import Recorded
from psm_sim.reporting.style import OPTIMUM_COLOUR, STATES
from psm_sim.simulation.result import complete_slowdowns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from psm_sim.simulation import Comparison


def picture_path(text: str) -> Path:
    """Return *text* as a path after checking that a figure can be written to it.

    Raises
    ------
    InputError
        If the path does not end in the name of a format, or is not writable.
    """
    path = Path(text)
    if path.suffix.lower()[1:] not in FORMATS:
        endings = ", ".join(f".{name}" for name in FORMATS)
        raise InputError(f"--plot must be a file that ends in {endings}, got {text!r}.")
    check_writable(path, "--plot")
    return path


def plot(comparison: Comparison, path: Path, frontier: Sequence[ParetoCorner], preset: str = "") -> None:
    """Write the figure of :func:`draw_trade_off` to a *path* from :func:`picture_path`.

    *comparison*, *frontier* and *preset* as for :func:`draw_trade_off`. An existing file is left unchanged if
    the new one cannot be written, which is an InputError.
    """
    figure = draw_trade_off(comparison, frontier, preset)
    with atomic_write(path, "--plot") as file:
        save_picture(figure, path, file)


def write_figures(
    folder: Path,
    comparison: Comparison,
    frontier: Sequence[ParetoCorner] = (),
    preset: str = "",
    formats: Sequence[str] = ("svg",),
    recorded: Recorded = (),
) -> None:
    """Write all figures to a *folder*, in *formats*: ``"svg"``, ``"png"`` or ``"pdf"``.

    *comparison*, *frontier* and *preset* as for :func:`draw_trade_off`. *recorded* are events from
    :func:`~psm_sim.reporting.run_events.record_runs`. Missing ones are recorded.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, figure in _figures(comparison, frontier, preset, recorded):
        for suffix in formats:
            save_picture(figure, folder / f"{name}.{suffix}")


def frontier_of(
    comparison: Comparison, workers: int | None = None, progress: Progress = no_progress
) -> list[ParetoCorner]:
    """Return the frontier of the offline optimum on the pages of a comparison.

    The frontier is empty for too many pages. It is also empty for a shared channel, which the offline optimum
    does not model. For *workers* and *progress* see
    :func:`~psm_sim.campaign.offline_pareto_frontier.pareto_frontier`.
    """
    if comparison.resolved_topology.stations or comparison.resolved_topology.mac.model == "dcf":
        return []
    return pareto_frontier(comparison.workloads, comparison.resolved_topology, workers, progress)


def _figures(
    comparison: Comparison, frontier: Sequence[ParetoCorner], preset: str, recorded: Recorded
) -> Iterator[tuple[str, Figure]]:
    """Yield the name and the figure of each plot. Those of pages are omitted if there are no pages."""
    yield "energy-slowdown", draw_trade_off(comparison, frontier, preset)
    yield "energy-by-state", draw_energy_by_state(comparison, preset)
    if has_pages(comparison):
        yield "slowdowns", draw_slowdowns(comparison, preset)
        yield (
            "page-timeline",
            draw_page_timeline(
                comparison.runs, title_of(comparison, preset, first_run(comparison)), recorded
            ),
        )
    polling = draw_polling_times(comparison, preset, recorded)
    if polling is not None:
        yield "polling-times", polling


def draw_trade_off(comparison: Comparison, frontier: Sequence[ParetoCorner] = (), preset: str = "") -> Figure:
    """Plot one mark with error bars per policy, and the frontier of the offline optimum.

    Policies with far higher energy, such as always-on, are listed in the title instead. Without pages, the
    figure shows power against latency. Variants of a policy are labelled with their parameters. *frontier* is
    that of :func:`frontier_of` for the *comparison*. The title has the name of the *preset*, if any.
    """
    figure, (axes,) = new_figure(width_in=6.4, height_in=4.4)
    x, y = axes_of(comparison)
    marks = marks_of(comparison)
    near, far = split_far(marks, y)
    with common_style():
        for mark in near:
            _plot_mark(axes, mark, x, y)
            place = (mark.values[x], mark.values[y])
            axes.annotate(mark.value, place, (6, 5), textcoords="offset points", fontsize=7)
        if frontier:
            xs, ys = [corner.slowdown for corner in frontier], [corner.energy_j for corner in frontier]
            axes.plot(xs, ys, color=OPTIMUM_COLOUR, linewidth=1.5, label=OFFLINE_OPTIMUM)
        axes.set_xlabel(LABELS[x])
        axes.set_ylabel(LABELS[y])
        axes.margins(0.08)
        if x == SLOWDOWN:
            axes.set_xlim(left=min(1.0, *(mark.values[x] for mark in marks)))
        elif x.startswith("latency."):
            axes.set_xlim(left=0)
        notes = [f"{mark.label}: {mark.values[y]:.3g} {_unit(y)} (not plotted)" for mark in far]
        notes += [CUT_NOTE] if any(mark.is_cut(x) for mark in near) else []
    add_title(figure, [title_of(comparison, preset), *notes])
    add_legend(figure, axes)
    return figure


def _unit(measure: str) -> str:
    return LABELS[measure].rpartition("(")[2].rstrip(")").removesuffix(" per page")


CUT_NOTE = "intervals of the slowdown are cut at 1"


def _plot_mark(axes: Axes, mark: Mark, x: str, y: str) -> None:
    values = {measure: mark.values[measure] for measure in (x, y)}
    errors = {
        measure: [[value - mark.ends(measure)[0]], [mark.ends(measure)[1] - value]]
        for measure, value in values.items()
        if measure in mark.half_widths
    }
    axes.errorbar(
        [values[x]],
        [values[y]],
        xerr=errors.get(x),
        yerr=errors.get(y),
        color=mark.style.colour,
        marker=mark.style.marker,
        markersize=7,
        capsize=3,
        linestyle="none",
        clip_on=False,
        zorder=3,
        label=mark.label,
    )


_EDGE = "#222222"


def draw_energy_by_state(comparison: Comparison, preset: str = "") -> Figure:
    """Plot one stacked horizontal bar per policy, with the confidence interval of the total energy.

    Bars that are far longer than the others are truncated and labelled with their energy. Without pages, the
    bars show mean power.
    """
    marks, (_, measure) = marks_of(comparison), axes_of(comparison)
    figure, (axes,) = new_figure(width_in=6.4, height_in=1.5 + 0.38 * len(marks))
    limit = 1.25 * max(mark.values[measure] for mark in split_far(marks, measure)[0])
    with common_style():
        left = [0.0] * len(marks)
        for state in states_of(marks):
            colour, hatch = STATES[state]
            widths = [mark.values.get(state_measure(measure, state), 0.0) for mark in marks]
            axes.barh(
                range(len(marks)), widths, 0.62, left, label=state, color=colour, hatch=hatch, edgecolor=_EDGE
            )
            left = [start + width for start, width in zip(left, widths, strict=True)]
        for row, mark in enumerate(marks):
            _label_bar(axes, row, mark, measure, limit)
        axes.set_xlim(0, limit)
        axes.set_yticks(range(len(marks)), [mark.label for mark in marks])
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(LABELS[measure])
    add_title(figure, [title_of(comparison, preset)])
    add_legend(figure, axes)
    return figure


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


def draw_slowdowns(comparison: Comparison, preset: str = "") -> Figure:
    """Plot one cumulative distribution per policy, over the pages of all seeds or clients."""
    figure, (axes,) = new_figure(width_in=6.4, height_in=4.2)
    with common_style():
        for run, label in zip(comparison.shown, labels_of(comparison.shown), strict=True):
            slowdowns, shares = slowdown_steps(complete_slowdowns(run))
            style = run_style(run)
            axes.step(
                slowdowns,
                shares,
                where="post",
                color=style.colour,
                linestyle=style.line,
                label=label,
            )
        largest = max(run["slowdown.max"] for run in comparison.shown)
        axes.set_xscale("log")
        ticks = [tick for tick in SLOWDOWN_TICKS if tick <= 1.2 * largest]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        lowest = min(min(complete_slowdowns(run)) for run in comparison.shown)
        axes.set_xlim(left=min(1.0, lowest))
        axes.set_xlabel("page slowdown")
        axes.set_ylabel("cumulative share of pages")
        axes.set_ylim(0, 1)
    add_title(figure, [title_of(comparison, preset, comparison.seed_range)])
    add_legend(figure, axes)
    return figure

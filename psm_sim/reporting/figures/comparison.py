"""Figures of a comparison of policies: energy, slowdown, and their trade-off."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from psm_sim.campaign.offline_pareto_frontier import ParetoCorner, pareto_frontier
from psm_sim.common.errors import InputError
from psm_sim.common.output_files import atomic_write, check_writable
from psm_sim.reporting.figures.style import (
    FAR,
    STATE_COLOURS,
    common_style,
    new_figure,
    save_picture,
    style_of,
    subtitle,
    truncate_name,
)
from psm_sim.reporting.figures.timelines import draw_page_timeline, draw_polling_times
from psm_sim.simulation.result import complete_slowdowns
from psm_sim.simulation.run_averages import MEASURES, Average

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from psm_sim.simulation import Comparison, Result

SUFFIXES = (".png", ".svg", ".pdf")


def picture_path(text: str) -> Path:
    """Return *text* as a path after checking that a figure can be written to it.

    Raises
    ------
    InputError
        If the path does not end in .png, .svg or .pdf, its folder does not exist, or it is not writable.
    """
    path = Path(text)
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"--plot must be a file that ends in {', '.join(SUFFIXES)}, got {text!r}.")
    if not path.absolute().parent.is_dir():
        raise InputError(f"--plot: folder not found: {str(path.parent)!r}; create it first.")
    check_writable(path, "--plot")
    return path


def plot(comparison: Comparison, path: Path, workers: int | None = None) -> None:
    """Write the figure of energy against slowdown.

    Parameters
    ----------
    comparison : Comparison
        Comparison to plot.
    path : Path
        Output file, from :func:`picture_path`.
    workers : int, optional
        Number of processes that compute the frontier of the offline optimum. None uses all cores.

    Raises
    ------
    InputError
        If the file cannot be written. An existing file is left unchanged.
    """
    figure = draw_trade_off(comparison, frontier_of(comparison, workers))
    with atomic_write(path, "--plot") as file:
        save_picture(figure, path, file)


def write_figures(folder: Path, comparison: Comparison, frontier: Sequence[ParetoCorner] = ()) -> list[str]:
    """Write all figures as PNG, SVG and PDF, and return their names.

    Parameters
    ----------
    folder : Path
        Output folder. It is created if it does not exist.
    comparison : Comparison
        Comparison to plot.
    frontier : sequence of ParetoCorner
        Frontier of the offline optimum, from :func:`frontier_of`. An empty sequence omits it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for name, figure in _figures(comparison, frontier):
        for suffix in SUFFIXES:
            save_picture(figure, folder / f"{name}{suffix}")
        names.append(name)
    return names


def frontier_of(comparison: Comparison, workers: int | None = None) -> list[ParetoCorner]:
    """Return the frontier of the offline optimum on the pages of a comparison.

    The frontier is empty for too many pages. It is also empty for a shared channel, which the offline optimum
    does not model.
    """
    if comparison.resolved_topology.stations or comparison.resolved_topology.mac.model == "dcf":
        return []
    runs = getattr(comparison, "seeds", ()) or getattr(comparison, "clients", ()) or (comparison,)
    return pareto_frontier([run.workload for run in runs], comparison.resolved_topology, workers)


def _figures(comparison: Comparison, frontier: Sequence[ParetoCorner]) -> Iterator[tuple[str, Figure]]:
    yield "energy-slowdown", draw_trade_off(comparison, frontier)
    drawers: dict[str, Callable[[Comparison], Figure | None]] = {
        "energy-by-state": draw_energy_by_state,
        "slowdowns": draw_slowdowns,
        "page-timeline": lambda shown: draw_page_timeline(shown.runs),
        "polling-times": draw_polling_times,
    }
    for name, draw in drawers.items():
        figure = draw(comparison)
        if figure is not None:
            yield name, figure


def draw_trade_off(comparison: Comparison, frontier: Sequence[ParetoCorner] = ()) -> Figure:
    """Plot one mark with error bars per policy, and the frontier of the offline optimum.

    Policies with far higher energy, such as always-on, are listed in the title instead.
    """
    figure, (axes,) = new_figure(width_in=6.4, height_in=4.4)
    near, far = _split(comparison.shown)
    with common_style():
        for index, run in enumerate(near):
            _plot_mark(axes, run, index)
        if frontier:
            xs, ys = [corner.slowdown for corner in frontier], [corner.energy_j for corner in frontier]
            axes.plot(xs, ys, color="black", linewidth=1.2, label="offline optimum (event-chain model)")
        axes.set_xlabel("mean page slowdown")
        axes.set_ylabel("energy (J per page)")
        axes.margins(0.08)
        omitted = [f"{run.label}: {run.energy_per_page_j:.1f} J (not plotted)" for run in far]
        axes.set_title("\n".join([subtitle(comparison), *omitted]), loc="left")
        figure.legend(loc="outside lower center", ncols=3)
    return figure


def _split(runs: Sequence[Result]) -> tuple[list[Result], list[Result]]:
    lowest = min(run.energy_per_page_j for run in runs)
    near = [run for run in runs if run.energy_per_page_j <= FAR * lowest]
    return near, [run for run in runs if run not in near]


def _plot_mark(axes: Axes, run: Result, index: int) -> None:
    half_widths = [_half_width(run, name) for name in ("slowdown.mean", "energy_per_page_j")]
    colour, marker, _ = style_of(index)
    values = [MEASURES[name](run) for name in ("slowdown.mean", "energy_per_page_j")]
    axes.errorbar(
        values[:1],
        values[1:],
        xerr=half_widths[0],
        yerr=half_widths[1],
        color=colour,
        marker=marker,
        markersize=7,
        capsize=3,
        linestyle="none",
        label=truncate_name(run.label),
    )


def _half_width(run: Result, measure: str) -> float | None:
    return run.interval(measure).half_width if isinstance(run, Average) and run.HAS_INTERVALS else None


_HATCHES = {"asleep": "", "awake": "///", "beacons": "..."}
_EDGE = "#222222"


def draw_energy_by_state(comparison: Comparison) -> Figure:
    """Plot one stacked horizontal bar per policy, with the confidence interval of the total energy.

    Bars that are far longer than the others are truncated and labelled with their energy.
    """
    runs = comparison.shown
    figure, (axes,) = new_figure(width_in=6.4, height_in=1.5 + 0.38 * len(runs))
    energies = [run.energy_per_page_j for run in runs]
    limit = 1.25 * max(energy for energy in energies if energy <= FAR * min(energies))
    with common_style():
        left = [0.0] * len(runs)
        for state, colour in STATE_COLOURS.items():
            widths = [run.energy_by_state_per_page_j[state] for run in runs]
            axes.barh(
                range(len(runs)),
                widths,
                0.62,
                left,
                label=state,
                color=colour,
                hatch=_HATCHES[state],
                edgecolor=_EDGE,
            )
            left = [start + width for start, width in zip(left, widths, strict=True)]
        for row, run in enumerate(runs):
            half_width = run.interval("energy_per_page_j").half_width if isinstance(run, Average) else 0.0
            if half_width:
                axes.errorbar(
                    [left[row]], [row], xerr=[half_width], color="black", capsize=3, linestyle="none"
                )
            text = f"{left[row]:.2f} J" + (" (truncated)" if left[row] > limit else "")
            inside = left[row] > limit
            axes.annotate(
                text,
                (limit if inside else left[row] + half_width, row),
                (-4 if inside else 4, 0),
                ha="right" if inside else "left",
                va="center",
                textcoords="offset points",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
            )
        axes.set_xlim(0, limit)
        axes.set_yticks(range(len(runs)), [truncate_name(run.label) for run in runs])
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("energy (J per page)")
        axes.set_title(subtitle(comparison), loc="left")
        figure.legend(loc="outside lower center", ncols=3)
    return figure


def draw_slowdowns(comparison: Comparison) -> Figure:
    """Plot one cumulative distribution per policy, over the pages of all seeds or clients."""
    figure, (axes,) = new_figure(width_in=6.4, height_in=4.2)
    with common_style():
        for index, run in enumerate(comparison.shown):
            values = sorted(complete_slowdowns(run))
            shares = [(number + 1) / len(values) for number in range(len(values))]
            colour, _, line = style_of(index)
            axes.step(
                [values[0], *values],
                [0.0, *shares],
                where="post",
                color=colour,
                linestyle=line,
                label=truncate_name(run.label),
            )
        largest = max(run.slowdown.max for run in comparison.shown)
        axes.set_xscale("log")
        ticks = [tick for tick in (1, 1.5, 2, 3, 5, 10, 20, 50, 100, 1000) if tick <= 1.2 * largest]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        axes.set_xlabel("page slowdown")
        axes.set_ylabel("cumulative share of pages")
        axes.set_title(
            subtitle(comparison).replace(" with 95 % intervals", "").replace("means over", "pages of"),
            loc="left",
        )
        figure.legend(loc="outside lower center", ncols=3)
    return figure

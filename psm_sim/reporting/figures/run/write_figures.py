"""Writer of the figures of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from psm_sim.campaign.offline_pareto_frontier import ParetoCorner, pareto_frontier
from psm_sim.common.errors import InputError
from psm_sim.common.output_files import atomic_write, check_writable
from psm_sim.reporting.figures.run import energy_by_state, page_timeline, polling_times, slowdowns, trade_off
from psm_sim.reporting.figures.style import save_picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from psm_sim.simulation import Comparison

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
    figure = trade_off.draw(comparison, frontier_of(comparison, workers))
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
    yield "energy-slowdown", trade_off.draw(comparison, frontier)
    drawers: dict[str, Callable[[Comparison], Figure | None]] = {
        "energy-by-state": energy_by_state.draw,
        "slowdowns": slowdowns.draw,
        "page-timeline": lambda shown: page_timeline.draw(shown.runs),
        "polling-times": polling_times.draw,
    }
    for name, draw in drawers.items():
        figure = draw(comparison)
        if figure is not None:
            yield name, figure

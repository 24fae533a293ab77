"""Writing the figures of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from psm_sim.campaign.pareto_frontier import ParetoCorner, pareto_frontier
from psm_sim.errors import InputError
from psm_sim.files.atomic_file import atomic_write, check_writable
from psm_sim.reporting.figures.run import energy_by_state, page_timeline, polling_times, slowdowns, trade_off
from psm_sim.reporting.figures.style import save_picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from psm_sim.simulation import Comparison

SUFFIXES = (".png", ".svg", ".pdf")


def picture_path(text: str) -> Path:
    """Return the path of a picture that can be written.

    Raises
    ------
    InputError
        If it does not end in .png, .svg or .pdf, its folder is not there, or it cannot be written.
    """
    path = Path(text)
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"--plot is {text!r}; expected a file that ends in {', '.join(SUFFIXES)}.")
    if not path.absolute().parent.is_dir():
        raise InputError(f"--plot is {text!r}, but there is no folder {str(path.parent)!r}; make it first.")
    check_writable(path, "--plot")
    return path


def plot(comparison: Comparison, path: Path, workers: int | None = None) -> None:
    """Write the picture of energy against slowdown.

    Parameters
    ----------
    comparison : Comparison
        The runs to draw.
    path : Path
        Where, as :func:`picture_path` returns it.
    workers : int, optional
        Processes for hindsight's frontier, one for each core if None.

    Raises
    ------
    InputError
        If the file cannot be written; an earlier one is left as it was.
    """
    figure = trade_off.draw(comparison, frontier_of(comparison, workers))
    with atomic_write(path, "--plot") as file:
        save_picture(figure, path, file)


def write_figures(folder: Path, comparison: Comparison, frontier: Sequence[ParetoCorner] = ()) -> list[str]:
    """Write all figures as PNG, SVG and PDF; return their names.

    Parameters
    ----------
    folder : Path
        Where they are written; made if need be.
    comparison : Comparison
        The runs to draw.
    frontier : sequence of Corner
        Hindsight's, as :func:`frontier_of` returns it; empty for none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for name, figure in _figures(comparison, frontier):
        for suffix in SUFFIXES:
            save_picture(figure, folder / f"{name}{suffix}")
        names.append(name)
    return names


def frontier_of(comparison: Comparison, workers: int | None = None) -> list[ParetoCorner]:
    """Return hindsight's frontier on the pages of a comparison; empty if they are too many.

    It is that of a link of the station's own: over the air there is none.
    """
    if comparison.resolved_topology.stations or comparison.resolved_topology.mac.model == "dcf":
        return []
    each = getattr(comparison, "seeds", ()) or getattr(comparison, "clients", ()) or (comparison,)
    return pareto_frontier([one.workload for one in each], comparison.resolved_topology, workers)


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

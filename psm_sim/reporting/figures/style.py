"""Style of all figures: readable in print and by the colour-blind, with their numbers beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""Okabe and Ito's palette: told apart with any colour vision, and by lightness in grey."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""A marker for each colour, so that a series is never told by its colour alone."""

LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (7, 2)), (0, (3, 1)))
"""A line style for each colour."""

_STYLE = Path(__file__).with_name("psm_sim.mplstyle")


def new_figure(
    rows: int = 1, columns: int = 1, width_in: float = 6.4, height_in: float = 3.8
) -> tuple[Figure, Sequence[Axes]]:
    """Return a figure in the common style and its axes, row by row.

    Parameters
    ----------
    rows, columns : int
        The number of panels below each other and side by side.
    width_in, height_in : float
        The size of the figure in inches.
    """
    from matplotlib.figure import Figure

    with common_style():
        figure = Figure(figsize=(width_in, height_in), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False)
    return figure, [each for row in axes for each in row]


def common_style() -> AbstractContextManager[None]:
    """Return a context in which all that is drawn, a legend added later too, has the common style."""
    import matplotlib as mpl

    return mpl.rc_context(fname=_STYLE)


def save_figure(figure: Figure, stem: Path, numbers: Mapping[str, Sequence[Any]]) -> list[Path]:
    """Write ``stem.png``, ``stem.svg`` and the figure's numbers as ``stem.csv``; return the paths.

    The same figure gives the same bytes: no date, no random names.

    Parameters
    ----------
    figure : Figure
        The figure.
    stem : Path
        The path of the files without their suffix.
    numbers : mapping of str to sequence
        The columns of the CSV by name; shorter ones are filled with empty cells.
    """
    import csv

    stem.parent.mkdir(parents=True, exist_ok=True)
    paths = [stem.with_name(stem.name + suffix) for suffix in (".png", ".svg", ".csv")]
    for path in paths[:2]:
        save_picture(figure, path)
    with paths[2].open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(numbers)
        writer.writerows(zip_longest(*numbers.values(), fillvalue=""))
    return paths


def save_picture(figure: Figure, path: Path, file: BinaryIO | None = None) -> None:
    """Write a figure as the format that the path ends in; the same figure gives the same bytes.

    Parameters
    ----------
    figure : Figure
        The figure.
    path : Path
        Where it is written.
    file : binary file, optional
        An open file to write to instead; *path* then gives the format alone.
    """
    suffix = path.suffix.lower()
    dates = {".png": "Software", ".svg": "Date", ".pdf": "CreationDate"}
    with common_style():
        if figure.get_layout_engine() is not None:
            # Once for all formats: it takes as long as drawing.
            figure.draw_without_rendering()
            figure.set_layout_engine("none")
        figure.savefig(file or path, format=suffix[1:], dpi=160, metadata={dates[suffix]: None})

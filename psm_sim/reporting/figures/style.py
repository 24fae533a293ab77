"""Common style of the figures, legible in print and to colour-blind readers."""

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
"""Palette of Okabe and Ito, distinguishable with any colour vision and in greyscale."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""Marker of each colour, so that series are distinguishable without colour."""

LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (7, 2)), (0, (3, 1)))
"""Line style of each colour."""

_STYLE = Path(__file__).with_name("psm_sim.mplstyle")


def new_figure(
    rows: int = 1, columns: int = 1, width_in: float = 6.4, height_in: float = 3.8
) -> tuple[Figure, Sequence[Axes]]:
    """Return a figure in the common style and its axes, row by row.

    Parameters
    ----------
    rows, columns : int
        Number of rows and columns of panels.
    width_in, height_in : float
        Size of the figure in inches.
    """
    from matplotlib.figure import Figure

    with common_style():
        figure = Figure(figsize=(width_in, height_in), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False)
    return figure, [panel for row in axes for panel in row]


def common_style() -> AbstractContextManager[None]:
    """Return a context manager that applies the common style, also to legends and titles added later."""
    import matplotlib as mpl

    return mpl.rc_context(fname=_STYLE)


def save_figure(figure: Figure, stem: Path, numbers: Mapping[str, Sequence[Any]]) -> list[Path]:
    """Write ``stem.png``, ``stem.svg`` and the data as ``stem.csv``, and return the paths.

    Equal figures have equal bytes, because the files contain neither dates nor random names.

    Parameters
    ----------
    figure : Figure
        Figure to write.
    stem : Path
        Path of the files without suffix.
    numbers : mapping of str to sequence
        Columns of the CSV, by name. Shorter columns are padded with empty cells.
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
    """Write a figure in the format of the suffix of *path*. Equal figures have equal bytes.

    Parameters
    ----------
    figure : Figure
        Figure to write.
    path : Path
        Output file.
    file : binary file, optional
        Open file to write to. *path* then only determines the format.
    """
    suffix = path.suffix.lower()
    dates = {".png": "Software", ".svg": "Date", ".pdf": "CreationDate"}
    with common_style():
        if figure.get_layout_engine() is not None:
            # Compute the layout once for all formats, because it takes as long as rendering.
            figure.draw_without_rendering()
            figure.set_layout_engine("none")
        figure.savefig(file or path, format=suffix[1:], dpi=160, metadata={dates[suffix]: None})

"""Matplotlib figures in the common style: panels, legends, and files with equal bytes for equal figures."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from io import BytesIO
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, BinaryIO

from psm_sim.common.output_files import atomic_write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = {"svg": "Date", "png": "Software", "pdf": "CreationDate"}
"""Metadata key that is left out of each figure format, so that equal figures are equal files."""

WIDTH_IN = 4.6
"""Width of the figures of a run in inches. Their text is legible on the screen of a phone."""

_STYLE = Path(__file__).with_name("psm_sim.mplstyle")


def new_figure(
    rows: int = 1, columns: int = 1, width_in: float = 6.4, height_in: float = 3.8
) -> tuple[Figure, Sequence[Axes]]:
    """Return a figure in the common style with *rows* and *columns* of panels, and its axes, row by row.

    *width_in* and *height_in* are the size of the figure in inches.
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


def add_title(figure: Figure, lines: Sequence[str]) -> None:
    """Add lines of a title above the panels. Lines that are too long are wrapped."""
    width = int(_TITLE_CHARACTERS_PER_IN * figure.get_figwidth())
    with common_style():
        figure.suptitle("\n".join(fill(line, width) for line in lines), x=0.01, ha="left", fontsize=9)


_TITLE_CHARACTERS_PER_IN = 13.0  # 5.5 points (0.6 em) per character of a 9-point title
_HANDLE_PT, _CHARACTER_PT = 38.0, 4.4
"""Approximate width of a legend entry without its text, and of a character, in typographic points."""


def add_legend(figure: Figure, axes: Axes, title: str | None = None) -> None:
    """Add the legend of one panel below the *figure*, in as many columns as fit.

    *axes* is the panel with the labelled series. *title* is the title of the legend.
    """
    handles, labels = axes.get_legend_handles_labels()
    entry_pt = _HANDLE_PT + _CHARACTER_PT * max(map(len, labels))
    columns = max(1, min(len(labels), int(72 * figure.get_figwidth() / entry_pt)))
    rows = -(-len(labels) // columns)
    with common_style():
        figure.legend(handles, labels, loc="outside lower center", ncols=-(-len(labels) // rows), title=title)


def svg_of(figure: Figure) -> str:
    """Return a *figure* as the text of an SVG file."""
    file = BytesIO()
    save_picture(figure, Path("figure.svg"), file)
    return file.getvalue().decode()


def write_plot(figure: Figure, path: Path) -> None:
    """Write a *figure* atomically to the *path* of ``--plot``."""
    with atomic_write(path, "--plot") as file:
        save_picture(figure, path, file)


def save_picture(figure: Figure, path: Path, file: BinaryIO | None = None) -> None:
    """Write a *figure* to *path*, or to the open *file*. The suffix of *path* selects the format.

    Saving an equal figure again gives a byte-for-byte identical file.
    """
    suffix = path.suffix.lower()[1:]
    with common_style():
        if (layout := figure.get_layout_engine()) is not None:
            # Compute the layout once for all formats, because it takes as long as rendering.
            layout.execute(figure)
            figure.set_layout_engine("none")
        figure.savefig(file or path, format=suffix, dpi=160, metadata={FORMATS[suffix]: None})

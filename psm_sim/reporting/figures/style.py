"""Common style of all figures: colours, markers, lines and names of policies, and matplotlib figures.

The figures are legible in print and to colour-blind readers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from psm_sim.common.component_spec import split_commas
from psm_sim.common.csv_output import write_csv
from psm_sim.common.formatting import truncate
from psm_sim.simulation.run_averages import Average

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from psm_sim.simulation import Comparison, Result

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""Palette of Okabe and Ito, distinguishable with any colour vision and in greyscale."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""Marker of each colour, so that series are distinguishable without colour."""

LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (7, 2)), (0, (3, 1)))
"""Line style of each colour."""

_INTERACTIVE_COLOURS = tuple("#A6761D" if colour == "#000000" else colour for colour in COLOURS)
"""Palette of the interactive figures. Black is replaced, because it is invisible on a dark background."""

_INTERACTIVE_MARKERS = ("circle", "square", "triangle", "diamond", "inverted_triangle", "plus", "x", "star")
_INTERACTIVE_LINES = ("solid", "dashed", "dashdot", "dotted", "dotdash", [5, 1, 1, 1], [1, 1], [7, 2])
"""Names of bokeh for the markers and line styles of each colour."""

STATE_COLOURS = {"asleep": "#56B4E9", "awake": "#0072B2", "beacons": "#E69F00"}
"""Colour of the energy in each radio state."""

EVENT_COLOURS = {
    "radio awake": "#0072B2",
    "frame buffered": "#E69F00",
    "uplink frame": "#D55E00",
    "downlink frame": "#009E73",
}
"""Colours of the timelines."""

FAR = 3.0
"""Energy relative to the minimum above which a policy is hidden, because it would flatten the others."""


def style_of(index: int) -> tuple[str, str, Any]:
    """Return colour, marker and line style of the series at an index. The first 64 styles are distinct."""
    return COLOURS[index % 8], MARKERS[(index + index // 8) % 8], LINES[index % 8]


def interactive_style_of(index: int) -> tuple[str, str, Any]:
    """Return the names of :func:`style_of` in bokeh."""
    marker = _INTERACTIVE_MARKERS[(index + index // 8) % 8]
    return _INTERACTIVE_COLOURS[index % 8], marker, _INTERACTIVE_LINES[index % 8]


_NAMES = {
    "always-on": "no power saving",
    "psm": "static PSM",
    "lpsm:loss=inverse-log": "LPSM 1/log T",
    "lpsm:loss=inverse": "LPSM 1/T",
    "inverse-log": "LPSM 1/log T",
    "inverse": "LPSM 1/T",
}
_ORDER = (
    "psm",
    "lpsm:loss=inverse-log",
    "lpsm:loss=inverse",
    "bsd:p=1",
    "bsd:p=0.5",
    "bsd:p=0.2",
    "bsd:p=0.1",
    "always-on",
)


def name_of(policy: str) -> str:
    """Return the display name of a policy spec, or of a loss of LPSM."""
    if policy in _NAMES:
        return _NAMES[policy]
    kind, _, parameters = policy.partition(":")
    return " ".join([kind.upper(), *split_commas(parameters)]).replace("=", " = ") if parameters else kind


def two_line_name(policy: str) -> str:
    """Return the display name in two lines, for narrow bars."""
    return name_of(policy).replace(" ", "\n", 1)


def style_index(policy: str) -> int:
    """Return the index of the colour, marker and line style of a policy, from 0 to 7."""
    if policy == "hindsight, no delay":
        return len(_ORDER) - 1
    if policy in _ORDER:
        return _ORDER.index(policy)
    return sum(policy.encode()) % len(_ORDER)


_MAX_NAME_LENGTH = 40


def truncate_name(policy: str) -> str:
    """Return the name of a policy, truncated if it is too long for a legend."""
    return truncate(policy, _MAX_NAME_LENGTH, "...")


def subtitle(comparison: Comparison) -> str:
    """Return the title of a figure: pages, trace, seeds and topology."""
    run = comparison.runs[0]
    seeds = f"seed {comparison.seed}"
    if isinstance(run, Average) and run.HAS_INTERVALS:
        seeds = f"means over {len(run.names)} {run.KIND}s with 95 % intervals"
    trace, topology = truncate_name(comparison.trace), truncate_name(comparison.topology)
    return f"{comparison.pages} pages of {trace}, {seeds}, {topology}"


def representative_run(run: Result) -> Result:
    """Return the first single run of an average, or the run itself."""
    return representative_run(run.results[0]) if isinstance(run, Average) else run


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
    stem.parent.mkdir(parents=True, exist_ok=True)
    paths = [stem.with_name(stem.name + suffix) for suffix in (".png", ".svg", ".csv")]
    for path in paths[:2]:
        save_picture(figure, path)
    with paths[2].open("w", newline="", encoding="utf-8") as file:
        write_csv(file, numbers, zip_longest(*numbers.values(), fillvalue=""))
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

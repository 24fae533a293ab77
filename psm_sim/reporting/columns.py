"""Columns of tables, which the terminal, HTML, Markdown and notebooks show."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from psm_sim.common.formatting import (
    decimals_of,
    escape_unprintable,
    format_half_width,
    format_number,
)
from psm_sim.common.summary_stats import Interval

BEACONS_RANK = 8
"""Rank of the column of beacons. HTML shows no columns of this or a higher rank."""


class Column(NamedTuple):
    """Column of a table.

    Attributes
    ----------
    measure : str
        Measure, such as ``"page time"``. Columns of one measure are adjacent.
    cells : list of str
        Numbers or texts, by row.
    name, unit : str
        Name of the statistic, such as ``"p90"``, and unit. Both may be empty.
    half_widths : list of str
        Half-width of the confidence interval in each row; empty text in a row without an interval.
    rank : int
        On a narrow terminal, the columns with the largest rank are dropped first. Columns of rank 0 stay.
    half_width_rank : int
        Rank of the half-widths, which can be dropped before the column.
    is_text : bool
        Whether the cells are texts, which are aligned to the left and may be wrapped.
    """

    measure: str
    cells: list[str]
    name: str = ""
    unit: str = ""
    half_widths: Sequence[str] = ()
    rank: int = 0
    half_width_rank: int = 0
    is_text: bool = False

    @property
    def heading(self) -> str:
        """Measure, name and unit in one line."""
        return f"{self.measure} {self.name}".rstrip() + (f" ({self.unit})" if self.unit else "")

    @property
    def heading_lines(self) -> tuple[str, str]:
        """Both lines of the heading, such as ``("page time s", "mean")``. Columns can share a first line."""
        widest = max(map(len, self.half_widths), default=0)
        sign = f" ±{' ' * widest}" if widest else ""
        if self.name:
            return f"{self.measure} {self.unit}".rstrip(), self.name + sign
        return (self.measure, self.unit + sign) if self.unit or sign else ("", self.measure)

    @property
    def texts(self) -> list[str]:
        """Cells with their half-widths, aligned at the decimal point and at the sign ±."""
        widest = max(map(len, self.half_widths), default=0)
        if not widest:
            return self.cells
        pairs = zip(self.cells, self.half_widths, strict=True)
        return [f"{cell} ± {half:<{widest}}" if half else cell + " " * (widest + 3) for cell, half in pairs]

    @property
    def is_constant(self) -> bool:
        """Whether all cells are equal, and all half-widths too."""
        return len(set(self.texts)) == 1

    def without_half_widths(self) -> Column:
        """Return the column without intervals."""
        return self._replace(half_widths=(), half_width_rank=0)


def text_column(measure: str, cells: Sequence[str], rank: int = 0) -> Column:
    """Return a column of texts, with unprintable characters escaped."""
    return Column(measure, list(map(escape_unprintable, cells)), rank=rank, is_text=True)


def number_column(
    measure: str,
    values: Sequence[float],
    name: str = "",
    unit: str = "",
    *,
    half_widths: Sequence[float] = (),
    rank: int = 0,
    half_width_rank: int = 0,
    max_decimals: int = 6,
) -> Column:
    """Return a column of numbers with a common number of decimals, see :func:`decimals_of`.

    nan is shown as ``-``, and a half-width of nan or 0 is not shown.
    """
    decimals = min(max_decimals, decimals_of(values, half_widths))
    widths = [format_half_width(width, decimals) for width in half_widths]
    return Column(
        measure,
        [format_number(value, decimals) for value in values],
        name,
        unit,
        widths if any(widths) else (),
        rank,
        half_width_rank if any(widths) else 0,
    )


def mean_column(measure: str, intervals: Sequence[Interval], name: str = "", unit: str = "") -> Column:
    """Return a column of means with their intervals."""
    half_widths = [interval.half_width for interval in intervals]
    return number_column(
        measure, [interval.mean for interval in intervals], name, unit, half_widths=half_widths
    )


def plain_rows(columns: Sequence[Column]) -> list[list[str]]:
    """Return the headings and the rows of a table as text."""
    texts = ([text.strip() for text in column.texts] for column in columns)
    return [[column.heading for column in columns], *map(list, zip(*texts, strict=True))]


def latex_table(columns: Sequence[Column]) -> str:
    """Return a table as LaTeX, which needs the package booktabs. All texts are escaped."""
    alignment = "".join("l" if column.is_text else "r" for column in columns)
    headings, *rows = (f"{' & '.join(map(_escape_latex, row))} \\\\" for row in plain_rows(columns))
    lines = [f"\\begin{{tabular}}{{{alignment}}}", "\\toprule", headings, "\\midrule", *rows]
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"])


_LATEX = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    "±": "$\\pm$",
}
"""LaTeX of characters that are special in it or missing in its default font."""


def _escape_latex(text: str) -> str:
    number = re.sub(r"^-(?=\d)", "−", text)
    return "".join(_LATEX.get(character, character) for character in number).replace("−", "$-$")

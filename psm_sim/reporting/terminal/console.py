"""Console that prints tables, and the style of the tables."""

from __future__ import annotations

import re
import sys
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby, zip_longest
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TextIO

from psm_sim.common.formatting import escape_unprintable
from psm_sim.reporting.columns import BEACONS_RANK, Column

if TYPE_CHECKING:
    from rich.console import Console

PIPED_WIDTH = 100
"""Width in columns of output that is not a terminal, whatever COLUMNS is."""

PROSE_WIDTH = 90
"""Maximum width of sentences, which fits the blocks of the documents."""


@contextmanager
def console_on(stream: TextIO) -> Iterator[Console]:
    """Yield a console, and write its output to *stream* at the end of the block.

    On a terminal, the console has the terminal's width and colours. Elsewhere, the output is plain text
    without trailing blanks, and does not depend on the environment.
    """
    from rich.console import Console
    from rich.segment import Segment

    class Safe(Console):
        """Console that escapes control characters, so that text from a file cannot move the cursor."""

        def render(self, *arguments: Any, **options: Any) -> Iterator[Segment]:
            for text, style, control in super().render(*arguments, **options):
                yield Segment("\n".join(map(escape_unprintable, text.split("\n"))), style, control)

    on_terminal = stream.isatty()
    console = Safe(
        file=stream,
        width=None if on_terminal else PIPED_WIDTH,
        force_terminal=on_terminal,
        color_system="auto" if on_terminal else None,
        highlight=False,
        markup=False,
        emoji=False,
    )
    # Capture the output, because rich pads lines with blanks that a file or a pipe should not receive.
    with console.capture() as captured:
        yield console
    text = captured.get()
    stream.write(text if on_terminal else "".join(f"{line.rstrip()}\n" for line in text.splitlines()))


def print_lines(console: Console, lines: Sequence[str]) -> None:
    """Print sentences, wrapped at :data:`PROSE_WIDTH`."""
    console.print(*lines, sep="\n", width=min(PROSE_WIDTH, console.width))


_MIN_TEXT_WIDTH, _LEAST_TEXT_WIDTH = 22, 8
"""Minimum widths of a column of texts, in characters: before columns are dropped, and after that."""


def print_table(
    console: Console, columns: Sequence[Column], bold: Container[int] = (), ends: Container[int] = ()
) -> tuple[list[Column], list[str]]:
    """Print a table, and return its columns and the names of the dropped columns and intervals.

    Columns and intervals with the largest ranks are dropped until the table fits the console. *bold* has the
    indices of rows in bold, and *ends* the indices of rows that are followed by a blank line.
    """
    from rich.text import Text

    layouts = [_layout(columns, console.width, gap) for gap in (2, 1)]
    gap, shown, dropped, widths, _ = min(layouts, key=itemgetter(-1))

    def print_line(line: str, style: str = "") -> None:
        console.print(Text(line, style), no_wrap=True, overflow="ignore", crop=False)

    def draw(cells: Sequence[str], style: str = "") -> None:
        texts = [_wrap(*each) for each in zip(cells, widths, strict=True)]
        for line in zip_longest(*texts, fillvalue=""):
            aligned = (
                text.ljust(width) if column.is_text else text.rjust(width)
                for text, width, column in zip(line, widths, shown, strict=True)
            )
            print_line(" " * (gap - 1) + (" " * gap).join(aligned), style)

    groups = list(_groups(shown))
    if any(measure for measure, _ in groups):
        spans = [(measure, sum(widths[index] + gap for index in span)) for measure, span in groups]
        line = "".join(measure.rjust(width) for measure, width in spans)
        print_line(line[1:], "bold")
    draw([column.heading_lines[1] for column in shown], "bold")
    print_line("─" * _total(widths, gap))
    for number, cells in enumerate(zip(*(column.texts for column in shown), strict=True)):
        draw(cells, "bold" if number in bold else "")
        if number in ends:
            console.print("")
    return shown, [name for _, name in dropped]


def _layout(columns: Sequence[Column], max_width: int, gap: int) -> tuple[Any, ...]:
    """Return *gap*, the shown and the dropped columns, the widths, and a penalty for comparing layouts.

    The penalty is the number of dropped main columns and intervals, followed by whether texts are wrapped.
    """
    shown, dropped = _fit(columns, max_width, gap)
    widths = _widths(shown, max_width, gap, _LEAST_TEXT_WIDTH)
    is_wrapped = widths != _widths(shown, sys.maxsize, gap, 1)
    return gap, shown, dropped, widths, (sum(rank < BEACONS_RANK for rank, _ in dropped), is_wrapped)


def left_out_lines(console: Console, names: Sequence[str], option: str) -> list[str]:
    """Return a line that lists the dropped columns and recommends *option*; empty without *names*."""
    unique = ", ".join(dict.fromkeys(names))
    hint = f"use a wider terminal or {option}"
    return [f"Left out at {console.width} columns: {unique}; {hint}."] if names else []


def _fit(columns: Sequence[Column], max_width: int, gap: int) -> tuple[list[Column], list[tuple[int, str]]]:
    """Return the columns that fit *max_width*, and ``(rank, name)`` of each dropped column or interval."""
    fitting, dropped = list(columns), list[tuple[int, str]]()
    while _total(_widths(fitting, max_width, gap, _MIN_TEXT_WIDTH), gap) > max_width:
        rank = max(max(column.rank, column.half_width_rank) for column in fitting)
        if not rank:
            break
        dropped += [(rank, column.heading) for column in fitting if column.rank == rank]
        remaining = [column for column in fitting if column.rank != rank]
        dropped += [(rank, f"{column.measure} ±") for column in remaining if column.half_width_rank == rank]
        fitting = [each.without_half_widths() if each.half_width_rank == rank else each for each in remaining]
    return fitting, dropped


def _groups(columns: Sequence[Column]) -> Iterator[tuple[str, list[int]]]:
    """Yield each group of adjacent columns of the same measure: the measure and the column indices."""
    for first, group in groupby(enumerate(columns), key=lambda each: each[1].heading_lines[0]):
        yield first, [number for number, _ in group]


def _total(widths: Sequence[int], gap: int) -> int:
    """Return the width of a table with *gap* blanks before each column, and one less before the first."""
    return sum(widths) + len(widths) * gap - 1


def _widths(columns: Sequence[Column], max_width: int, gap: int, least: int) -> list[int]:
    """Return the width of each column.

    Text columns, the widest first, are narrowed until the table fits or none is wider than *least*.
    """
    widths = [max(map(len, (column.heading_lines[1], *column.texts))) for column in columns]
    for measure, group in _groups(columns):
        missing = len(measure) - sum(widths[number] + gap for number in group) + gap
        widths[group[0]] += max(missing, 0)
    texts = [number for number, column in enumerate(columns) if column.is_text]
    while texts and _total(widths, gap) > max_width:
        widest = max(texts, key=lambda number: widths[number])
        if widths[widest] <= least:
            break
        widths[widest] -= 1
    return widths


def _wrap(text: str, width: int) -> list[str]:
    """Return a text in lines of *width* characters, broken after a colon, a comma or a blank if possible."""
    lines = [""]
    for piece in re.split("(?<=[:, ])", text):
        if lines[-1] and len(lines[-1] + piece.rstrip()) > width:
            lines.append("")
        whole = lines.pop() + piece
        lines += [whole[start : start + width] for start in range(0, max(len(whole.rstrip()), 1), width)]
    return [line.rstrip() for line in lines]

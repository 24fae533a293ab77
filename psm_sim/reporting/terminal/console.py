"""Console that prints tables, and the style of the tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from psm_sim.common.formatting import escape_unprintable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

PIPED_WIDTH = 160
"""Width in columns of output that is not a terminal. COLUMNS is ignored, and a long formula fits."""

PROSE_WIDTH = 90
"""Maximum width of sentences, which fits the blocks of the documents."""


Rows = list[list[str]]


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


def new_table(padding: tuple[int, int, int, int] = (0, 1, 0, 0)) -> Table:
    """Return an empty table of rich in the common style."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    return Table(box=SIMPLE_HEAD, padding=padding, show_edge=False, header_style="bold")


def table_of(rows: Rows) -> Table:
    """Return a table of rich whose first row has the headings."""
    table = new_table((0, 0, 0, 1))
    first, *others = rows[0]
    table.add_column(first, overflow="fold")
    for heading in others:
        table.add_column(heading, justify="right")
    for row in rows[1:]:
        table.add_row(*row)
    return table

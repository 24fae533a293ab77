"""Console on which tables are printed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from psm_sim.formatting import escape_unprintable

if TYPE_CHECKING:
    from rich.console import Console

PIPED_WIDTH = 160
"""Width in columns where the output is no terminal: room for a long formula; COLUMNS is not asked."""


@contextmanager
def console_on(stream: TextIO) -> Iterator[Console]:
    """Give a console whose output goes to *stream* at the end.

    On a terminal it has the terminal's width and colours; elsewhere it is plain text, without blanks at
    the ends of lines, and the same in every environment.
    """
    from rich.console import Console
    from rich.segment import Segment

    class Safe(Console):
        """Console on which a text from a file cannot move the cursor or turn the direction."""

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
    # Captured first: rich pads lines with blanks, which a file or a pipe should not get.
    with console.capture() as captured:
        yield console
    text = captured.get()
    stream.write(text if on_terminal else "".join(f"{line.rstrip()}\n" for line in text.splitlines()))

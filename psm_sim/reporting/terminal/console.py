"""Where tables are printed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

PIPED_WIDTH = 160
"""Columns of what is no terminal: room for a long formula, whatever COLUMNS says."""


@contextmanager
def console_on(stream: TextIO) -> Iterator[Console]:
    """Give a console whose output goes to *stream* at the end.

    On a terminal it is as wide as that and has colours; elsewhere it is plain text, without blanks at
    the ends of lines, and the same whatever the environment.
    """
    from rich.console import Console

    on_terminal = stream.isatty()
    console = Console(
        file=stream,
        width=None if on_terminal else PIPED_WIDTH,
        force_terminal=on_terminal,
        color_system="auto" if on_terminal else None,
        highlight=False,
        markup=False,
        emoji=False,
    )
    with console.capture() as captured:
        yield console
    text = captured.get()
    stream.write(text if on_terminal else "".join(f"{line.rstrip()}\n" for line in text.splitlines()))

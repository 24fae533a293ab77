"""Terminal tables of a comparison of policies, fitted to the width of the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from psm_sim.reporting.columns import Column
from psm_sim.reporting.comparison_table import caption, tables_of
from psm_sim.reporting.terminal.console import console_on, left_out_lines, print_lines, print_table

if TYPE_CHECKING:
    from psm_sim.simulation import Comparison


def write(comparison: Comparison, stream: TextIO) -> None:
    """Write the tables of a *comparison*, its conclusion and the caption to *stream*."""
    with console_on(stream) as console:
        shown, left_out = list[Column](), list[str]()
        for table in tables_of(comparison):
            columns, dropped = print_table(console, [*table.names, *table.columns])
            console.print()
            shown += columns
            left_out += dropped
        conclusion = comparison.conclusion()
        lines = [*([conclusion, ""] if conclusion else []), *caption(comparison, shown)]
        lines += left_out_lines(console, left_out, "--format csv")
        print_lines(console, lines)

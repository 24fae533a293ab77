"""Findings of studies as tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

from psm_sim.reporting import claims
from psm_sim.reporting.terminal.console import console_on

if TYPE_CHECKING:
    import pandas as pd

    from psm_sim.studies.study import Findings


def write(findings: Sequence[Findings], stream: TextIO, rule: str = claims.RULE) -> None:
    """Write each study's claims, tables and remarks.

    Parameters
    ----------
    findings
        In the order to be printed.
    stream
        Where to.
    rule
        How the verdicts are found.
    """
    from rich.text import Text

    with console_on(stream) as console:
        for found in findings:
            console.print(Text(f"{found.study}: {found.title}", style="bold"))
            console.print(Text(found.setting))
            if found.claims:
                console.print()
                console.print(_table(claims.HEADINGS[:-1], [row[:-1] for row in claims.rows(found.claims)]))
            for table in found.tables:
                console.print()
                console.print(Text(table.title, style="italic"))
                console.print(_table(list(map(str, table.frame.columns)), cells(table.frame)))
            console.print()
            for line in [f"* {remark}" for remark in found.remarks] + _commentary(found):
                console.print(Text(line))
            console.print()
        every = [claim for found in findings for claim in found.claims]
        if every:
            console.print(Text(f"{len(every)} published numbers: {claims.tally(every)}."))
            console.print(Text(rule))


def _commentary(found: Findings) -> list[str]:
    lines = [f"* {sentence}" for sentence in found.commentary]
    return ["Commentary:", *lines] if lines else []


def cells(frame: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return a table's cells as text."""
    return [tuple(cell(value) for value in row) for row in frame.itertuples(index=False, name=None)]


def cell(value: Any) -> str:
    """Return one cell as text: four significant digits of a fraction, nothing for what is missing."""
    value = value.item() if hasattr(value, "item") else value
    if value is None or value != value:
        return ""
    return f"{value:.4g}" if type(value) is float else str(value)


def _table(headings: Sequence[str], rows: Sequence[tuple[str, ...]]) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(Text(heading), overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return table

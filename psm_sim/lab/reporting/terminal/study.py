"""Findings of studies as tables for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from psm_sim.lab.reporting import claim_table
from psm_sim.reporting.terminal.console import console_on

if TYPE_CHECKING:
    import pandas as pd

    from psm_sim.lab.studies.study import Findings


def write_findings(findings: Sequence[Findings], stream: TextIO, rule: str = claim_table.RULE) -> None:
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
            notes = {preset.name: preset.note() for preset in found.presets}
            for name, mine in claim_table.under_each_preset(found.claims).items():
                console.print()
                console.print(Text(notes.get(name, ""), style="italic"), end="\n" if name else "")
                console.print(_table(*claim_table.columns(mine, without=["source"])))
            for table in found.tables:
                console.print()
                console.print(Text(table.title, style="italic"))
                console.print(_table(list(map(str, table.frame.columns)), cells(table.frame)))
            console.print()
            for line in [f"* {remark}" for remark in found.remarks] + _commentary(found):
                console.print(Text(line))
            console.print()
        for line in _end(findings, rule):
            console.print(Text(line))


def _end(findings: Sequence[Findings], rule: str) -> list[str]:
    """Return the tallies of each preset, and how they are found."""
    every = [claim for found in findings for claim in found.claims]
    presets = claim_table.under_each_preset(every)
    lines = [
        f"{f'Preset {name}, ' if name else ''}{len(mine)} published numbers: {claim_table.format_tallies(mine)}."
        for name, mine in presets.items()
    ]
    if any(found.provisional for found in findings):
        lines.append("Provisional: a verdict needs more replications; run without --quick.")
    roles = [claim_table.ROLES] if any(presets) else []
    return [*lines, rule, *roles] if every else []


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


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(Text(heading), overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return table

"""Terminal output of the contract checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TextIO

from psm_sim.common.formatting import escape_unprintable
from psm_sim.contracts import Report
from psm_sim.reporting.terminal.console import console_on


def write(reports: Sequence[Report], stream: TextIO) -> None:
    """Write the reports to *stream*: tables on a terminal, one unwrapped line per check elsewhere."""
    if not stream.isatty():
        lines = "\n\n".join(map(str, reports)).split("\n")
        stream.write("".join(f"{escape_unprintable(line)}\n" for line in lines))
        return
    with console_on(stream) as console:
        for report in reports:
            console.print(_table(report))
            console.print(report.summary)


def _table(report: Report) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=report.title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("check", no_wrap=True)
    table.add_column("requirement")
    table.add_column("result")
    for finding in report.findings:
        result = Text("ok", style="green") if finding.ok else Text(finding.fault, style="bold red")
        table.add_row(finding.check, Text(finding.promise), result)
    return table

"""Terminal list of registered components and their parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TextIO

from psm_sim.reporting.terminal.console import console_on


def write(items: Sequence[dict[str, Any]], remark: str, stream: TextIO) -> None:
    """Write the name, summary and parameters of each of the *items* to *stream*, and a *remark* below."""
    from rich.padding import Padding
    from rich.text import Text

    with console_on(stream) as console:
        for item in items:
            console.print(Text.assemble((item["name"], "bold"), f"  ({item['source']})"))
            console.print(Padding(item["summary"], (0, 0, 0, 2)))
            if item["parameters"]:
                console.print(Padding(_table(item["parameters"]), (0, 0, 0, 2)))
            console.print()
        console.print(remark)


def _table(rows: Sequence[dict[str, Any]]) -> Any:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="italic")
    for heading in ("parameter", "default", "unit", "range", "meaning"):
        table.add_column(heading, overflow="fold", no_wrap=heading in {"parameter", "default", "unit"})
    for row in rows:
        default = format_value(row["default"])
        meaning = f"{row['help']} (requires {row['requires']})" if row["requires"] else row["help"]
        table.add_row(row["name"], default, row["unit"], row["range"], meaning)
    return table


def format_value(value: Any) -> str:
    """Return a parameter's value as it is written on the command line."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6g}" if isinstance(value, float) else str(value)

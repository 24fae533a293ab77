"""List of the components that can be named, as text for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TextIO

from psm_sim.reporting.terminal.console import console_on


def write(items: Sequence[dict[str, Any]], remark: str, stream: TextIO) -> None:
    """Write each item's name and summary, and under it a table of its parameters.

    Parameters
    ----------
    items : sequence of dict
        Each with ``name``, ``source``, ``summary`` and ``parameters``, a list of rows.
    remark : str
        The sentence that stands under the list.
    stream : text file
        Where to write.
    """
    from rich.padding import Padding
    from rich.text import Text

    with console_on(stream) as console:
        for item in items:
            console.print(Text.assemble((item["name"], "bold"), f"  ({item['source']})"))
            console.print(Padding(Text(item["summary"]), (0, 0, 0, 2)))
            if item["parameters"]:
                console.print(Padding(_table(item["parameters"]), (0, 0, 0, 2)))
            console.print()
        console.print(Text(remark))


def _table(rows: Sequence[dict[str, Any]]) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="italic")
    for heading in ("parameter", "default", "unit", "range", "meaning"):
        table.add_column(heading, overflow="fold", no_wrap=heading in {"parameter", "default", "unit"})
    for row in rows:
        default = format_value(row["default"])
        table.add_row(*map(Text, (row["name"], default, row["unit"], row["range"], row["help"])))
    return table


def format_value(value: Any) -> str:
    """Return a parameter's value as it is written on the command line."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6g}" if isinstance(value, float) else str(value)

"""Terminal list of registered components and their parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TextIO

from psm_sim.common.formatting import format_parameter
from psm_sim.reporting.columns import Column, text_column
from psm_sim.reporting.terminal.console import console_on, print_table


def write_items(items: Sequence[dict[str, Any]], remark: str, stream: TextIO) -> None:
    """Write the name, summary and parameters of each of the *items* to *stream*, and a *remark* below."""
    from rich.padding import Padding
    from rich.text import Text

    with console_on(stream) as console:
        for item in items:
            console.print(Text.assemble((item["name"], "bold"), f"  ({item['source']})"))
            console.print(Padding(item["summary"], (0, 0, 0, 2)))
            if item["parameters"]:
                print_table(console, _columns(item["parameters"]))
            console.print()
        console.print(remark)


def _columns(rows: Sequence[dict[str, Any]]) -> list[Column]:
    meanings = [
        f"{row['help']} (requires {row['requires']})" if row["requires"] else row["help"] for row in rows
    ]
    return [
        text_column("parameter", [row["name"] for row in rows]),
        text_column("default", [format_parameter(row["default"]) for row in rows]),
        *(text_column(name, [row[name] for row in rows]) for name in ("unit", "range")),
        text_column("meaning", meanings),
    ]

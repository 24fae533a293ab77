"""Terminal tables of a comparison of losses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO

from psm_sim.reporting.loss_texts import (
    NAT,
    REGRET,
    Rows,
    nat_rows,
    regret_rows,
    result_rows,
    setting_lines,
)
from psm_sim.reporting.terminal.console import console_on

if TYPE_CHECKING:
    from psm_sim.campaign.loss_comparison import LossComparison


def write(losses: LossComparison, stream: TextIO) -> None:
    """Write the results, the cost of a nat and the regret to *stream*."""
    from rich.text import Text

    with console_on(stream) as console:
        for text, rows in (("", result_rows(losses)), (NAT, nat_rows(losses)), (REGRET, regret_rows(losses))):
            if text:
                console.print(Text(text))
            console.print(_table(rows))
            console.print()
        for line in setting_lines(losses):
            console.print(Text(line))


def _table(rows: Rows) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, padding=(0, 0, 0, 1), show_edge=False, header_style="bold")
    first, *others = rows[0]
    table.add_column(first, overflow="fold")
    for heading in others:
        table.add_column(heading, justify="right")
    for row in rows[1:]:
        table.add_row(*map(Text, row))
    return table

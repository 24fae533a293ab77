"""Terminal table of the latencies of background messages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psm_sim.simulation import Result
    from psm_sim.simulation.message_latency import Latency

_DIRECTIONS = {
    "down": "downlink",
    "up": "uplink",
    "round_trip_down": "downlink round trip",
    "round_trip_up": "uplink round trip",
}
_HEADINGS = ("sent", "lost %", "mean ms", "p50", "p90", "p99", "max")

LATENCY_CAPTION = "Latency is the time from sending to arrival. A round trip ends when the reply arrives."


def latency_table(runs: Sequence[Result]) -> Any:
    """Return a table with one row per policy and direction.

    The columns are the messages sent, the share lost, and the mean and percentiles in milliseconds.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, padding=(0, 0, 0, 1), show_edge=False, header_style="bold")
    for heading in ("policy", "latency"):
        table.add_column(heading, overflow="fold")
    for heading in _HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for run in runs:
        for direction, latency in run.latency.items():
            table.add_row(Text(run.policy), _DIRECTIONS[direction], *_cells(latency))
    return table


def _cells(latency: Latency) -> list[str]:
    times = [_number(1000 * value) for value in latency.latency_s]
    return [f"{latency.sent:,}", _number(100 * latency.loss), *times]


def _number(value: float) -> str:
    if math.isnan(value):
        return "-"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}"

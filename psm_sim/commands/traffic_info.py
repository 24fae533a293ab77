"""Text description of a traffic trace: its parts and their messages in one hour."""

from __future__ import annotations

from psm_sim.commands.trace_info import fact_lines
from psm_sim.common.parameters import build
from psm_sim.common.random_streams import random_stream
from psm_sim.workload.traffic_trace import TrafficPart, TrafficTrace

_HOUR_S = 3600.0
_HEADS = ("sender", "transport", "timing", "period s", "bytes", "answer", "an hour")


def describe_traffic(traffic: TrafficTrace) -> str:
    """Return the description of a traffic trace: the defaults of each part, and its messages per hour.

    The hour is sampled with seed 1.
    """
    pages = f"sampled from {traffic.name}" if traffic.profile else f"none; pauses of {traffic.stretch_s} s"
    facts = {
        "Format": "traffic trace" + (", synthetic" if traffic.synthetic else ""),
        "Name": traffic.name,
        "Remark": traffic.remark,
        "Source": traffic.source or "unknown",
        "Pages": pages,
    }
    heads = "part".ljust(16) + "".join(f"{head:>11}" for head in _HEADS)
    rows = [_row(name, texts, traffic.name) for name, texts in traffic.parts.items()]
    return "\n".join([*fact_lines(facts), "", heads, *rows])


def _row(name: str, texts: dict[str, str], trace: str) -> str:
    owner = f"trace {trace}: {name}"
    part: TrafficPart = build(TrafficPart, texts, owner)
    sent = part.rows(_HOUR_S, 0, random_stream(1, f"workload.traffic.{name}"), owner).size
    cells = (
        part.sender, part.transport, part.timing, f"{part.period_s:g}", f"{part.bytes:,}",
        f"{part.reply_bytes:,}", f"{sent:,}"
    )  # fmt: skip
    return name.ljust(16) + "".join(f"{cell:>11}" for cell in cells)

"""Contents of a capture as text: its client, its packets in each direction, and the pages made of them."""

from __future__ import annotations

import numpy as np

from psm_sim.commands.trace_info import facts_of, pages_of, row_of, table_of
from psm_sim.errors import InputError
from psm_sim.formatting import format_duration
from psm_sim.workload.capture_workloads import CapturedTrace
from psm_sim.workload.recordings.capture.ip_packets import TCP, UDP


def of_capture(captured: CapturedTrace) -> str:
    """Describe a capture."""
    found = captured.capture
    protocol = found.rows["protocol"]
    kinds = {"TCP": protocol == TCP, "UDP": protocol == UDP, "other": ~np.isin(protocol, (TCP, UDP))}
    facts = {
        "Format": found.format,
        "Frames": f"{found.frames:,}, of them IP packets: {found.packets:,}",
        "Client": f"{found.client}, {found.rows.size:,} packets",
        "Span": format_duration(float(found.at_s[-1])),
        "Busiest": ", ".join(f"{address} ({count:,})" for address, count in found.others),
        "Packets": ", ".join(f"{name} {int(mine.sum()):,}" for name, mine in kinds.items()),
    }
    rows = [line for name, up in (("down", False), ("up", True)) for line in _rows(captured, name, up)]
    return "\n".join([*facts_of(facts), "", *table_of(rows), "", *_pages(captured)])


def _rows(captured: CapturedTrace, name: str, up: bool) -> list[str]:
    mine = captured.capture.uplink == up
    between, sizes = np.diff(captured.capture.at_s[mine]), captured.capture.rows["length"][mine]
    return [row_of(f"{name}, between s", between), row_of(f"{name}, bytes", sizes)]


def _pages(captured: CapturedTrace) -> list[str]:
    try:
        return pages_of(captured.recording)
    except InputError as error:
        return [str(error)]

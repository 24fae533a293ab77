"""Text description of a packet capture."""

from __future__ import annotations

import numpy as np

from psm_sim.commands.trace_info import fact_lines, page_lines, quantile_row, quantile_table
from psm_sim.common.errors import InputError
from psm_sim.common.formatting import format_duration
from psm_sim.workload.capture_workloads import CapturedTrace
from psm_sim.workload.recordings.capture.ip_packets import TCP, UDP


def describe_capture(captured: CapturedTrace) -> str:
    """Return the description of a capture: packets per direction and reconstructed pages."""
    capture = captured.capture
    protocol = capture.rows["protocol"]
    kinds = {"TCP": protocol == TCP, "UDP": protocol == UDP, "other": ~np.isin(protocol, (TCP, UDP))}
    facts = {
        "Format": capture.format,
        "Frames": f"{capture.frames:,} ({capture.packets:,} IP packets)",
        "Client": f"{capture.client}, {capture.rows.size:,} packets",
        "Span": format_duration(float(capture.at_s[-1])),
        "Busiest": ", ".join(f"{address} ({count:,})" for address, count in capture.others),
        "Packets": ", ".join(f"{name} {int(mask.sum()):,}" for name, mask in kinds.items()),
    }
    rows = [line for name, up in (("down", False), ("up", True)) for line in _rows(captured, name, up)]
    return "\n".join([*fact_lines(facts), "", *quantile_table(rows), "", *_pages(captured)])


def _rows(captured: CapturedTrace, name: str, up: bool) -> list[str]:
    mask = captured.capture.uplink == up
    gaps_s, sizes = np.diff(captured.capture.at_s[mask]), captured.capture.rows["length"][mask]
    return [quantile_row(f"{name}, between s", gaps_s), quantile_row(f"{name}, bytes", sizes)]


def _pages(captured: CapturedTrace) -> list[str]:
    try:
        return page_lines(captured.recording)
    except InputError as error:
        return [str(error)]

"""Estimate of the size of a capture before the run.

Beacons make up most of a file if users think between pages.
"""

from __future__ import annotations

from collections.abc import Sequence

from psm_sim.network.parts.capture.record_layouts import LAYOUTS, beacon_layout
from psm_sim.network.topology import Topology
from psm_sim.workload import Workload

_LOADING_S = 1.0
"""Approximate time of a page in seconds, which is short compared with the think time."""

_FRAMES_OF_CONNECTION = 10
"""Frames of a connection besides its data: handshake, requests, FINs and null data frames."""


def capture_bytes(workloads: Sequence[Workload], topology: Topology) -> int:
    """Return the approximate size of a capture, in bytes.

    The estimate is accurate within a factor of two, unless many segments are retransmitted.

    Parameters
    ----------
    workloads
        Workload of each station.
    topology
        Beacon interval and segment size.
    """
    time_s = max(sum(page.think_s + _LOADING_S for page in workload.pages) for workload in workloads)
    beacons = time_s / topology.beacon.interval_s * beacon_layout(len(workloads)).itemsize
    return int(beacons + sum(_frames_bytes(workload, topology.tcp.segment_bytes) for workload in workloads))


def _frames_bytes(workload: Workload, segment_bytes: int) -> float:
    pages, messages = workload.pages, workload.messages
    payload = sum(page.total_bytes for page in pages)
    objects = sum(page.objects for page in pages)
    sent = sum(message.bytes + message.reply_bytes for message in messages)
    frames = 1.5 * (payload + sent) / segment_bytes + _FRAMES_OF_CONNECTION * objects + 4 * len(messages)
    return payload + sent + frames * (LAYOUTS["tcp"].itemsize + LAYOUTS["ack"].itemsize)

"""Size of a capture, estimated before the run: beacons are most of it where users think."""

from __future__ import annotations

from collections.abc import Sequence

from psm_sim.network.observers.capture.layout import LAYOUTS, beacon_layout
from psm_sim.network.topology import Topology
from psm_sim.workload import Workload

_LOADING_S = 1.0
"""Time that a page takes, about: little beside the time for which its user thinks."""

_FRAMES_OF_CONNECTION = 10
"""Handshake, requests, FINs and null frames."""


def capture_bytes(workloads: Sequence[Workload], topology: Topology) -> int:
    """Return the bytes that a capture will have, within a factor of two unless much is sent again.

    Parameters
    ----------
    workloads
        What is loaded and sent by each station.
    topology
        Says how often beacons come, and how large segments are.
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

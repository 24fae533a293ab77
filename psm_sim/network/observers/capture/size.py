"""Size of a capture, estimated before the run: beacons are most of it where users think."""

from __future__ import annotations

from collections.abc import Sequence

from psm_sim.network.observers.capture.layout import LAYOUTS
from psm_sim.network.topology import Topology
from psm_sim.workload.messages import Messages
from psm_sim.workload.page import Page

_LOADING_S = 1.0
"""Time that a page takes, about: little beside the time for which its user thinks."""

_FRAMES_OF_CONNECTION = 10
"""Handshake, requests, FINs and null frames."""


def capture_bytes(pages: Sequence[Page], messages: Messages, topology: Topology) -> int:
    """Return the bytes that a capture will have, within a factor of two unless much is sent again.

    Parameters
    ----------
    pages, messages
        What is loaded and sent.
    topology
        Says how often beacons come, and how large segments are.
    """
    segment = topology.tcp.segment_bytes
    time_s = sum(page.think_s + _LOADING_S for page in pages)
    beacons = time_s / topology.beacon.interval_s * LAYOUTS["beacon"].itemsize
    payload = sum(page.total_bytes for page in pages)
    objects = sum(page.objects for page in pages)
    sent = sum(each.bytes + each.reply_bytes for each in messages)
    frames = 1.5 * (payload + sent) / segment + _FRAMES_OF_CONNECTION * objects + 4 * len(messages)
    return int(beacons + payload + sent + frames * (LAYOUTS["tcp"].itemsize + LAYOUTS["ack"].itemsize))

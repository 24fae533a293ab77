"""Estimate of the frames of a run, so that one that would take hours is refused before it begins."""

from __future__ import annotations

from collections.abc import Sequence

from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_FRAMES
from psm_sim.network.topology import Topology
from psm_sim.workload.messages import Messages
from psm_sim.workload.page_view import Page


def check_work(topology: Topology, pages: Sequence[Page], messages: Messages) -> None:
    """Raise an error if a run would have more than :data:`~psm_sim.common.input_limits.MAX_FRAMES`.

    Parameters
    ----------
    topology
        The resolved topology.
    pages, messages
        Workload of one station.

    Raises
    ------
    InputError
        If the estimate exceeds the limit. The message names the source of most frames.
    """
    frames = estimate_frames(topology, pages, messages)
    total, source = sum(frames.values()), max(frames, key=lambda name: frames[name])
    if total > MAX_FRAMES:
        raise InputError(
            f"A run must have at most {MAX_FRAMES:,} frames, got about {total:,.0f}, most of them from"
            f" {source}; use fewer pages or change it."
        )


def estimate_frames(topology: Topology, pages: Sequence[Page], messages: Messages) -> dict[str, float]:
    """Return the estimated number of frames and beacons that are simulated one by one, by their source.

    The length of the run is estimated as the sum of think times and server delays.

    Parameters
    ----------
    topology
        The resolved topology.
    pages, messages
        Workload of one station.
    """
    length_s = sum(page.waiting_s for page in pages)
    segment, beacon = topology.tcp.segment_bytes, topology.beacon
    is_each_beacon = beacon.fire_all or beacon.loss or topology.mac.model == "dcf"
    keep_alive_s = topology.station.keep_alive_s
    return {
        f"the pages with tcp.segment_bytes={segment}": float(
            sum(
                size // segment + 1
                for page in pages
                if page.objects
                for size in (page.main_bytes, *page.image_bytes, *page.request_bytes)
            )
        ),
        f"the messages with tcp.segment_bytes={segment}": messages.frames(segment),
        "the beacon interval": length_s / beacon.interval_s if is_each_beacon else 0.0,
        f"station.keep_alive_s={keep_alive_s}": length_s / keep_alive_s if keep_alive_s else 0.0,
        f"access_point.group_per_s={topology.access_point.group_per_s:g}": length_s
        * topology.access_point.group_per_s,
    }

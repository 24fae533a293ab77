"""TCP rules: what the connections of a host have in common, worked out once."""

from __future__ import annotations

from psm_sim.beacons import Beacons
from psm_sim.network.topology_sections import TcpParameters


class TcpConstants:
    """Rules of TCP, from its parameters: sizes and windows in bytes, times in seconds.

    ``segment`` is the largest payload, ``header`` goes with each, ``window`` is the receiver's, and
    ``first_window`` the one to begin with. So many segments as ``at_once`` says are acknowledged at once;
    fewer after ``delay_s``, or at the next of ``ticks`` if there are any.
    """

    __slots__ = (
        "at_once", "delay_s", "first_timeout_s", "first_window", "give_up_s", "growth", "header",
        "largest_timeout_s", "least_timeout_s", "segment", "syn_give_up_s", "ticks", "window",
    )  # fmt: skip

    def __init__(self, tcp: TcpParameters) -> None:
        self.segment, self.header = tcp.segment_bytes, tcp.header_bytes
        self.window, self.first_window = tcp.window_bytes, tcp.initial_window * tcp.segment_bytes
        self.growth = tcp.growth
        self.first_timeout_s = tcp.initial_rto_ms / 1000
        self.least_timeout_s, self.largest_timeout_s = tcp.min_rto_ms / 1000, tcp.max_rto_ms / 1000
        self.give_up_s, self.syn_give_up_s = tcp.give_up_s, tcp.syn_give_up_s
        self.delay_s = tcp.delayed_ack_ms / 1000
        self.at_once = 2 if tcp.delayed_ack_ms > 0 else 1
        self.ticks = Beacons(self.delay_s) if tcp.delayed_ack == "heartbeat" else None

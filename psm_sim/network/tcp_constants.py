"""TCP constants that all connections of a host share."""

from __future__ import annotations

from psm_sim.beacons import Beacons
from psm_sim.network.topology_sections import TcpParameters


class TcpConstants:
    """TCP constants, computed once from the parameters. Sizes and windows are in bytes, times in seconds.

    Attributes
    ----------
    segment, header : int
        Maximum payload of a segment, and size of its TCP/IP header.
    window, first_window : int
        Receive window, and initial congestion window.
    growth : str
        Rule of the growth in slow start.
    first_timeout_s, min_timeout_s, max_timeout_s : float
        Initial, minimum and maximum retransmission timeout.
    give_up_s, syn_give_up_s : float
        Time without a new ACK after which a connection, or its SYN, is given up.
    at_once : int
        Number of unacknowledged segments that triggers an immediate ACK.
    delay_s : float
        Delay of other ACKs.
    ticks : Beacons or None
        Clock ticks at which delayed ACKs leave, with ``delayed_ack = "heartbeat"``.
    """

    __slots__ = (
        "at_once", "delay_s", "first_timeout_s", "first_window", "give_up_s", "growth", "header",
        "max_timeout_s", "min_timeout_s", "segment", "syn_give_up_s", "ticks", "window",
    )  # fmt: skip

    def __init__(self, tcp: TcpParameters) -> None:
        self.segment, self.header = tcp.segment_bytes, tcp.header_bytes
        self.window, self.first_window = tcp.window_bytes, tcp.initial_window * tcp.segment_bytes
        self.growth = tcp.growth
        self.first_timeout_s = tcp.initial_rto_ms / 1000
        self.min_timeout_s, self.max_timeout_s = tcp.min_rto_ms / 1000, tcp.max_rto_ms / 1000
        self.give_up_s, self.syn_give_up_s = tcp.give_up_s, tcp.syn_give_up_s
        self.delay_s = tcp.delayed_ack_ms / 1000
        self.at_once = 2 if tcp.delayed_ack_ms > 0 else 1
        self.ticks = Beacons(self.delay_s) if tcp.delayed_ack == "heartbeat" else None

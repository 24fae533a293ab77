"""Rules in which implementations of TCP differ, each with its source."""

from __future__ import annotations

from math import inf
from typing import NamedTuple


class TcpStack(NamedTuple):
    """Rules of one TCP implementation. Times are in seconds.

    Attributes
    ----------
    first_timeout_s, min_timeout_s : float
        Initial and minimum retransmission timeout.
    timeout_margin_s : float
        Minimum of the timeout minus the smoothed round trip; must not exceed ``min_timeout_s``.
    margin_falls_slowly : bool
        Whether the timeout minus the smoothed round trip decreases only gradually, as in Linux.
    backs_off_syn : bool
        Whether each timeout of a SYN doubles the next one.
    ack_ends_back_off : bool
        Whether every ACK of new data ends the back-off. If false, only an ACK that measures a round trip ends
        it.
    delayed_ack_s : float
        Delay of an ACK, unless ``tcp.delayed_ack_ms`` sets one.
    delays_to_tick : bool
        Whether delayed ACKs are sent at ticks, the multiples of the delay. If false, each delay starts when a
        segment arrives.
    syns_until_one_segment : float
        Number of repeated SYNs after which the first window is one segment and not the initial window.
    grows_after_timeout : bool
        Whether the first ACK of new data after a timeout increases the window.
    answers_repeated_syn_ack : bool
        Whether an open connection acknowledges a repeated SYN-ACK.
    acknowledges_first : bool
        Whether a segment is acknowledged before the application replies to it, see
        :class:`~psm_sim.network.tcp_endpoint.AckFirst`.
    server : str
        Name of the server's stack if the station has this stack.
    """

    first_timeout_s: float
    min_timeout_s: float
    timeout_margin_s: float
    margin_falls_slowly: bool
    backs_off_syn: bool
    ack_ends_back_off: bool
    delayed_ack_s: float
    delays_to_tick: bool
    syns_until_one_segment: float
    grows_after_timeout: bool
    answers_repeated_syn_ack: bool
    acknowledges_first: bool
    server: str


TCP_STACKS = {
    # RFC 6298, 2.1, 2.3 with a clock granularity of 0, 2.4 and 5; RFC 5681, 3.1; RFC 9293, 3.10.7.4. The
    # delay of ACKs is taken from ns-2.
    "rfc": TcpStack(1.0, 1.0, 0.0, False, True, False, 0.1, False, 1, True, True, False, "rfc"),
    # TCP_TIMEOUT_INIT, TCP_RTO_MIN and TCP_DELACK_MIN in include/net/tcp.h; tcp_rtt_estimator() adds at least
    # TCP_RTO_MIN to the round trip; tcp_init_transfer() takes one segment if more than one SYN was repeated.
    "linux": TcpStack(1.0, 0.2, 0.2, True, True, False, 0.04, False, 2, True, True, False, "linux"),
    # LWIP_TCP_RTO_TIME in opt.h; TCP_TMR_INTERVAL in priv/tcp_priv.h: delayed ACKs leave with the fast timer
    # of 250 ms, and the slow timer of 500 ms ends timeouts. In tcp_receive(), sv counts slow timers and
    # starts at LWIP_TCP_RTO_TIME; sv += |m| - (sv >> 2) cannot take it below 3. The timeout is
    # (sa >> 3) + sv timers, where sa >> 3 is the round trip less up to one timer. tcp_receive() also ends the
    # back-off. tcp_slowtmr() does not double the timeout in SYN_SENT. tcp_process() takes the initial window
    # after any number of SYNs.
    "lwip": TcpStack(3.0, 1.5, 1.0, False, False, True, 0.25, True, inf, True, True, False, "linux"),
    # The same with CONFIG_LWIP_TCP_RTO_TIME, whose default is 1500 ms.
    "esp-idf": TcpStack(1.5, 1.5, 1.0, False, False, True, 0.25, True, inf, True, True, False, "linux"),
    # ConnTimeout and DelAckTimeout of TcpSocket, MinRto and ClockGranularity of TcpSocketBase;
    # ProcessSynSent(), ProcessSynRcvd() and NewAck(), which ends the back-off; traces.
    "ns3": TcpStack(3.0, 1.0, 0.001, False, True, True, 0.2, False, inf, False, False, True, "ns3"),
}
"""Stacks by the values of ``tcp.stack``."""

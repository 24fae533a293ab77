"""Parameters of links, beacons, TCP, browser and access point.

Each class checks its values on construction. Its docstring gives the reasons for the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass

from psm_sim.common.parameters import check_all, parameter


@dataclass(frozen=True)
class LinkParameters:
    """Parameters of one hop, equal in both directions.

    At 0.01 Mbit/s a segment of 1,500 B takes 1.2 s, longer than TCP's minimum timeout of 1 s. On slower links
    TCP sends more retransmissions than data. 100 Gbit/s is the fastest Ethernet in common use. A latency of
    10 s is the longest that TCP is used with: a geostationary satellite takes 0.27 s, the moon 1.3 s.
    """

    rate_mbps: float = parameter(10.0, "bit rate", unit="Mbit/s", at_least=0.01, at_most=100_000)
    latency_ms: float = parameter(20.0, "propagation delay", unit="ms", at_least=0, at_most=10_000)

    def __post_init__(self) -> None:
        check_all(self, "links")


@dataclass(frozen=True)
class BeaconParameters:
    """Beacons of the access point. Beacon k is sent at k times the interval.

    802.11 measures intervals in time units (TU) of 1.024 ms, at least 1. Access points offer intervals up to
    about 1 s. The DTIM count has 8 bits. Beacons are lost at the station, independently or in runs (Gilbert
    model).
    """

    interval_ms: float = parameter(100.0, "time between beacons", unit="ms", at_least=1, at_most=10_000)
    fire_all: bool = parameter(False, "simulate an event for every beacon, even if no station receives it")
    interval_tu: int | None = parameter(
        None, "time between beacons in time units of 1.024 ms; replaces interval_ms", unit="TU", at_least=1,
        at_most=9_765, optional=True, kind=int,
    )  # fmt: skip
    dtim_period: int = parameter(
        1, "DTIM period; group addressed frames follow a DTIM beacon", unit="beacons", at_least=1,
        at_most=255,
    )  # fmt: skip
    loss: float = parameter(
        0.0, "loss probability of a beacon for which a dozing station wakes", at_least=0,
        at_most=0.99,
    )  # fmt: skip
    loss_run: float | None = parameter(
        None, "mean number of consecutive lost beacons; none: independent losses", unit="beacons", at_least=1,
        at_most=1e6, optional=True,
    )  # fmt: skip
    loss_seed: int = parameter(
        1, "seed of beacon losses and group addressed frames", at_least=0, at_most=2**32 - 1
    )

    def __post_init__(self) -> None:
        check_all(self, "beacon")

    @property
    def interval_s(self) -> float:
        """Time between beacons in seconds."""
        return self.interval_ms / 1000 if self.interval_tu is None else self.interval_tu * 1024 / 1e6


@dataclass(frozen=True)
class TcpParameters:
    """TCP parameters of both hosts. Windows are in segments.

    RFC 7323 limits windows to 1 GiB: 735,439 segments of 1460 B. The length of an IP packet has 16 bits. With
    all options the headers of IPv4 and TCP have at most 60 B each, plus framing. An ACK is delayed by less
    than 0.5 s (RFC 1122, 4.2.3.2). The maximum of the timeout is at least 60 s (RFC 6298, 2.5).

    A connection is given up after at least 100 s, a SYN after at least 3 minutes (RFC 1122, 4.2.3.5). Linux
    takes at least 924.6 s (15 retries from 0.2 s), so a station that dozes for minutes keeps its connections.
    1e6 s are 12 days, more than any system waits.
    """

    initial_window: int = parameter(
        2, "congestion window after the handshake", unit="segments", at_least=1, at_most=735_439
    )
    segment_bytes: int = parameter(1460, "maximum payload of a segment", unit="B", at_least=1, at_most=65_535)
    max_window: int = parameter(20, "receive window", unit="segments", at_least=1, at_most=735_439)
    spare_window_bytes: int | None = parameter(
        None, "bytes of the receive window in addition to max_window full segments; none: 0", unit="B",
        at_least=0, at_most=65_534, optional=True, kind=int,
    )  # fmt: skip
    header_bytes: int = parameter(40, "TCP/IP header of every segment", unit="B", at_least=1, at_most=256)
    delayed_ack_ms: float = parameter(
        100.0, "maximum delay of an ACK; 0: one ACK per segment", unit="ms", at_least=0, at_most=500
    )
    delayed_ack: str = parameter(
        "timer",
        "when a delayed ACK is sent: delayed_ack_ms after the arrival of its segment (timer), or at the next"
        " multiple of delayed_ack_ms, as in ns-2 (heartbeat)",
        choices=("timer", "heartbeat"),
    )
    ack_first: bool = parameter(
        False,
        "acknowledge before the application reads the data, as in ns-3: the server acknowledges the first"
        " request of a connection at once, and a FIN in answer to a FIN has a bare ACK before and after it;"
        " false: the reply or the FIN carries the ACK",
    )
    growth: str = parameter(
        "ns2",
        "growth of the window per ACK in slow start: one segment (ns2), the acknowledged bytes but at most"
        " one segment (rfc5681), or one segment for each completed segment (ns3)",
        choices=("ns2", "rfc5681", "ns3"),
    )
    initial_rto_ms: float = parameter(
        1000.0, "initial retransmission timeout (RFC 6298)", unit="ms", at_least=1, at_most=60_000
    )
    min_rto_ms: float = parameter(
        1000.0, "minimum retransmission timeout (RFC 6298)", unit="ms", at_least=1, at_most=60_000
    )
    max_rto_ms: float = parameter(
        60_000.0, "maximum retransmission timeout (RFC 6298)", unit="ms", at_least=60_000, at_most=600_000
    )

    give_up_s: float = parameter(
        924.6, "time without a new ACK after which a connection is given up", unit="s", at_least=100,
        at_most=1e6,
    )  # fmt: skip
    syn_give_up_s: float = parameter(
        180.0, "time after which an unanswered SYN is given up", unit="s", at_least=180, at_most=1e6
    )

    def __post_init__(self) -> None:
        check_all(self, "tcp")

    @property
    def window_bytes(self) -> int:
        """Receive window in bytes."""
        return self.max_window * self.segment_bytes + (self.spare_window_bytes or 0)


@dataclass(frozen=True)
class BrowserParameters:
    """Parameters of the browser.

    Browsers open 6 connections to a host and 256 in total. The default of ``stall_s`` is an hour, 40 times as
    long as people wait, and longer than TCP retransmits; 1e6 s are 12 days.
    """

    connections: int = parameter(4, "parallel connections", at_least=1, at_most=256)
    persistent: bool = parameter(False, "reuse connections for further objects of the page")
    asks_first: bool = parameter(
        False, "request objects on idle connections before opening new ones; false: SYNs first, as in ns-3"
    )
    stall_s: float = parameter(
        3600.0, "time without a new byte after which a page fails", unit="s", at_least=1, at_most=1e6
    )
    max_page_s: float | None = parameter(
        None, "maximum simulated time of a page, after which it fails; none: no limit", unit="s",
        at_least=0.001, at_most=1e9, optional=True,
    )  # fmt: skip
    failed_pages: str = parameter(
        "auto",
        "handling of a page that cannot be loaded: end the run with an error (stop), or report the failure"
        " and continue (report); auto: report if faults or max_page_s are enabled, else stop",
        choices=("auto", "stop", "report"),
    )

    def __post_init__(self) -> None:
        check_all(self, "browser")


@dataclass(frozen=True)
class AccessPointParameters:
    """Parameters of the access point. A buffer of a million full frames (1.5 GB) amounts to no limit."""

    buffer_frames: int = parameter(
        256,
        "maximum number of frames queued for the station; further frames are dropped",
        at_least=1,
        at_most=1_000_000,
    )
    release_on_uplink: bool = parameter(
        True, "deliver buffered frames also when the station wakes up to transmit"
    )
    late_frames: str = parameter(
        "join",
        "handling of a frame that arrives during the transmission of the last buffered frame: send it next"
        " (join), or buffer it until the next beacon, because More Data was 0 (wait)",
        choices=("join", "wait"),
    )
    ageing_s: float | None = parameter(
        None, "age at which a buffered frame is dropped; Linux: 10 s, or 2 listen intervals if longer",
        unit="s", above=0, at_most=1e6, optional=True,
    )  # fmt: skip
    idle_limit_s: float | None = parameter(
        None, "idle time after which the association of the station expires; ESP-IDF access point: 10",
        unit="s", above=0, at_most=1e9, optional=True,
    )  # fmt: skip
    group_per_s: float = parameter(
        0.0, "rate of group addressed frames (ARP, mDNS), a Poisson process; they follow the DTIM beacon",
        unit="1/s", at_least=0, at_most=10_000,
    )  # fmt: skip
    group_bytes: int = parameter(
        100, "size of a group addressed frame, including headers", unit="B", at_least=41, at_most=65_535
    )
    group_rate_mbps: float = parameter(
        1.0, "bit rate of group addressed frames, a basic rate", unit="Mbit/s", at_least=0.01, at_most=100_000
    )

    def __post_init__(self) -> None:
        check_all(self, "access_point")

"""Topology parts: links, beacon, power, TCP, browser and access point in numbers.

Every part checks itself when it is made. The reasons for its bounds stand in its docstring.
"""

from __future__ import annotations

from dataclasses import dataclass

from psm_sim.parameters import check_all, parameter


@dataclass(frozen=True)
class LinkParameters:
    """One hop, the same each way.

    At 0.01 Mbit/s a segment of 1,500 B takes 1.2 s, longer than TCP's least timeout of 1 s: on slower links
    TCP sends more copies than data. 100 Gbit/s is the fastest Ethernet in common use. A latency of 10 s is
    the longest that TCP is used with: a geostationary satellite takes 0.27 s, the moon 1.3 s.
    """

    rate_mbps: float = parameter(10.0, "bit rate", unit="Mbit/s", at_least=0.01, at_most=100_000)
    latency_ms: float = parameter(20.0, "propagation delay", unit="ms", at_least=0, at_most=10_000)

    def __post_init__(self) -> None:
        check_all(self, "links")


@dataclass(frozen=True)
class BeaconParameters:
    """The access point's beacons; beacon k is sent at k times the interval.

    802.11 counts in time units (TU) of 1.024 ms, from 1 on; what access points offer ends at about 1 s. The
    DTIM count has 8 bits. Beacons are lost at the station, each on its own or in runs (Gilbert's model).
    """

    interval_ms: float = parameter(100.0, "time between beacons", unit="ms", at_least=1, at_most=10_000)
    fire_all: bool = parameter(False, "fire an event for every beacon, also those nobody hears")
    interval_tu: int | None = parameter(
        None, "the same in time units of 1.024 ms, instead of interval_ms", unit="TU", at_least=1,
        at_most=9_765, optional=True, kind=int,
    )  # fmt: skip
    dtim_period: int = parameter(
        1, "every so many beacons one is a DTIM beacon: group frames follow it", unit="beacons", at_least=1,
        at_most=255,
    )  # fmt: skip
    loss: float = parameter(
        0.0, "share of the beacons that a dozing station wakes for and does not hear", at_least=0,
        at_most=0.99,
    )  # fmt: skip
    loss_run: float | None = parameter(
        None, "mean number of beacons lost in a row; none: each on its own", unit="beacons", at_least=1,
        at_most=1e6, optional=True,
    )  # fmt: skip
    loss_seed: int = parameter(1, "seed of the losses and of group frames", at_least=0, at_most=2**32 - 1)

    def __post_init__(self) -> None:
        check_all(self, "beacon")

    @property
    def interval_s(self) -> float:
        """Time between beacons in seconds."""
        return self.interval_ms / 1000 if self.interval_tu is None else self.interval_tu * 1024 / 1e6


@dataclass(frozen=True)
class TcpParameters:
    """TCP of both ends; windows in segments.

    RFC 7323 ends at windows of 1 GiB: 735,439 segments of 1460 B. The length of an IP packet has 16 bits; a
    header is at most 60 B each for IPv4 and TCP with all options, and some framing. An ACK is delayed by
    less than 0.5 s (RFC 1122, 4.2.3.2); a limit of the timeout is at least 60 s (RFC 6298, 2.5).

    A connection is given up after at least 100 s, a SYN after at least 3 minutes (RFC 1122, 4.2.3.5). Linux
    takes at least 924.6 s (15 retries from 0.2 s), which leaves a station that dozes for minutes its
    connections. 1e6 s are 12 days, more than any system waits.
    """

    initial_window: int = parameter(
        2, "congestion window after the handshake", unit="segments", at_least=1, at_most=735_439
    )
    segment_bytes: int = parameter(1460, "largest payload of a segment", unit="B", at_least=1, at_most=65_535)
    max_window: int = parameter(20, "receiver's window", unit="segments", at_least=1, at_most=735_439)
    spare_window_bytes: int | None = parameter(
        None, "what the receiver's window has beyond max_window whole segments; none: nothing", unit="B",
        at_least=0, at_most=65_534, optional=True, kind=int,
    )  # fmt: skip
    header_bytes: int = parameter(40, "TCP/IP header of every segment", unit="B", at_least=1, at_most=256)
    delayed_ack_ms: float = parameter(
        100.0, "longest wait of an ACK; 0: an ACK per segment", unit="ms", at_least=0, at_most=500
    )
    delayed_ack: str = parameter(
        "timer",
        "when a delayed ACK leaves: delayed_ack_ms after its segment came; or at the next tick of ns-2's"
        " clock, at whole multiples of delayed_ack_ms",
        choices=("timer", "heartbeat"),
    )
    ack_first: bool = parameter(
        False,
        "as in ns-3, an ACK that is due leaves before the program reads what came, a server acknowledges the"
        " first request of a connection at once, and a FIN in answer to one has a bare ACK before and after"
        " it; false: the reply or the FIN carries the ACK",
    )
    growth: str = parameter(
        "ns2",
        "what an ACK adds to the window in slow start: ns-2's whole segment; RFC 5681's bytes acknowledged,"
        " at most a segment; or ns-3's segment for each one that is completed",
        choices=("ns2", "rfc5681", "ns3"),
    )
    initial_rto_ms: float = parameter(
        1000.0, "timeout before the first sample (RFC 6298)", unit="ms", at_least=1, at_most=60_000
    )
    min_rto_ms: float = parameter(
        1000.0, "least retransmission timeout (RFC 6298)", unit="ms", at_least=1, at_most=60_000
    )
    max_rto_ms: float = parameter(
        60_000.0, "largest retransmission timeout (RFC 6298)", unit="ms", at_least=60_000, at_most=600_000
    )

    give_up_s: float = parameter(
        924.6, "time without a new ACK after which a connection is given up", unit="s", at_least=100,
        at_most=1e6,
    )  # fmt: skip
    syn_give_up_s: float = parameter(180.0, "the same time for a SYN", unit="s", at_least=180, at_most=1e6)

    def __post_init__(self) -> None:
        check_all(self, "tcp")

    @property
    def window_bytes(self) -> int:
        """Receiver's window in bytes."""
        return self.max_window * self.segment_bytes + (self.spare_window_bytes or 0)


@dataclass(frozen=True)
class BrowserParameters:
    """How the browser fetches a page's objects.

    Browsers open 6 connections to a host and 256 in all. A page without a new byte for an hour has waited
    40 times as long as people do, and longer than TCP tries; 1e6 s are 12 days.
    """

    connections: int = parameter(4, "parallel connections", at_least=1, at_most=256)
    persistent: bool = parameter(False, "keep a connection for further objects of the page")
    asks_first: bool = parameter(
        False, "ask on kept connections before opening further ones; false: the SYNs leave first, as in ns-3"
    )
    stall_s: float = parameter(
        3600.0, "time without a new byte after which a page has failed", unit="s", at_least=1, at_most=1e6
    )
    max_page_s: float | None = parameter(
        None, "longest simulated time of a page, which then has failed; none: no limit", unit="s",
        at_least=0.001, at_most=1e9, optional=True,
    )  # fmt: skip
    failed_pages: str = parameter(
        "auto",
        "what becomes of a page that cannot be loaded: it stops the run with a sentence; or is reported, and"
        " the next one is asked for; auto: reported where faults or max_page_s are switched on",
        choices=("auto", "stop", "report"),
    )

    def __post_init__(self) -> None:
        check_all(self, "browser")


@dataclass(frozen=True)
class AccessPointParameters:
    """What the access point keeps for the station; a million full frames, 1.5 GB, are as good as no limit."""

    buffer_frames: int = parameter(
        256, "frames queued for the station; more are dropped", at_least=1, at_most=1_000_000
    )
    release_on_uplink: bool = parameter(True, "hand over held frames also when the station wakes to send")
    late_frames: str = parameter(
        "join",
        "what a frame does that comes once the last held one is on the air: join them; or wait for the next"
        " beacon, since that one said More Data = 0",
        choices=("join", "wait"),
    )
    ageing_s: float | None = parameter(
        None, "time after which a held frame is dropped; Linux: 10 s, or 2 listen intervals if longer",
        unit="s", above=0, at_most=1e6, optional=True,
    )  # fmt: skip
    idle_limit_s: float | None = parameter(
        None, "time without a frame from the station after which it is forgotten; ESP-IDF's access point: 10",
        unit="s", above=0, at_most=1e9, optional=True,
    )  # fmt: skip
    group_per_s: float = parameter(
        0.0, "group-addressed frames (ARP, mDNS), memoryless; they follow the DTIM beacon", unit="1/s",
        at_least=0, at_most=10_000,
    )  # fmt: skip
    group_bytes: int = parameter(
        100, "size of a group frame, headers included", unit="B", at_least=41, at_most=65_535
    )
    group_rate_mbps: float = parameter(
        1.0, "bit rate of group frames, a basic rate", unit="Mbit/s", at_least=0.01, at_most=100_000
    )

    def __post_init__(self) -> None:
        check_all(self, "access_point")

"""Parameters of a scenario, one class for each section of a topology file.

Each class checks its values. The docstrings give the reasons for the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass

from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_TIME_S
from psm_sim.common.parameters import check_all, parameter
from psm_sim.network.tcp_stacks import TCP_STACKS


def _check_run(section: str, loss: float, loss_run: float | None) -> None:
    """Raise an error for a mean run of losses that is too short for their share (Gilbert model)."""
    if loss_run is not None and loss_run * (1 - loss) < loss * (1 - 1e-9):
        expected = f"at least {loss / (1 - loss):g}" if loss < 1 else "none"
        raise InputError(
            f"{section}: loss_run must be {expected} at a loss probability of {loss:g}, got {loss_run:g}."
        )


@dataclass(frozen=True)
class LinkParameters:
    """Parameters of one hop, equal in both directions.

    At 0.01 Mbit/s a segment of 1,500 B takes 1.2 s, longer than TCP's minimum timeout of 1 s. On slower links
    TCP sends more retransmissions than data. 100 Gbit/s is the fastest Ethernet in common use. TCP is not
    used with latencies above 10 s; the latency to a geostationary satellite is 0.27 s, to the moon 1.3 s.
    """

    rate_mbps: float = parameter(10.0, "bit rate", unit="Mbit/s", at_least=0.01, at_most=100_000)
    latency_ms: float = parameter(20.0, "propagation delay", unit="ms", at_least=0, at_most=10_000)

    def __post_init__(self) -> None:
        check_all(self, "links")


@dataclass(frozen=True)
class BeaconParameters:
    """Beacons of the access point. Beacon k is sent at k times the interval.

    802.11 measures intervals in time units (TU) of 1.024 ms, and most access points use 100 TU (102.4 ms).
    Access points offer intervals up to about 1 s. The DTIM count has 8 bits. Beacons are lost at the station,
    independently or in runs (Gilbert model).
    """

    interval_ms: float = parameter(100.0, "time between beacons", unit="ms", at_least=1, at_most=10_000)
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
        at_most=1e6, requires="loss",
    )  # fmt: skip

    busy_air: float = parameter(
        0.0, "share of the time for which others occupy the channel, so that beacons are late", at_least=0,
        at_most=1,
    )  # fmt: skip
    ppdu_ms: float = parameter(
        4.0, "length of each transmission of others", unit="ms", at_least=0.01, at_most=100, expert=True,
        requires="busy_air",
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_all(self, "beacon")
        _check_run("beacon", self.loss, self.loss_run)

    @property
    def mean_delay_s(self) -> float:
        """Mean time by which other transmissions delay a beacon, in seconds."""
        return self.busy_air * self.ppdu_ms / 2000

    @property
    def interval_s(self) -> float:
        """Time between beacons in seconds."""
        return self.interval_ms / 1000


@dataclass(frozen=True)
class TcpParameters:
    """TCP parameters of both hosts. Windows are in segments.

    RFC 7323 limits windows to 1 GiB: 735,439 segments of 1460 B. The length field of an IP packet has 16
    bits. With all options, the headers of IPv4 and TCP have at most 60 B each, plus framing. An ACK is
    delayed by less than 0.5 s (RFC 1122, 4.2.3.2). The maximum of the timeout is 60 s (RFC 6298, 2.5).
    """

    initial_window: int = parameter(
        2, "congestion window after the handshake", unit="segments", at_least=1, at_most=735_439
    )
    segment_bytes: int = parameter(1460, "maximum payload of a segment", unit="B", at_least=1, at_most=65_535)
    max_window: int = parameter(20, "receive window", unit="segments", at_least=1, at_most=735_439)
    header_bytes: int = parameter(
        40, "TCP/IP header of every segment", unit="B", at_least=1, at_most=256, expert=True
    )
    stack: str = parameter(
        "rfc",
        "TCP implementation of the station: timeouts, delayed ACKs, window after a repeated SYN and after a"
        " timeout, answer to a repeated SYN-ACK; the server has the same stack, or linux if the station has"
        " lwip or esp-idf",
        choices=tuple(TCP_STACKS),
    )
    delayed_ack_ms: float | None = parameter(
        None, "maximum delay of an ACK; 0: one ACK per segment; none: that of the stack", unit="ms",
        at_least=0, at_most=500,
    )  # fmt: skip
    delayed_ack: str = parameter(
        "timer",
        "when a delayed ACK is sent: its delay after the arrival of its segment (timer; lwip and esp-idf: as"
        " heartbeat), or at the next multiple of its delay, as in ns-2 (heartbeat)",
        choices=("timer", "heartbeat"),
        expert=True,
    )
    growth: str = parameter(
        "ns2",
        "growth of the window per ACK in slow start: one segment (ns2), the acknowledged bytes but at most"
        " one segment (rfc5681), or one segment for each completed segment (ns3)",
        choices=("ns2", "rfc5681", "ns3"),
        expert=True,
    )

    def __post_init__(self) -> None:
        check_all(self, "tcp")

    @property
    def window_bytes(self) -> int:
        """Receive window in bytes."""
        return self.max_window * self.segment_bytes


@dataclass(frozen=True)
class BrowserParameters:
    """Parameters of the browser. Browsers open 6 connections to a host and 256 in total."""

    connections: int = parameter(
        4, "parallel connections; per host for pages with dependencies", at_least=1, at_most=256
    )
    persistent: bool = parameter(
        False, "reuse connections for further objects of the page, as pages with dependencies always do"
    )
    asks_first: bool = parameter(
        False,
        "request objects on idle connections before opening new ones; false: SYNs first, as in ns-3",
        expert=True,
        requires="persistent",
    )
    closes_first: str = parameter(
        "server",
        "end that closes a connection of one object: the server after the reply (HTTP/1.0), or the client;"
        " persistent connections are closed by the client",
        choices=("server", "client"),
        expert=True,
    )
    max_page_s: float | None = parameter(
        None, "maximum simulated time of a page, after which it fails; none: no limit", unit="s",
        at_least=0.001, at_most=1e9,
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_all(self, "browser")


@dataclass(frozen=True)
class AccessPointParameters:
    """Parameters of the access point. A buffer of a million full frames (1.5 GB) is practically unlimited."""

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
        expert=True,
    )
    ageing_s: float | None = parameter(
        None, "age at which a buffered frame is dropped; Linux: 10 s, or 2 listen intervals if longer",
        unit="s", above=0, at_most=1e6,
    )  # fmt: skip
    idle_limit_s: float | None = parameter(
        None, "idle time after which the association of the station expires; hostapd and access point of"
        " ESP-IDF: 300", unit="s", above=0, at_most=1e9,
    )  # fmt: skip
    poll_idle: bool = parameter(
        True,
        "send the station a null data frame at the idle limit, and keep the association if it acknowledges"
        " the frame within 3 s, as hostapd does; false: the association expires at once",
        requires="idle_limit_s",
    )
    group_per_s: float = parameter(
        0.0, "rate of group addressed frames (ARP, mDNS), a Poisson process; they follow the DTIM beacon",
        unit="1/s", at_least=0, at_most=10_000,
    )  # fmt: skip
    group_bytes: int = parameter(
        100,
        "size of a group addressed frame, including headers",
        unit="B",
        at_least=41,
        at_most=65_535,
        expert=True,
        requires="group_per_s",
    )

    def __post_init__(self) -> None:
        check_all(self, "access_point")
        if 0 < self.group_per_s < 1 / MAX_TIME_S:
            raise InputError(
                f"access_point: group_per_s must be 0 or at least {1 / MAX_TIME_S:g}, "
                f"got {self.group_per_s!r}."
            )


@dataclass(frozen=True)
class PowerParameters:
    """Power draw of the radio (thesis, section 2.5.4), and its supply.

    The bounds of 100 W and 100 J exceed the needs of any station's radio, and sums over 1e9 s remain
    printable.
    """

    awake_w: float = parameter(0.75, "power of an awake radio", unit="W", at_least=0, at_most=100)
    asleep_w: float = parameter(
        0.05, "power of a dozing radio, not above awake_w", unit="W", at_least=0, at_most=100
    )
    beacon_j: float = parameter(
        0.0015, "energy to wake for and receive one beacon", unit="J", at_least=0, at_most=100
    )
    transmit_w: float | None = parameter(
        None,
        "power of a transmitting radio; none: same as awake_w",
        unit="W",
        at_least=0,
        at_most=100,
    )
    wake_j: float = parameter(0.0, "energy to wake up for a transmission", unit="J", at_least=0, at_most=100)
    frame_j: float = parameter(
        0.0, "energy to process a data frame of any size that the station sends or receives", unit="J",
        at_least=0, at_most=100,
    )  # fmt: skip
    supply_v: float | None = parameter(
        None, "supply voltage; adds mean_current_ma to the results", unit="V", above=0, at_most=1000,
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_all(self, "power")
        if self.asleep_w > self.awake_w:
            raise InputError(
                f"power: asleep_w must not exceed awake_w = {self.awake_w:g}, got {self.asleep_w:g}."
            )


@dataclass(frozen=True)
class StationParameters:
    """Behaviour of the station's clock and driver. By default all effects are disabled.

    802.11 allows a clock error of 100 ppm (clause 11.1); RC oscillators are far worse. An association
    takes from 0.1 s to several seconds, including the security handshake. The default of 1 s is an
    assumption.
    """

    wake_ms: float = parameter(
        0.0, "time a dozing radio needs before it can transmit", unit="ms", at_least=0, at_most=10_000
    )
    missed_beacon: str = parameter(
        "doze",
        "behaviour of a station that misses its beacon: listen for 5 ms and doze again (doze), or stay"
        " awake until the next beacon, as in ns-3 (stay-awake)",
        choices=("doze", "stay-awake"),
        requires="beacon.loss or faults.restart_every_s or mac.frame_error_rate",
    )
    drift_ppm: float = parameter(
        0.0, "clock error: the station wakes earlier by this fraction of its doze", unit="ppm",
        at_least=0, at_most=100_000,
    )  # fmt: skip
    guard_ms: float = parameter(
        0.0, "time by which the station wakes before each beacon", unit="ms", at_least=0, at_most=1000
    )
    keep_alive_s: float | None = parameter(
        None, "maximum idle time of the station; a null data frame of 28 B then keeps the association",
        unit="s", above=0, at_most=1e9,
    )  # fmt: skip
    association_ms: float = parameter(
        1000.0, "time to associate again after the association has expired", unit="ms", at_least=0,
        at_most=1e6, expert=True, requires="access_point.idle_limit_s or faults.restart_every_s",
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_all(self, "station")


@dataclass(frozen=True)
class FrameLossParameters:
    """Frame loss on one hop, in each direction, independently or in runs (Gilbert model).

    On the wireless hop these are frames that the MAC has given up after its own retries. With a loss of 1
    every page fails.
    """

    loss: float = parameter(0.0, "frame loss probability", at_least=0, at_most=1)
    loss_run: float | None = parameter(
        None, "mean number of consecutive lost frames; none: independent losses", unit="frames", at_least=1,
        at_most=1e6, requires="loss",
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_all(self, "faults")
        _check_run("faults", self.loss, self.loss_run)


@dataclass(frozen=True)
class FaultParameters:
    """Faults other than frame loss, all disabled by default.

    A home access point takes half a minute to start; 1e6 s are 12 days.
    """

    restart_every_s: float | None = parameter(
        None, "mean of the exponential time until the access point restarts and loses buffered frames and the"
        " association", unit="s", at_least=1, at_most=1e9,
    )  # fmt: skip
    restart_s: float = parameter(
        30.0,
        "duration of a restart, in which the access point forwards no frames",
        unit="s",
        at_least=0,
        at_most=1e6,
        requires="restart_every_s",
    )

    def __post_init__(self) -> None:
        check_all(self, "faults")


RATES_MBPS: dict[str, tuple[float, ...]] = {
    "802.11b": (1.0, 2.0, 5.5, 11.0),
    "802.11g": (6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0),
    "802.11n": (6.5, 13.0, 19.5, 26.0, 39.0, 52.0, 58.5, 65.0),
}
"""Bit rates of data frames; 802.11n has one spatial stream, 20 MHz and the long guard interval."""


@dataclass(frozen=True)
class MacParameters:
    """Medium access of 802.11. With ``model = "link"`` the other parameters have no effect.

    Values that the standard fixes are in :mod:`psm_sim.network.parts.frame_timing`. A beacon has at least a
    header, a timestamp and a rate set. A frame has at most 2,346 B.
    """

    model: str = parameter(
        "link",
        "model of the wireless hop: link (full-duplex link with the parameters links.wireless, as in the"
        " papers) or dcf (802.11 channel shared by both directions; links.wireless has no effect)",
        choices=("link", "dcf"),
    )
    standard: str = parameter(
        "802.11b", "802.11 standard: rates, slot time and preamble", choices=tuple(RATES_MBPS)
    )
    data_mbps: float | None = parameter(
        None, "bit rate of data frames; none: highest rate of the standard", unit="Mbit/s", at_least=1,
        at_most=65,
    )  # fmt: skip
    beacon_mbps: float = parameter(
        1.0, "bit rate of beacons, one of 802.11b or of mac.standard; access points at 2.4 GHz use 1",
        unit="Mbit/s", at_least=1, at_most=54, expert=True,
    )  # fmt: skip
    beacon_bytes: int | None = parameter(
        None, "size of a beacon, including header and frame check sequence; none: 84 with 802.11b, 97 with"
        " 802.11g, 149 with 802.11n (SSID of 7 letters)", unit="B", at_least=50, at_most=2346, expert=True,
    )  # fmt: skip
    preamble: str = parameter(
        "long",
        "preamble of 802.11b above 1 Mbit/s",
        choices=("long", "short"),
        expert=True,
        requires="standard=802.11b",
    )
    qos: bool = parameter(
        True,
        "data frames wait SIFS and 3 slots (access category best effort); false: they wait a DIFS",
        expert=True,
    )
    fetch: str = parameter(
        "ps-poll",
        "how a station retrieves buffered frames: ps-poll (a PS-Poll for each frame, answered after a SIFS)"
        " or null (a null data frame with PM = 0, after which frames are sent as to an awake station)",
        choices=("ps-poll", "null"),
    )
    ampdu_bytes: int = parameter(
        65_535, "maximum size of an A-MPDU; 0: every frame is sent alone", unit="B", at_least=0,
        at_most=65_535, requires="standard=802.11n",
    )  # fmt: skip
    ppdu_ms: float = parameter(
        5.484, "maximum duration of an A-MPDU", unit="ms", at_least=0.1, at_most=5.484, expert=True,
        requires="standard=802.11n",
    )  # fmt: skip
    block_ack_window: int = parameter(
        64, "maximum number of frames from the first one that is not acknowledged", unit="frames", at_least=1,
        at_most=64, expert=True, requires="standard=802.11n",
    )  # fmt: skip
    block_ack_request: bool = parameter(
        True,
        "ask for a missing block ack by a block ack request, as in ns-3; false: repeat the A-MPDU",
        expert=True,
        requires="standard=802.11n",
    )
    rts_bytes: int | None = parameter(
        None, "frame size above which an RTS and a CTS precede a data frame; none: never, as in Linux",
        unit="B", at_least=0, at_most=65_535, expert=True,
    )  # fmt: skip
    frame_error_rate: float = parameter(
        0.0, "probability that a received frame of any kind has errors, in both directions", at_least=0,
        at_most=0.99,
    )  # fmt: skip
    loss_run: float | None = parameter(
        None, "mean number of consecutive frames with errors; none: independent errors", unit="frames",
        at_least=1, at_most=1e6, requires="frame_error_rate",
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_all(self, "mac")
        _check_run("mac", self.frame_error_rate, self.loss_run)
        for name in ("data_mbps", "beacon_mbps"):
            _check_rate(self, name)

    @property
    def has_errors(self) -> bool:
        """Whether frames can be received with errors."""
        return self.model == "dcf" and self.frame_error_rate > 0


def _check_rate(mac: MacParameters, name: str) -> None:
    """Raise an error for a rate that the standard does not define.

    Beacons of 802.11n are sent at the rates of 802.11g. With 802.11g and 802.11n, beacons may also have the
    rates of 802.11b.
    """
    rate_mbps = getattr(mac, name)
    standard, rates_mbps = mac.standard, RATES_MBPS[mac.standard]
    if name == "beacon_mbps":
        standard = "802.11g" if mac.standard == "802.11n" else mac.standard
        rates_mbps = tuple(sorted({*RATES_MBPS["802.11b"], *RATES_MBPS[standard]}))
    if rate_mbps is not None and rate_mbps not in rates_mbps:
        valid = ", ".join(f"{rate:g}" for rate in rates_mbps)
        raise InputError(f"mac: {name} must be a rate of {standard} ({valid}), got {rate_mbps:g}.")


@dataclass(frozen=True)
class StationSpec:
    """Group of identical stations at one access point. The run supplies omitted values.

    At most 250 stations are allowed, which is more than most access points serve, although a TIM could
    address 2007. The stations of the group have the seeds ``seed``, ``seed + 1`` and so on. Without ``seed``,
    the seed of a station depends on the seed of the run and on its name.
    """

    name: str
    count: int = parameter(1, "number of stations", at_least=1, at_most=250)
    policy: str | None = parameter(None, "policy, with parameters")
    trace: str | None = parameter(None, "trace, with parameters")
    pages: int | None = parameter(None, "number of pages", at_least=1, at_most=10_000_000)
    profile: str | None = parameter(None, "chip profile")
    seed: int | None = parameter(None, "seed of the pages", at_least=0, at_most=2**32 - 1)

    def __post_init__(self) -> None:
        check_all(self, f"station {self.name}")

    @property
    def names(self) -> list[str]:
        """The name of each station."""
        if self.count == 1:
            return [self.name]
        return [f"{self.name}-{number}" for number in range(1, self.count + 1)]

"""Rules of RFC 5681, 6298 and 6582: one script of segments for each rule of the model."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
from simpy import Environment

from psm_sim.network.segment import ConnectionId, Segment
from psm_sim.network.tcp_endpoint import AckFirst, Endpoint
from psm_sim.network.tcp_sender import TcpConstants
from psm_sim.network.tcp_stacks import TCP_STACKS
from psm_sim.network.timers import TimerQueue
from psm_sim.network.topology_sections import TcpParameters

SEGMENT_BYTES, ROUND_TRIP_S = 100, 0.1


class Peer:
    """The peer of a connection, played by a script, together with the link and the application."""

    def __init__(self, short_timeout: bool = False, **parameters: Any) -> None:
        self.env = Environment()
        self.sent_bytes = 0
        self.sent: list[Segment] = []
        tcp = TcpParameters(segment_bytes=SEGMENT_BYTES, **parameters)
        constants = TcpConstants(tcp)
        if short_timeout:
            constants.stack = constants.stack._replace(min_timeout_s=0.001)
        kind = AckFirst if constants.stack.acknowledges_first else Endpoint
        self.endpoint = kind(TimerQueue(self.env), constants, ConnectionId(), self, lambda _: None)
        self.endpoint.application = self
        self.transmit = self.sent.append

    def established(self) -> None:
        """Do nothing: the script writes."""

    def received(self, payload_bytes: int) -> None:
        """Do nothing: the script checks segments."""

    def peer_closed(self) -> None:
        """Do nothing: the script closes."""

    def play(self, line: str) -> None:
        """Carry out one line of a script: the name of a method below, and its numbers."""
        verb, *numbers = line.split()
        getattr(self, f"_{verb.replace('-', '_')}")(*map(float, numbers))

    def _give(self, seq: float, payload: int, ack: float, syn: bool = False, fin: bool = False) -> None:
        connection = self.endpoint.connection
        self.endpoint.receive(Segment(connection, int(seq), payload, int(ack), syn, fin, payload + 40))

    def _take(self) -> list[Segment]:
        """Return the segments sent since the last call."""
        taken, self.sent[:] = list(self.sent), []
        return taken

    # Steps of the peer, the application and the clock.

    def _open(self) -> None:
        """Complete the handshake, which takes one round trip."""
        self._connect()
        self._wait(ROUND_TRIP_S)
        self._syn_ack()
        assert [(segment.seq, segment.syn) for segment in self._take()] == [(0, True), (1, False)]

    def _connect(self) -> None:
        self.endpoint.open()

    def _syn(self) -> None:
        self._give(0, 0, 0, syn=True)

    def _syn_ack(self) -> None:
        self._give(0, 0, 1, syn=True)

    def _write(self, segments: float) -> None:
        self.endpoint.write(SEGMENT_BYTES * int(segments))

    def _write_last(self, payload_bytes: float) -> None:
        self.endpoint.write(int(payload_bytes), last=True)

    def _close(self) -> None:
        self.endpoint.close()

    def _wait(self, seconds: float) -> None:
        self.env.run(until=self.env.now + seconds)

    def _ack(self, number: float) -> None:
        self._give(1, 0, number)

    def _duplicates(self, count: float) -> None:
        for _ in range(int(count)):
            self._ack(self.endpoint.acknowledged)

    def _data(self, seq: float) -> None:
        self._give(seq, SEGMENT_BYTES, self.endpoint.acknowledged)

    def _fin(self, seq: float, ack: float) -> None:
        self._give(seq, 0, ack, fin=True)

    def _set_threshold(self, window_bytes: float) -> None:
        self.endpoint.slow_start_threshold = window_bytes

    # Checks. Segments are those sent since the last check.

    def _sends(self, *numbers: float) -> None:
        """Check first sequence numbers and sizes: all full but for the last, which may have the FIN."""
        taken, written = [segment for segment in self._take() if segment.payload], self.endpoint.written
        assert [segment.seq for segment in taken] == [*numbers]
        for segment in taken:
            is_last = segment.seq + segment.payload == written
            assert segment.payload == min(SEGMENT_BYTES, written - segment.seq)
            assert (segment.syn, segment.fin) == (False, is_last and self.endpoint.closing)

    def _sends_fin(self, seq: float) -> None:
        """Check a FIN without data."""
        assert [(segment.seq, segment.payload, segment.fin) for segment in self._take()] == [(seq, 0, True)]

    def _resends_syn(self) -> None:
        assert [(segment.seq, segment.syn) for segment in self._take()] == [(0, True), (0, True)]

    def _acknowledges(self, *numbers: float) -> None:
        """Check the ACKs without data."""
        assert [segment.ack for segment in self._take() if not segment.payload] == [*numbers]

    def _carries(self, *numbers: float) -> None:
        """Check the ACKs in data segments."""
        assert [segment.ack for segment in self._take() if segment.payload] == [*numbers]

    def _window(self, window_bytes: float) -> None:
        assert self.endpoint.window == pytest.approx(window_bytes)

    def _threshold(self, window_bytes: float) -> None:
        assert self.endpoint.slow_start_threshold == window_bytes

    def _is_closed(self) -> None:
        assert self.endpoint.is_closed()

    def _timeout(self, seconds: float) -> None:
        assert self.endpoint.timeout.seconds == pytest.approx(seconds)


class Rule(NamedTuple):
    """A rule, its source, a script that checks it, and TCP parameters."""

    source: str
    rule: str
    script: str
    parameters: Mapping[str, Any] = MappingProxyType({})


SHORT = {"short_timeout": True}
"""With a short minimum the timeout follows the samples: 3 x 0.1 s after the handshake."""
SIX_IN_FLIGHT = "open / write 20 / sends 1 101 201 301 401 501"
"""Six segments of 100 B in flight, with an initial window of 6."""
SIX = {"initial_window": 6}
BYTES = {"growth": "rfc5681"}
LINUX, LWIP, ESP_IDF, NS3 = ({"stack": name} for name in ("linux", "lwip", "esp-idf", "ns3"))
ACK_FIRST = {"stack": "ns3", "delayed_ack_ms": 100.0}

RULES = (
    Rule(
        "RFC 5681, 3.1", "the first window is the initial window", "open / write 9 / sends 1 101 / window 200"
    ),
    Rule(
        "ns-2", "slow start adds a segment for each ACK", "open / write 9 / sends 1 101 / ack 51 / window 300"
    ),
    Rule(
        "ns-3",
        "slow start adds a segment for each segment completed",
        "open / write 9 / sends 1 101 / ack 61 / window 200 / ack 121 / window 300 / ack 191 / window 300"
        " / ack 211 / window 400",
        {"growth": "ns3"},
    ),
    Rule(
        "RFC 5681, 3.1",
        "slow start adds a segment for each ACK of a segment",
        "open / write 9 / sends 1 101 / ack 101 / sends 201 301 / window 300 / ack 201 / sends 401 501",
        BYTES,
    ),
    Rule(
        "RFC 5681, 3.1",
        "slow start adds the bytes acknowledged, but at most a segment",
        "open / write 9 / sends 1 101 / ack 51 / window 250 / ack 201 / window 350",
        BYTES,
    ),
    Rule(
        "RFC 5681, 3.1",
        "congestion avoidance adds SMSS * SMSS / cwnd for each ACK",
        "open / set-threshold 200 / write 9 / sends 1 101 / ack 101 / window 250 / ack 201 / window 290",
    ),
    Rule(
        "RFC 5681, 3.1",
        "the window never exceeds the window of the receiver",
        "open / write 9 / sends 1 101 / ack 101 / sends 201 301 / ack 201 / sends 401",
        {"max_window": 3},
    ),
    Rule(
        "RFC 5681, 3.1",
        "after a SYN that timed out the first window is a segment",
        "connect / wait 1.05 / resends-syn / syn-ack / write 3 / sends 1",
        {"initial_window": 4},
    ),
    Rule(
        "RFC 5681, 3.1",
        "a SYN that timed out leaves slow start without a threshold",
        "connect / wait 1.05 / resends-syn / syn-ack / threshold inf",
    ),
    Rule(
        "RFC 5681, 3.1",
        "a timeout halves the flight, and the window falls to a segment",
        f"{SIX_IN_FLIGHT} / wait 1.05 / sends 1 / window 100 / threshold 300",
        SIX,
    ),
    Rule(
        "RFC 5681, 3.1, equation 4",
        "the threshold is at least two segments",
        "open / write 3 / sends 1 101 / wait 1.05 / sends 1 / threshold 200",
    ),
    Rule(
        "RFC 5681, 3.1",
        "a second timeout of the same segment does not change the threshold",
        f"{SIX_IN_FLIGHT} / wait 1.05 / sends 1 / wait 2.05 / sends 1 / threshold 300",
        SIX,
    ),
    Rule(
        "RFC 5681, 3.2",
        "two duplicate ACKs retransmit nothing",
        f"{SIX_IN_FLIGHT} / duplicates 2 / sends",
        SIX,
    ),
    Rule(
        "RFC 5681, 3.2",
        "the third duplicate ACK retransmits the first segment",
        f"{SIX_IN_FLIGHT} / duplicates 3 / sends 1 / threshold 300 / window 600",
        SIX,
    ),
    Rule(
        "RFC 5681, 3.2",
        "each further duplicate ACK adds a segment, which may let new data go",
        f"{SIX_IN_FLIGHT} / duplicates 3 / sends 1 / duplicates 1 / sends 601 / window 700",
        SIX,
    ),
    Rule(
        "RFC 5681, 3.2",
        "an ACK of new data ends the count of duplicates",
        f"{SIX_IN_FLIGHT} / duplicates 2 / ack 101 / sends 601 701 / duplicates 2 / sends",
        SIX,
    ),
    Rule(
        "RFC 6582, 3.2, step 3",
        "a partial ACK retransmits the next hole",
        f"{SIX_IN_FLIGHT} / duplicates 5 / sends 1 601 701 / ack 201 / sends 201 801",
        SIX,
    ),
    Rule(
        "RFC 6582, 3.2, step 3",
        "a partial ACK subtracts the bytes acknowledged from the window, and adds a segment",
        f"{SIX_IN_FLIGHT} / duplicates 3 / sends 1 / window 600 / ack 301 / window 400 / sends 301 601",
        SIX,
    ),
    Rule(
        "RFC 6582, 3.2, step 3",
        "the window after a partial ACK is at least a segment",
        f"{SIX_IN_FLIGHT} / duplicates 3 / sends 1 / ack 501 / window 200 / sends 501 601",
        SIX,
    ),
    Rule(
        "RFC 6582, 3.2, step 3",
        "a full ACK ends recovery at the threshold",
        f"{SIX_IN_FLIGHT} / duplicates 3 / sends 1 / ack 601 / window 300 / sends 601 701 801",
        SIX,
    ),
    Rule(
        "RFC 5681, 3.2",
        "after recovery the window grows as in congestion avoidance",
        f"{SIX_IN_FLIGHT} / duplicates 3 / sends 1 / ack 601 / ack 701 / window 333.3333333",
        SIX,
    ),
    Rule(
        "RFC 5681, 3.2",
        "a fast retransmit sends a short last segment again as it was, with its FIN",
        "open / write-last 50 / sends 1 / duplicates 3 / sends 1",
    ),
    Rule(
        "RFC 5681, 3.2",
        "a fast retransmit of another segment has no FIN",
        "open / write-last 250 / sends 1 101 201 / duplicates 3 / sends 1",
        SIX,
    ),
    Rule(
        "RFC 5681, 3.2",
        "a fast retransmit of the last segment of an open stream has no FIN",
        "open / write 1 / sends 1 / duplicates 3 / sends 1",
    ),
    Rule(
        "RFC 6582, 3.2, step 2",
        "duplicate ACKs must acknowledge more than the recovery point to retransmit fast again",
        f"{SIX_IN_FLIGHT} / wait 1.05 / sends 1 / ack 601 / sends 601 701 / duplicates 3 / sends"
        " / ack 701 / sends 801 901 / duplicates 3 / sends 701",
        SIX,
    ),
    Rule(
        "RFC 6582, 3.2, step 2",
        "duplicate ACKs below the recovery point do not retransmit fast again",
        f"{SIX_IN_FLIGHT} / wait 1.05 / sends 1 / ack 101 / sends 101 201 / duplicates 3 / sends",
        SIX,
    ),
    Rule(
        "RFC 6582, 4",
        "a partial ACK restarts the retransmission timer",
        f"{SIX_IN_FLIGHT} / duplicates 3 / sends 1 / wait 0.9 / ack 101 / sends 101 601 / wait 0.9 / sends",
        SIX,
    ),
    Rule(
        "RFC 6298, 2.1",
        "the timeout is a second before any sample",
        "connect / wait 0.99 / sends / timeout 1",
    ),
    Rule("RFC 6298, 2.2", "the first sample R gives R + 4 R / 2", "open / timeout 0.3", SHORT),
    Rule(
        "RFC 6298, 2.3",
        "later samples are smoothed",  # R' = 0.2: SRTT = 0.1125, RTTVAR = 0.0625
        "open / write 1 / sends 1 / wait 0.2 / ack 101 / timeout 0.3625",
        SHORT,
    ),
    Rule(
        "RFC 6298, 2.3",
        "a shorter sample widens the variation too",  # R' = 0.02: SRTT = 0.09, RTTVAR = 0.0575
        "open / write 1 / sends 1 / wait 0.02 / ack 101 / timeout 0.32",
        SHORT,
    ),
    Rule(
        "RFC 6298, 2.2",
        "a sample counts from the sending of its segment",
        "wait 5 / open / timeout 0.3",
        SHORT,
    ),
    Rule("RFC 6298, 2.4", "the timeout is at least a second", "open / timeout 1"),
    Rule(
        "RFC 6298, 2.5",
        "the timeout is at most a minute",  # it expires at 1, 3, 7, 15, 31 and 63 s
        "open / write 1 / wait 62 / timeout 32 / wait 2 / timeout 60",
    ),
    Rule(
        "RFC 6298, 3 (Karn)",
        "a segment sent again after a timeout gives no sample",
        "open / write 1 / sends 1 / wait 0.31 / sends 1 / timeout 0.6 / wait 0.2 / ack 101 / timeout 0.6",
        SHORT,
    ),
    Rule(
        "RFC 6298, 3 (Karn)",
        "a segment sent again by a fast retransmit gives no sample",
        f"{SIX_IN_FLIGHT} / wait 0.1 / duplicates 3 / sends 1 / wait 0.15 / ack 601 / timeout 0.3",
        {**SIX, **SHORT},
    ),
    Rule(
        "RFC 6298, 3 (Karn)",
        "a SYN sent again gives no sample",
        "connect / wait 1.05 / resends-syn / syn-ack / timeout 2",
    ),
    Rule(
        "RFC 6298, 3 (Karn)",
        "a SYN-ACK sent again because the SYN came again gives no sample",
        "syn / wait 0.2 / syn / resends-syn / ack 1 / timeout 1",
        SHORT,
    ),
    Rule(
        "RFC 6298, 5.1",
        "the timer starts with the first segment in flight",
        "open / write 1 / sends 1 / wait 0.99 / sends / wait 0.02 / sends 1",
    ),
    Rule(
        "RFC 6298, 5.2",
        "the timer stops when all data are acknowledged",
        "open / write 1 / sends 1 / ack 101 / wait 100 / sends",
    ),
    Rule(
        "RFC 6298, 5.3",
        "an ACK of new data restarts the timer",
        "open / write 2 / sends 1 101 / wait 0.9 / ack 101 / timeout 1.15"
        " / wait 1.1 / sends / wait 0.1 / sends 101",
    ),
    Rule(
        "RFC 6298, 5.5",
        "each timeout doubles the next",
        "open / write 1 / sends 1 / wait 1.01 / sends 1"
        " / wait 1.98 / sends / wait 0.02 / sends 1 / timeout 4",
    ),
    Rule(
        "RFC 5681, 4.2",
        "every second segment is acknowledged at once",
        "open / data 1 / data 101 / acknowledges 201",
    ),
    Rule(
        "RFC 5681, 4.2",
        "an ACK is delayed by less than 500 ms",
        "open / data 1 / acknowledges / wait 0.09 / acknowledges / wait 0.02 / acknowledges 101",
    ),
    Rule(
        "ns-2",
        "a heartbeat sends delayed ACKs at the multiples of its interval",
        "open / wait 0.03 / data 1 / wait 0.06 / acknowledges / wait 0.02 / acknowledges 101",
        {"delayed_ack": "heartbeat"},
    ),
    Rule(
        "RFC 5681, 4.2",
        "each segment is acknowledged if ACKs are not delayed",
        "open / data 1 / acknowledges 101",
        {"delayed_ack_ms": 0.0},
    ),
    Rule("RFC 9293, 3.6", "a FIN follows the data", "open / close / sends-fin 1 / close / acknowledges"),
    Rule(
        "RFC 9293, 3.6",
        "a connection is closed when both FINs are acknowledged",
        "open / write-last 50 / sends 1 / ack 52 / fin 1 52 / is-closed",
    ),
    Rule(
        "RFC 9293, 3.10.7.4",
        "a FIN may come with the ACK that opens the connection",
        "syn / acknowledges 1 / fin 1 1 / acknowledges 2 / close / sends-fin 1 / ack 2 / is-closed",
    ),
    Rule(
        "RFC 9293, 3.10.7.4",
        "a SYN-ACK that comes again is acknowledged again",
        "open / syn-ack / acknowledges 1",
    ),
    Rule(
        "RFC 9293, 3.10.7.4",
        "a segment that comes again is acknowledged again",
        "open / data 1 / wait 0.2 / acknowledges 101 / data 1 / acknowledges 101",
    ),
    Rule(
        "RFC 5681, 4.2", "a segment out of order is acknowledged at once", "open / data 101 / acknowledges 1"
    ),
    Rule(
        "RFC 5681, 4.2",
        "a segment that fills a gap is acknowledged at once",
        "open / data 101 / data 1 / acknowledges 1 201",
    ),
    Rule(
        "RFC 1122, 4.2.3.2",
        "data carry a delayed ACK, which is then not sent alone",
        "open / data 1 / write 1 / carries 101 / ack 101 / wait 1 / acknowledges",
    ),
    Rule(
        "lwIP, LWIP_TCP_RTO_TIME",
        "a SYN is repeated after 3 s",
        "connect / wait 2.99 / wait 0.02 / resends-syn",
        LWIP,
    ),
    Rule(
        "ESP-IDF, LWIP_TCP_RTO_TIME",
        "a SYN is repeated after 1.5 s",
        "connect / wait 1.51 / resends-syn",
        ESP_IDF,
    ),
    Rule("ns-3, ConnTimeout", "a SYN is repeated after 3 s", "connect / wait 3.01 / resends-syn", NS3),
    Rule(
        "Linux, tcp_init_transfer",
        "after one repeated SYN the first window is the initial window",
        "connect / wait 1.01 / resends-syn / syn-ack / window 200",
        LINUX,
    ),
    Rule(
        "Linux, tcp_init_transfer",
        "after two repeated SYNs the first window is one segment",
        "connect / wait 3.01 / syn-ack / window 100",
        LINUX,
    ),
    Rule("ns-3", "the first window is never one segment", "connect / wait 9.01 / syn-ack / window 200", NS3),
    Rule(
        "lwIP, tcp_process",
        "the first window is never one segment",
        "connect / wait 9.01 / syn-ack / window 200",
        LWIP,
    ),
    Rule(
        "Linux, TCP_RTO_MIN", "the least timeout is 0.2 s above the round trip", "open / timeout 0.3", LINUX
    ),
    Rule("lwIP, tcp_receive", "the least timeout is 3 slow timers", "open / timeout 1.5", LWIP),
    Rule(
        "lwIP, tcp_slowtmr",
        "a second SYN does not wait twice as long",
        "connect / wait 3.01 / timeout 3",
        LWIP,
    ),
    Rule(
        "ns-3, NewAck",
        "the ACK of a repeated segment ends the back-off",
        "open / write 1 / sends 1 / wait 1.01 / sends 1 / ack 101 / timeout 1",
        NS3,
    ),
    Rule(
        "lwIP, tcp_receive",
        "the ACK of a repeated segment ends the back-off",
        "open / write 1 / sends 1 / wait 1.51 / sends 1 / timeout 3 / ack 101 / timeout 1.5",
        LWIP,
    ),
    Rule(
        "ns-3",
        "the ACK that ends a timeout lets one segment go",
        "open / write 9 / sends 1 101 / wait 1.01 / sends 1 / ack 201 / sends 201 / ack 301 / sends 301 401",
        NS3,
    ),
    Rule("ns-3", "a repeated SYN-ACK is not acknowledged", "open / syn-ack / acknowledges", NS3),
    Rule(
        "Linux, TCP_DELACK_MIN",
        "an ACK is delayed by 40 ms",
        "open / data 1 / wait 0.03 / wait 0.02 / acknowledges 101",
        LINUX,
    ),
    Rule(
        "lwIP, TCP_TMR_INTERVAL",
        "a delayed ACK leaves at the next multiple of 250 ms",
        "open / data 1 / wait 0.14 / acknowledges / wait 0.02 / acknowledges 101",
        LWIP,
    ),
    Rule(
        "ns-3, ProcessSynRcvd",
        "a server acknowledges only the first segment of a first request at once",
        "syn / acknowledges 1 / ack 1 / data 1 / acknowledges 101 / data 101 / acknowledges"
        " / data 201 / acknowledges 301 / data 301 / acknowledges / wait 0.11 / acknowledges 401",
        ACK_FIRST,
    ),
    Rule(
        "ns-3, ProcessSynSent",
        "a client without a request acknowledges only the first segment of the reply at once",
        "open / data 1 / acknowledges 101 / data 101 / acknowledges / data 201 / acknowledges 301",
        ACK_FIRST,
    ),
    Rule(
        "ns-3, ProcessSynSent",
        "a client that has sent a request delays the ACK of the first segment of the reply",
        "open / write 1 / carries 1 / ack 101 / data 1 / acknowledges / data 101 / acknowledges 201",
        ACK_FIRST,
    ),
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.source}: {rule.rule}")
def test_an_endpoint_follows_the_script_of_each_tcp_rule(rule: Rule) -> None:
    """Play each line of the script in order."""
    peer = Peer(**rule.parameters)
    for line in rule.script.split(" / "):
        peer.play(line)


# Hand-computed: the first timeout is three times the round trip, if that is above the minimum.
@pytest.mark.parametrize(
    ("stack", "round_trips_s", "timeouts_s"),
    [
        ("rfc", (2, 2, 2), (6, 5, 4.25)),
        ("rfc", (0.4, 0.4, 0.4), (1.2, 1, 1)),
        ("rfc", (0.5, 2.5, 0.5), (1.5, 3.5, 3.03125)),  # SRTT 0.5, 0.75, 0.71875; 4 RTTVAR 1, 2.75, 2.3125
        ("ns3", (2, 2, 2), (6, 5, 4.25)),
        ("lwip", (1, 1, 1, 1), (3, 2.5, 2.125, 2)),
        ("esp-idf", (0.1, 0.1), (1.5, 1.5)),
        # A smaller variation does not count in the second sample, and then by a quarter of the difference.
        ("linux", (0.4, 0.4, 0.4), (1.2, 1.2, 0.4 + 0.8 - 0.35 / 4)),
        # A longer round trip raises the margin at once to 0.15 + 0.9. A shorter one than expected does not.
        ("linux", (0.1, 1.0, 0.1), (0.3, 0.2125 + 1.05, 0.1984375 + 1.05 - 0.15 / 4)),
        # The error of -0.3 raises the deviation of 0.45 by (0.3 - 0.1125) / 8.
        ("linux", (0.4, 0.4, 0.4, 0.1), (1.2, 1.2, 1.1125, 0.3625 + 0.75 * 0.7125 + 0.25 * 0.4734375)),
    ],
)
def test_the_retransmission_timeout_follows_the_round_trip_times(
    stack: str, round_trips_s: tuple[float, ...], timeouts_s: tuple[float, ...]
) -> None:
    """Each timeout is the smoothed round trip with the margin of the stack."""
    timeout, found = Peer(stack=stack).endpoint.timeout, []
    for round_trip_s in round_trips_s:
        timeout.sample(round_trip_s)
        found.append(timeout.seconds)
    assert found == pytest.approx(timeouts_s)


@pytest.mark.parametrize(
    ("stack", "margin_s"), [("rfc", 0), ("linux", 0.2), ("lwip", 1), ("esp-idf", 1), ("ns3", 0.001)]
)
@pytest.mark.parametrize("round_trip_s", [0.001, 0.3, 1.2])
def test_if_round_trips_are_equal_the_timeout_falls_to_its_minimum_margin_above_the_round_trip(
    stack: str, margin_s: float, round_trip_s: float
) -> None:
    """The timeout falls to the round trip with the minimum margin, or to the minimum timeout."""
    timeout, last_s = Peer(stack=stack).endpoint.timeout, 60.0
    for _ in range(60):
        timeout.sample(round_trip_s)
        assert timeout.seconds <= last_s
        last_s = timeout.seconds
    assert last_s == pytest.approx(max(TCP_STACKS[stack].min_timeout_s, round_trip_s + margin_s))

"""Two TCP ends over a wire that loses what the test wants lost."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simpy import Environment

from psm_sim.network.host import Host
from psm_sim.network.link import Link
from psm_sim.network.tcp_constants import TcpConstants
from psm_sim.network.tcp_sender import Sender, SlowStartGrowth
from psm_sim.network.timers import TimerQueue
from psm_sim.network.topology_sections import LinkParameters, TcpParameters


class Sink:
    """Counts what arrives, and closes when the peer does."""

    def __init__(self, endpoint):
        self.endpoint, self.got, self.closed_at = endpoint, 0, inf

    def established(self):
        pass

    def received(self, payload_bytes):
        self.got += payload_bytes

    def peer_closed(self):
        self.closed_at = self.endpoint._env.now
        self.endpoint.close()


class Source(Sink):
    """Sends so many bytes once the connection is open."""

    def __init__(self, endpoint, size):
        super().__init__(endpoint)
        self.size = size

    def established(self):
        self.endpoint.write(self.size, last=True)


class Wire:
    """Two hosts, 10 Mbit/s and 20 ms apart; segment numbers in *lost* (by direction) vanish."""

    def __init__(self, tcp: TcpParameters, lost=((), ())):
        self.env = env = Environment()
        self.log: list[Any] = []
        self.sinks: list[Sink] = []
        hop = LinkParameters(10.0, 20.0)
        self.a = Host(env, tcp, lambda each: self.offer(0, each))
        self.b = Host(env, tcp, lambda each: self.offer(1, each), self.accept)
        self.links = (Link(env, "wired down", hop), Link(env, "wired up", hop))
        self.links[0].deliver, self.links[1].deliver = self.b.receive, self.a.receive
        self.lost, self.count = lost, [0, 0]

    def accept(self, endpoint):
        self.sinks.append(Sink(endpoint))
        return self.sinks[-1]

    def offer(self, way, segment):
        number = self.count[way]
        self.count[way] += 1
        self.log.append((self.env.now, way, segment, number in self.lost[way]))
        if number not in self.lost[way]:
            self.links[way].send(segment)

    def transfer(self, size, until=None):
        """Send *size* bytes from a to b, and run until nothing is left to do."""
        self.source: list[Source] = []
        self.a.connect(lambda end: self.source.append(Source(end, size)) or self.source[-1])
        self.env.run(until=until)
        return self.sinks[0].got if self.sinks else 0

    def data(self):
        return [
            (time, each.seq, each.payload) for time, way, each, _ in self.log if way == 0 and each.payload
        ]


PER_SEGMENT = TcpParameters(delayed_ack_ms=0.0)


def test_a_handshake_is_syn_syn_ack_ack():
    """The first three segments, and who sends them."""
    wire = Wire(PER_SEGMENT)
    wire.transfer(100)
    shapes = [(way, each.syn, each.seq, each.ack, each.payload) for _, way, each, _ in wire.log[:4]]
    assert shapes == [(0, True, 0, 0, 0), (1, True, 0, 1, 0), (0, False, 1, 1, 0), (0, False, 1, 1, 100)]


def test_slow_start_doubles_each_round_trip_up_to_the_largest_window():
    """Segments sent per round trip: 2, 4, 8, 16, then 20."""
    wire = Wire(PER_SEGMENT)
    wire.transfer(1460 * 70)
    rounds: dict[int, int] = {}
    for time_s, _, _ in wire.data():
        rounds[int((time_s - 0.0401) / 0.0412)] = rounds.get(int((time_s - 0.0401) / 0.0412), 0) + 1
    assert list(rounds.values())[:5] == [2, 4, 8, 16, 20]


def test_a_window_with_room_beyond_whole_segments_takes_a_last_short_one():
    """Two segments and 100 B: the short one leaves with them if the receiver has room, else after an ACK."""
    for spare, at_once in ((None, 2), (99, 2), (100, 3)):
        wire = Wire(TcpParameters(initial_window=10, max_window=2, spare_window_bytes=spare))
        assert wire.transfer(2 * 1460 + 100) == 3020
        first_s = wire.data()[0][0]
        assert sum(time_s == first_s for time_s, _, _ in wire.data()) == at_once


def test_delayed_acknowledgements_slow_the_start():
    """One ACK for two segments grows the window by half: 2, 3, 5, 8."""
    wire = Wire(TcpParameters(delayed_ack_ms=100.0))
    wire.transfer(1460 * 18)
    acks = [time for time, way, each, _ in wire.log if way == 1 and not each.syn]
    assert len(acks) < len(wire.data())
    assert wire.sinks[0].got == 1460 * 18


def test_a_lost_segment_is_retransmitted_fast_and_the_window_halves():
    """Three duplicate ACKs, no timeout: done well under the least timeout of 1 s."""
    wire = Wire(PER_SEGMENT, lost=((12,), ()))
    assert wire.transfer(1460 * 40) == 1460 * 40
    lost_seq = next(each.seq for _, way, each, lost in wire.log if way == 0 and lost)
    assert [seq for _, seq, _ in wire.data()].count(lost_seq) == 2
    assert wire.sinks[0].closed_at < 0.5
    assert wire.a.retransmissions == 1


def test_two_losses_in_a_window_are_repaired_without_a_timeout():
    """NewReno: a partial ACK retransmits the next hole (RFC 6582)."""
    wire = Wire(PER_SEGMENT, lost=((12, 14), ()))
    assert wire.transfer(1460 * 40) == 1460 * 40
    assert wire.sinks[0].closed_at < 0.6
    assert wire.a.retransmissions == 2


def test_the_last_segment_lost_waits_for_the_timeout():
    """Nobody sends duplicate ACKs for it: one second (RFC 6298)."""
    wire = Wire(PER_SEGMENT, lost=((2,), ()))
    assert wire.transfer(1000) == 1000
    times = [time for time, _, _ in wire.data()]
    assert len(times) == 2
    assert times[1] - times[0] == pytest.approx(1.0, abs=0.05)


def test_a_lost_syn_is_sent_again_after_a_second_and_costs_initial_window():
    """RFC 5681, 3.1: after a lost SYN the window starts at one segment."""
    wire = Wire(PER_SEGMENT, lost=((0,), ()))
    assert wire.transfer(1460 * 4) == 1460 * 4
    syns = [time for time, way, each, _ in wire.log if way == 0 and each.syn]
    assert syns == [0.0, 1.0]
    first_round = [time for time, _, _ in wire.data() if time < 1.06]
    assert len(first_round) == 1


def test_timeouts_back_off():
    """A dead peer is asked again after 1, 2, 4, 8 s."""
    wire = Wire(PER_SEGMENT, lost=(range(1000), ()))
    wire.transfer(10, until=40.0)
    assert [time for time, *_ in wire.log] == [0.0, 1.0, 3.0, 7.0, 15.0, 31.0]


def test_a_round_trip_of_a_retransmitted_segment_is_not_measured():
    """Karn: the timeout backed off stays until a fresh sample."""
    wire = Wire(PER_SEGMENT, lost=((0,), ()))
    wire.transfer(10, until=1.05)
    assert wire.source[0].endpoint.timeout.seconds == 2.0


def test_both_ends_forget_a_closed_connection():
    """FIN both ways, no state left."""
    wire = Wire(PER_SEGMENT)
    wire.transfer(5000)
    assert (wire.a.open_connections, wire.b.open_connections) == (0, 0)


def test_as_in_ns3_a_fin_in_answer_to_one_stands_between_two_acks():
    """Or the FIN itself acknowledges the peer's."""
    for ack_first, fins in ((True, [False, True, False]), (False, [True])):
        wire = Wire(TcpParameters(ack_first=ack_first))
        assert wire.transfer(100) == 100
        assert [each.fin for _, way, each, _ in wire.log if way == 1 and not each.syn] == fins
        assert (wire.a.open_connections, wire.b.open_connections) == (0, 0)


@pytest.mark.parametrize("lost", [((), (n,)) for n in range(9)] + [((n,), ()) for n in range(9)])
def test_any_single_loss_delays_and_never_breaks(lost):
    """Whichever is lost, SYN, FIN and last ACK included, all bytes come and both ends close."""
    wire = Wire(PER_SEGMENT, lost=lost)
    assert wire.transfer(6000) == 6000
    assert (wire.a.open_connections, wire.b.open_connections) == (0, 0)


@settings(max_examples=60)
@given(
    size=st.integers(0, 120_000),
    window=st.integers(1, 30),
    initial=st.integers(1, 10),
    delayed=st.sampled_from([0.0, 100.0]),
    lost=st.tuples(st.sets(st.integers(0, 60), max_size=15), st.sets(st.integers(0, 60), max_size=15)),
)
def test_every_byte_arrives_exactly_once_whatever_is_lost(size, window, initial, delayed, lost):
    """Reliable delivery, and a clean close, under any finite pattern of loss."""
    tcp = TcpParameters(initial_window=initial, max_window=window, delayed_ack_ms=delayed)
    wire = Wire(tcp, lost)
    assert wire.transfer(size) == size
    assert (wire.a.open_connections, wire.b.open_connections) == (0, 0)
    in_window = max((each.seq + each.payload for _, way, each, _ in wire.log if way == 0), default=0)
    assert in_window <= size + 2


def test_a_heartbeat_sends_delayed_acks_at_whole_multiples_of_its_interval():
    """One segment of 100 B: it comes at 60.3 ms, and its ACK leaves at 100 ms, or by a timer at 160.3 ms."""
    left_s = []
    for delayed_ack in ("heartbeat", "timer"):
        wire = Wire(TcpParameters(delayed_ack_ms=100.0, delayed_ack=delayed_ack))
        wire.a.connect(lambda end: Opened(end, 100))
        wire.env.run(until=0.3)
        left_s.append([time_s for time_s, way, each, _ in wire.log if way == 1 and not each.syn])
    came_s = 3 * 0.02 + (3 * 40 + 140) * 8e-7
    assert left_s == [[pytest.approx(0.1)], [pytest.approx(came_s + 0.1)]]


class Opened(Source):
    """Sends some bytes, and leaves the connection open."""

    def established(self):
        self.endpoint.write(self.size)


class Mute(Sender):
    """Sends into the void."""

    def _emit(self, *_):
        pass

    def _give_up(self):
        pass


def grown(growth, ack):
    """Return the window after an ACK for bytes sent with a window of two segments of 1000 B."""
    sender = Mute(TimerQueue(Environment()), TcpConstants(TcpParameters(segment_bytes=1000, growth=growth)))
    sender.send()
    sender.acknowledge(1)
    sender.write(2000, last=False)
    sender.acknowledge(1 + ack)
    return sender.window


@pytest.mark.parametrize(
    ("growth", "ack", "window"),
    [
        ("ns2", 300, 3000),
        ("rfc5681", 300, 2300),
        ("ns3", 300, 2000),
        ("ns2", 2000, 3000),
        ("rfc5681", 2000, 3000),
        ("ns3", 2000, 3000),
    ],
)
def test_the_window_grows_by_a_segment_or_by_the_bytes_acknowledged(growth, ack, window):
    """RFC 5681, equation 2: by min(N, SMSS); ns-2 by a segment for each ACK; ns-3 if one is complete."""
    assert grown(growth, ack) == window


def test_ns3_counts_bytes_from_ack_to_ack():
    """Segments of 1000 B: 600 B add nothing, 600 complete one; 700 add nothing, 200 complete another."""
    growth = SlowStartGrowth(TcpConstants(TcpParameters(segment_bytes=1000, growth="ns3")))
    assert [growth.after(newly) for newly in (600, 600, 700, 200)] == [0, 1000, 0, 1000]


def test_a_second_timeout_of_the_same_segment_leaves_the_threshold_as_it_is():
    """RFC 5681, section 3.1: it stays half of what was in flight at the first, 16 segments."""
    env = Environment()
    sender = Mute(TimerQueue(env), TcpConstants(TcpParameters(segment_bytes=1000, initial_window=20)))
    sender.send()
    sender.acknowledge(1)
    sender.write(16_000, last=False)
    env.run(until=10.0)
    assert sender.retransmissions >= 3
    assert sender.slow_start_threshold == 8000
    sender.acknowledge(4001)
    env.run(until=100.0)
    assert sender.slow_start_threshold < 8000

"""Two TCP endpoints over a wire that loses chosen segments."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simpy import Environment

from psm_sim.network.host import Host
from psm_sim.network.link import Link
from psm_sim.network.tcp_endpoint import Receiver
from psm_sim.network.topology_sections import LinkParameters, TcpParameters


class Sink:
    """Count received bytes, and close when the peer does."""

    def __init__(self, endpoint):
        self.endpoint, self.got = endpoint, 0

    def established(self):
        pass

    def received(self, payload_bytes):
        self.got += payload_bytes

    def peer_closed(self):
        self.endpoint.close()


class Source(Sink):
    """Send *size* bytes once the connection is open."""

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
        self.a = Host(env, tcp, lambda segment: self.offer(0, segment))
        self.b = Host(env, tcp, lambda segment: self.offer(1, segment), self.accept)
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
        """Send *size* bytes from a to b, and run until no event is left."""
        self.source: list[Source] = []

        def accept(end):
            self.source.append(Source(end, size))
            return self.source[-1]

        self.a.connect(accept)
        self.env.run(until=until)
        return self.sinks[0].got if self.sinks else 0

    def data(self):
        return [
            (time, segment.seq, segment.payload)
            for time, way, segment, _ in self.log
            if way == 0 and segment.payload
        ]


PER_SEGMENT = TcpParameters(delayed_ack_ms=0.0)


def test_a_handshake_consists_of_syn_and_syn_ack_and_ack():
    """The first segments and their senders."""
    wire = Wire(PER_SEGMENT)
    wire.transfer(100)
    shapes = [
        (way, segment.syn, segment.seq, segment.ack, segment.payload) for _, way, segment, _ in wire.log[:4]
    ]
    assert shapes == [(0, True, 0, 0, 0), (1, True, 0, 1, 0), (0, False, 1, 1, 0), (0, False, 1, 1, 100)]


def test_slow_start_doubles_the_window_every_round_trip_up_to_the_largest_window():
    """Segments sent per round trip: 2, 4, 8, 16, then 20."""
    wire = Wire(PER_SEGMENT)
    wire.transfer(1460 * 70)
    rounds: dict[int, int] = {}
    for time_s, _, _ in wire.data():
        rounds[int((time_s - 0.0401) / 0.0412)] = rounds.get(int((time_s - 0.0401) / 0.0412), 0) + 1
    assert list(rounds.values())[:5] == [2, 4, 8, 16, 20]


def test_a_fin_in_reply_to_a_fin_is_sent_between_two_acks_as_in_ns3():
    """Without the rule of ns-3, the FIN itself acknowledges the peer's FIN."""
    for ack_first, fins in ((True, [False, True, False]), (False, [True])):
        wire = Wire(TcpParameters(stack="ns3" if ack_first else "rfc"))
        assert wire.transfer(100) == 100
        assert [segment.fin for _, way, segment, _ in wire.log if way == 1 and not segment.syn] == fins
        assert wire.a.endpoints == wire.b.endpoints == {}


@pytest.mark.parametrize("lost", [((), (n,)) for n in range(9)] + [((n,), ()) for n in range(9)])
def test_any_single_loss_only_delays_a_transfer(lost):
    """Whichever segment is lost, including SYN, FIN and last ACK, all bytes arrive and both ends close."""
    wire = Wire(PER_SEGMENT, lost=lost)
    assert wire.transfer(6000) == 6000
    assert wire.a.endpoints == wire.b.endpoints == {}


@settings(max_examples=60)
@given(
    size=st.integers(0, 120_000),
    window=st.integers(1, 30),
    initial=st.integers(1, 10),
    delayed=st.sampled_from([0.0, 100.0]),
    lost=st.tuples(st.sets(st.integers(0, 60), max_size=15), st.sets(st.integers(0, 60), max_size=15)),
)
def test_every_byte_arrives_exactly_once_under_any_losses(size, window, initial, delayed, lost):
    """Delivery is reliable and both ends close, under any finite pattern of losses."""
    tcp = TcpParameters(initial_window=initial, max_window=window, delayed_ack_ms=delayed)
    wire = Wire(tcp, lost)
    assert wire.transfer(size) == size
    assert wire.a.endpoints == wire.b.endpoints == {}
    in_window = max((segment.seq + segment.payload for _, way, segment, _ in wire.log if way == 0), default=0)
    assert in_window <= size + 2


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.permutations(range(n)), st.randoms())))
def test_repeated_and_reordered_segments_are_reassembled_into_the_stream(case):
    """Segments of different lengths, shuffled and repeated, give the whole stream."""
    count, order, random = case
    edges = [1]
    for _ in range(count):
        edges.append(edges[-1] + random.randint(1, 1460))
    receiver = Receiver(2)
    receiver.accept(0, 1, urgent=True)
    seen = set()
    for piece in [*order, *random.sample(list(order), count // 2)]:
        receiver.accept(edges[piece], edges[piece + 1], urgent=False)
        seen.add(piece)
        whole = next((i for i in range(count) if i not in seen), count)
        assert receiver.next == edges[whole]
    assert receiver.next == edges[-1]

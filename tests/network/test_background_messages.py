"""Background messages: hand-computed latencies, and the number of lost messages."""

from __future__ import annotations

import pytest

from psm_sim.network import Observer, World
from psm_sim.network.background_messages import MessageStats
from psm_sim.workload.messages import Message, Messages
from psm_sim.workload.page_view import Page
from tests.network.worlds import run_world

SLOW, FAST = 8 / 5e6, 8 / 10e6  # seconds per byte, on the wireless and on the wired hop
PAGE = Page(30.0, 1000, (), (300,), (0.0,))


def way_s(size: int) -> float:
    """Return the time of one packet over both hops."""
    return size * (SLOW + FAST) + 0.0001 + 0.02


HANDSHAKE_S = 2 * way_s(40) + 40 * SLOW  # the last ACK is sent before the first data
LATENCIES = [
    (Message(1.0, 500), "down", way_s(500)),
    (Message(1.0, 500, uplink=True), "up", way_s(500)),
    (Message(1.0, 500, False, 300, 0.25), "round_trip_down", way_s(500) + 0.25 + way_s(300)),
    (Message(1.0, 500, True, 300, 0.25), "round_trip_up", way_s(500) + 0.25 + way_s(300)),
    (Message(1.0, 500, connection=0), "down", way_s(540)),
    (Message(1.0, 500, True, connection=3), "up", way_s(540)),
    (Message(1.0, 500, True, 300, 0.25, 0), "round_trip_up", way_s(540) + 0.25 + way_s(340)),
    (Message(0.0, 500, True, connection=0), "up", HANDSHAKE_S + way_s(540)),
]


def run(messages: Messages, policy: str = "always-on", **more) -> World:
    """Return a world after the messages and a page at 30 s."""
    return run_world([PAGE], policy, messages=messages, **more)


@pytest.mark.parametrize(("message", "direction", "latency_s"), LATENCIES)
def test_a_background_message_takes_the_hand_computed_time(message, direction, latency_s):
    """The time has transmission and propagation on both hops, and delay and time of the reply."""
    stats = run(Messages([message])).messenger.stats
    assert list(stats) == [direction]
    assert stats[direction].latencies_s.tolist() == [pytest.approx(latency_s)]
    assert (stats[direction].sent, stats[direction].lost) == (1, 0)


def test_messages_on_one_connection_arrive_in_sequence():
    """The second message waits for the first on the slower hop; the third is sent later."""
    sent = [(1.0, 1000), (1.0, 400), (9.0, 70)]
    messages = Messages([Message(at_s, size, connection=0) for at_s, size in sent])
    stats = run(messages, tcp__initial_window=10).messenger.stats["down"]
    second_s = way_s(1040) + 440 * SLOW
    assert stats.latencies_s.tolist() == pytest.approx([way_s(1040), second_s, way_s(110)])


def test_a_datagram_recorded_at_the_access_point_crosses_the_wireless_hop_only():
    """The latency is the delay from access point to station, and the server counts the bytes."""
    world = run(Messages([Message(1.0, 500)], at_access_point=True))
    assert world.messenger.delays_s == world.messenger.stats["down"].latencies_s.tolist()
    assert world.messenger.delays_s == [pytest.approx(500 * SLOW + 0.0001)]
    assert world.messenger.sent == 1


class Air(Observer):
    """Record the kinds of the frames on the channel."""

    def __init__(self) -> None:
        self.kinds: list[str] = []

    def air(self, frame):
        """Record a frame."""
        self.kinds.append(frame.kind)


def test_a_datagram_is_a_data_frame_on_the_channel():
    """Segments of the page are data frames, too, unlike null frames and group addressed frames."""
    air = Air()
    run(Messages([Message(1.0, 500), Message(2.0, 500, uplink=True)]), observers=[air])
    assert len(air.kinds) > 4
    assert set(air.kinds) == {"data"}


def test_a_dozing_station_receives_a_datagram_at_the_next_beacon():
    """The datagram reaches the access point at 1.0212 s, and is sent at 1.1 s."""
    messenger = run(Messages([Message(1.0, 500)]), "psm").messenger
    arrives_s = 500 * FAST + 0.02
    assert messenger.delays_s == [pytest.approx(0.1 - arrives_s + 500 * SLOW + 0.0001)]


def test_datagrams_that_arrive_at_a_full_buffer_are_lost():
    """Two of four simultaneous datagrams are dropped; the datagram after the beacon reveals the loss."""
    messages = [Message(1.0, 500)] * 4 + [Message(1.3, 500)]
    world = run(Messages(messages), "psm", access_point__buffer_frames=2)
    stats = world.messenger.stats["down"]
    assert (stats.sent, len(stats.latencies_s), stats.lost) == (5, 3, 2)
    assert (world.messenger.sent, world.port.dropped_frames) == (5, 2)


def test_a_datagram_counts_as_lost_once_a_later_datagram_has_arrived():
    """Datagrams after the last arrival may be in transit; messages on connections have no number."""
    stats = MessageStats()
    assert [stats.start(Message(1.0, 500)) for _ in range(4)] == [1, 2, 3, 4]
    assert stats.start(Message(1.0, 500, connection=0)) == 0
    for number, latency_s, lost in ((1, 0.1, 0), (3, 0.2, 1), (0, 0.4, 1), (2, 0.3, 0)):
        stats.arrived(number, latency_s)
        assert stats.lost == lost
    stats.lose()
    stats.lose()
    assert (stats.sent, stats.lost) == (5, 2)
    assert stats.latencies_s.tolist() == [0.1, 0.2, 0.4, 0.3]

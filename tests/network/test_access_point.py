"""Buffering, drops and TIM bits of the access point, for each station."""

from __future__ import annotations

from simpy import Environment

from psm_sim.network.access_point import Port
from psm_sim.network.link import Link
from psm_sim.network.segment import Segment
from psm_sim.network.topology_sections import AccessPointParameters, LinkParameters
from psm_sim.policies import make_policy
from tests.network.radio_bench import RadioBench


def test_a_full_buffer_drops_further_frames():
    """The buffer has two frames; two more are counted as dropped, with their bytes."""
    bench = RadioBench(make_policy("psm"), buffer_frames=2)
    for number, size in enumerate((1500, 1500, 1000, 300)):
        bench.arrive_at(0.01 * (number + 1), size)
    bench.run(0.2)
    assert len(bench.delivered) == 2
    assert (bench.port.dropped_frames, bench.port.dropped_bytes) == (2, 1300)


def test_the_tim_bit_is_set_while_frames_are_buffered():
    """The first buffered frame sets the bit, and the retrieval of the last one clears it."""
    bench = RadioBench(make_policy("psm"))
    bench.arrive_at(0.05)
    bench.env.run(until=0.06)
    assert (bench.port.tim_bit, bench.port.buffered_bytes) == (True, 1500)
    bench.env.run(until=0.11)
    assert (bench.port.tim_bit, bench.port.buffered_bytes) == (False, 0)


class Listener:
    """Station that is awake or not, and counts the calls of announced()."""

    def __init__(self, awake):
        self.awake, self.announcements = awake, 0

    def offer(self):
        return self.awake

    def announced(self):
        self.announcements += 1


def test_each_station_has_its_own_queue_and_tim_bit():
    """Frames for the dozing station are buffered, and frames for the awake one pass."""
    env = Environment()
    parameters = AccessPointParameters(buffer_frames=2)
    received: dict[bool, list[Segment]] = {False: [], True: []}
    ports = {}
    for is_awake, frames in received.items():
        link = Link(env, "wireless down", LinkParameters(1.0, 0.0))
        link.deliver = frames.append
        ports[is_awake] = Port(env, parameters, link)
        ports[is_awake].radio = Listener(is_awake)
        for size in (1000, 2000, 3000):
            ports[is_awake].forward(RadioBench.frame(size))
    dozing, awake = ports[False], ports[True]
    assert (dozing.tim_bit, dozing.buffered_bytes, dozing.radio.announcements) == (True, 3000, 1)
    assert (awake.tim_bit, awake.radio.announcements) == (False, 0)
    assert {(port.dropped_frames, port.dropped_bytes) for port in ports.values()} == {(1, 3000)}
    assert [(at_s, frame.wire_bytes) for at_s, frame in ports[False].release()] == [(0.0, 1000), (0.0, 2000)]
    env.run()
    assert [segment.wire_bytes for segment in received[False]] == [1000, 2000]
    assert [segment.wire_bytes for segment in received[True]] == [1000, 2000]

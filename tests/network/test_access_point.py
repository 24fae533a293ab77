"""Access point: what it holds, drops and announces, for each station on its own."""

from __future__ import annotations

from simpy import Environment

from psm_sim.network.access_point import AccessPoint
from psm_sim.network.link import Link
from psm_sim.network.segment import Segment
from psm_sim.network.topology_sections import AccessPointParameters, LinkParameters
from psm_sim.policies import make_policy
from tests.network.radio_bench import RadioBench


def test_a_full_buffer_drops_what_comes():
    """Two are held, two more are counted as dropped, with their bytes."""
    bench = RadioBench(make_policy("psm"), buffer_frames=2)
    for number, size in enumerate((1500, 1500, 1000, 300)):
        bench.arrive_at(0.01 * (number + 1), size)
    bench.run(0.2)
    assert len(bench.delivered) == 2
    assert (bench.port.dropped_frames, bench.port.dropped_bytes) == (2, 1300)


def test_the_tim_names_the_station_while_frames_are_held():
    """From the first held frame until they are fetched."""
    bench = RadioBench(make_policy("psm"))
    bench.arrive_at(0.05)
    bench.env.run(until=0.06)
    assert (bench.port.tim_bit, bench.port.buffered_bytes) == (True, 1500)
    bench.env.run(until=0.11)
    assert (bench.port.tim_bit, bench.port.buffered_bytes) == (False, 0)


class Listener:
    """A station that is awake or not, and counts how often it is told that the TIM names it."""

    def __init__(self, awake):
        self.awake, self.told = awake, 0

    def offer(self):
        return self.awake

    def announced(self):
        self.told += 1


def test_each_station_has_a_queue_and_a_place_in_the_tim_of_its_own():
    """One dozes and one is awake: frames of the first are held, those of the second pass."""
    env = Environment()
    access_point = AccessPoint(env, AccessPointParameters(buffer_frames=2))
    received: dict[bool, list[Segment]] = {False: [], True: []}
    ports = {}
    for awake, frames in received.items():
        link = Link(env, "wireless down", LinkParameters(1.0, 0.0))
        link.deliver = frames.append
        ports[awake] = access_point.associate(link)
        ports[awake].radio = Listener(awake)
        for size in (1000, 2000, 3000):
            ports[awake].forward(RadioBench.frame(size))
    assert (ports[False].tim_bit, ports[False].buffered_bytes, ports[False].radio.told) == (True, 3000, 1)
    assert (ports[True].tim_bit, ports[True].radio.told) == (False, 0)
    assert (access_point.buffered_bytes, access_point.dropped_frames, access_point.dropped_bytes) == (
        3000,
        2,
        6000,
    )
    assert [(at_s, each.wire_bytes) for at_s, each in ports[False].release()] == [(0.0, 1000), (0.0, 2000)]
    env.run()
    assert [segment.wire_bytes for segment in received[False]] == [1000, 2000]
    assert [segment.wire_bytes for segment in received[True]] == [1000, 2000]

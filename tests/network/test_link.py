"""Links, each of which is one direction of a hop."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from math import inf

import numpy as np
import pytest
from simpy import Environment

from psm_sim.network.link import Link, Uplink
from psm_sim.network.segment import ConnectionId, Segment
from psm_sim.network.topology_sections import LinkParameters


def link_to(env: Environment, latency_ms: float, deliver, *tell) -> Link:
    """Return a link of 10 Mbit/s."""
    link = Link(env, "wired up", LinkParameters(10.0, latency_ms), tell)
    link.deliver = deliver
    return link


def segment(wire_bytes: int) -> Segment:
    return Segment(ConnectionId(), 0, wire_bytes, 0, False, False, wire_bytes)


def test_a_segment_takes_transmission_and_propagation_time():
    """1250 bytes at 10 Mbit/s take 1 ms, and 20 ms of propagation."""
    env, log = Environment(), []
    link = link_to(env, 20.0, lambda _: log.append(env.now))
    link.send(segment(1250))
    assert link.free_at == pytest.approx(0.001)
    env.run()
    assert log == [pytest.approx(0.021)]


def test_segments_queue_and_arrive_in_order():
    """Three simultaneous segments leave one after the other."""
    env, log = Environment(), []
    link = link_to(env, 20.0, lambda arrived: log.append((arrived.wire_bytes, round(env.now, 9))))
    for size in (1250, 2500, 125):
        link.send(segment(size))
    assert (len(link.flying), link.in_flight_bytes) == (3, 3875)
    env.run()
    assert log == [(1250, 0.021), (2500, 0.023), (125, 0.0231)]
    assert (len(link.flying), link.in_flight_bytes) == (0, 0)


def test_an_idle_link_starts_immediately():
    """Earlier transmissions do not delay later segments."""
    env, log = Environment(), []
    link = link_to(env, 0.0, lambda _: log.append(env.now))
    link.send(segment(1250))
    env.run(until=5.0)
    link.send(segment(1250))
    env.run()
    assert log == [pytest.approx(0.001), pytest.approx(5.001)]


def test_observers_are_called_when_a_segment_is_queued():
    """The call has link, time, arrival time and segment. The link is then busy until the segment is sent."""
    env, calls = Environment(), []
    link = link_to(env, 20.0, lambda _: None, lambda *event: calls.append((*event, event[0].free_at)))
    first, second = segment(1250), segment(2500)
    link.send(first)
    link.send(second)
    assert calls == [
        (link, 0.0, pytest.approx(0.021), first, pytest.approx(0.001)),
        (link, 0.0, pytest.approx(0.023), second, pytest.approx(0.003)),
    ]


def test_two_links_in_series_deliver_at_the_times_that_an_event_per_arrival_gives():
    """Arrivals of random bursts are bit-for-bit equal, with a third of the events."""
    rng, arrivals, events = np.random.default_rng(2), list[list[tuple[float, int]]](), list[int]()
    times_s = np.cumsum(rng.exponential(0.002, 200)).tolist()
    sizes = rng.integers(40, 1500, 200).tolist()
    for in_one in (True, False):
        env, log, steps = Environment(), list[tuple[float, int]](), 0
        second = link_to(
            env, 20.0, lambda arrived, env=env, log=log: log.append((env.now, arrived.wire_bytes))
        )
        first = link_to(env, 0.1, second.send)
        way = Uplink(env, first, second) if in_one else first
        for time_s, size in zip(times_s, sizes, strict=True):
            env.timeout(time_s).callbacks.append(
                partial(lambda link, size, _: link.send(segment(size)), way, size)
            )
        while env.peek() < inf:
            env.step()
            steps += 1
        arrivals.append(log)
        events.append(steps - len(times_s))
    assert arrivals[0] == arrivals[1]
    assert events == [95, 280]  # there are 200 and 400 arrivals, some of which share an event


class OneByOne(Link):
    """Link with one event per arrival."""

    def _arrive(self, _):
        segment = self.flying.popleft()[1]
        if self.flying:
            self.arrival.arm(self.flying[0][0])
        self.deliver(segment)


def happened(kind):
    """Return the ordered events of three links of *kind* that answer each other, and of a process."""
    env, log, sizes = Environment(), list[tuple[str, float, int]](), np.random.default_rng(3)
    links = [kind(env, "wired up", LinkParameters(8.0, latency_ms)) for latency_ms in (1.0, 1.0, 0.0)]

    def deliver(number, arrived):
        log.append((f"link {number}", env.now, arrived.wire_bytes))
        if len(log) < 2000:
            env.timeout(float(sizes.integers(3)) / 1000).callbacks.append(
                lambda _: log.append(("timeout", env.now, arrived.wire_bytes))
            )
            for _ in range(sizes.integers(3)):
                links[sizes.integers(3)].send(segment(1000 * int(sizes.integers(3))))

    for number, link in enumerate(links):
        link.deliver = partial(deliver, number)
        for _ in range(20):
            link.send(segment(1000))
    env.run()
    return log


def test_segments_sent_as_a_train_keep_their_order_among_simultaneous_events():
    """Times are whole milliseconds, so most events coincide; these run in the order of scheduling."""
    log = happened(Link)
    assert len(log) > 2000
    assert sum(before[1] == after[1] for before, after in pairwise(log)) > 1000
    assert log == happened(OneByOne)

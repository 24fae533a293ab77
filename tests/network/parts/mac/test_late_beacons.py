"""Beacons delayed by a busy channel: a dozing station listens from the due time on."""

from __future__ import annotations

import numpy as np
import pytest

from psm_sim.policies import make_policy
from tests.network.parts.mac.air_bench import AirBench

PIFS_S, BEACON_S, ANSWER_S = 30e-6, 864e-6, 258e-6  # durations of 802.11b


def listened_s(bench, until_s, station=0):
    """Return the seconds awake of a station that only dozes."""
    return bench.ledgers[station].usage(until_s).awake_s


def test_a_frame_in_transmission_delays_the_beacon_until_the_ack_has_been_sent():
    """The neighbor's frame of 1311 us begins 0.5 ms before the beacon; its ACK ends 1.069 ms after it."""
    bench = AirBench(make_policy("psm"), make_policy("always-on"))
    bench.send_at(0.1995, station=1)
    bench.run()
    ((_, end_ms),) = bench.recorders[1].up
    assert 200.8 < end_ms < 200.9
    assert listened_s(bench, 1.0) == pytest.approx(end_ms / 1000 + ANSWER_S - 0.2, abs=1e-9)
    usage = bench.ledgers[0].usage(1.0)
    assert usage.awake_s + usage.asleep_s == pytest.approx(1)
    assert usage.beacons == 9


@pytest.mark.parametrize("policy", ["psm:listen_interval=3", "psm:listen_interval=5"])
def test_a_late_beacon_that_the_station_skips_costs_no_listening_time(policy):
    """The station waits for every third or fifth beacon only, and not for that of 200 ms."""
    bench = AirBench(make_policy(policy), make_policy("always-on"))
    bench.send_at(0.1995, station=1)
    bench.run()
    assert listened_s(bench, 1.0) == 0


def test_waiting_for_beacons_costs_no_listening_time_if_there_are_no_neighbors():
    """Beacons wait for a PIFS only, which the energy of a beacon includes."""
    bench = AirBench(make_policy("psm"))
    bench.run()
    assert listened_s(bench, 1.0) == 0


@pytest.mark.parametrize(("policy", "neighbors"), [("psm", 4), ("psm:listen_interval=7", 1), ("lpsm", 4)])
def test_the_time_awake_equals_that_of_a_simulation_of_every_beacon(policy, neighbors):
    """Neighbors send at random; the reference records the end of every beacon."""
    random, until_s = np.random.default_rng(neighbors), 20.0
    times_s = np.sort(random.uniform(0.05, 19.9, 6000))

    def bench_of():
        bench = AirBench(make_policy(policy), *[make_policy("always-on")] * neighbors)
        for number, time_s in enumerate(times_s):
            bench.send_at(time_s, size=int(300 + number % 1200), station=1 + number % neighbors)
        return bench

    lazy, enumerated = bench_of(), bench_of()
    ends_s: dict[float, float] = {}
    channel, grid = enumerated.bss.channel, enumerated.bss.beacons
    for number in range(1, 200):
        due_s = grid.time(number)

        def listen(due_s=due_s):
            channel.await_beacon(lambda: ends_s.setdefault(round(due_s, 6), enumerated.env.now))

        enumerated.at(due_s, listen)
    seen = lazy.run(until_s)
    enumerated.run(until_s)
    assert len(ends_s) == 199
    heard = [ends_s[round(due_ms / 1000, 6)] - due_ms / 1000 for due_ms in seen.heard]
    expected_s = sum(max(0.0, wait_s - PIFS_S - BEACON_S) for wait_s in heard)
    assert expected_s > 0.001
    assert listened_s(lazy, until_s) == pytest.approx(expected_s, abs=1e-6)


def test_a_station_does_not_wait_for_a_missed_beacon():
    """The station listens for 5 ms and dozes, however late the beacon is."""
    bench = AirBench(make_policy("psm"), make_policy("always-on"), **{"beacon.loss": 0.99})
    bench.send_at(0.1995, station=1)
    bench.run()
    missed = bench.stations[0]._radio.beacons_missed
    assert missed > 5
    assert listened_s(bench, 1.0) == pytest.approx(0.005 * missed, abs=1e-9)

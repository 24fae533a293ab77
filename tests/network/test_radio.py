"""Radio: wake-ups, received beacons and frames, and calls of the policy."""

from __future__ import annotations

from math import inf, nextafter

import pytest

from psm_sim.policies import Policy, Rest, make_policy
from tests.network.radio_bench import RadioBench


class Scripted(Policy):
    """Return rests from a list, then doze one beacon at a time; record all calls."""

    name = "scripted"

    def __init__(self, *rests):
        self.rests, self.calls, self.interruptions, self.uplinks = list(rests), [], [], []

    def rest(self, now_s, since_uplink_s, poll):
        self.calls.append((round(now_s, 6), round(since_uplink_s, 6), poll))
        return self.rests.pop(0) if self.rests else Rest()

    def uplink(self, now_s):
        self.uplinks.append(now_s)

    def interrupted(self, poll):
        self.interruptions.append(poll)


def test_static_psm_receives_every_beacon():
    """Ten beacons per second, from the first after the start."""
    bench = RadioBench(make_policy("psm"))
    assert bench.run(0.55) == [0.1, 0.2, 0.3, 0.4, 0.5]


def test_a_buffered_frame_is_delivered_at_the_next_beacon():
    """The frame is buffered at 0.23 s, and announced and retrieved at 0.3 s."""
    bench = RadioBench(make_policy("psm"))
    bench.arrive_at(0.23)
    assert bench.run(0.45) == [0.1, 0.2, 0.3, 0.4]
    assert bench.delivered == [pytest.approx(0.3)]


def test_a_beacon_announces_a_frame_that_arrives_at_the_time_of_the_beacon():
    """The beacon is the last of simultaneous events."""
    bench = RadioBench(make_policy("psm"))
    bench.arrive_at(0.3)
    bench.run(0.45)
    assert bench.delivered == [pytest.approx(0.3)]


def test_a_frame_that_arrives_at_the_time_of_a_beacon_is_in_the_poll_of_the_beacon():
    """The arrival may have been scheduled after the beacon."""
    policy = Scripted()
    bench = RadioBench(policy)
    bench.arrive_at(0.4375)
    bench.at(0.46875, lambda: bench.arrive_at(0.5))
    bench.run(0.55)
    assert max(poll.buffered_frames for _, _, poll in policy.calls if poll) == 2
    assert bench.delivered == pytest.approx([0.5, 0.5])


def test_an_idle_doze_fires_no_event():
    """SimPy's queue is empty after ten minutes of beacons without traffic."""
    bench = RadioBench(make_policy("psm"))
    bench.radio.advance(600.0)
    assert bench.env.peek() == inf
    assert len(bench.recorder.heard) == 5999


def test_the_station_wakes_to_send_and_dozes_afterwards():
    """40 bytes at 5 Mbit/s keep the radio awake for 64 us."""
    bench = RadioBench(make_policy("psm"), rate_mbps=5.0)
    bench.send_at(0.25)
    bench.run(0.4)
    assert bench.recorder.changes == [
        (0.0, False),
        (0.25, True),
        (pytest.approx(0.250064), False),
    ]


def test_no_beacon_is_charged_if_a_packet_is_sent_at_the_time_of_the_beacon():
    """The station is already awake."""
    bench = RadioBench(make_policy("psm"), rate_mbps=5.0)
    bench.send_at(0.2)
    assert bench.run(0.35) == [0.1, 0.3]


def test_a_poll_has_the_buffered_frames_and_their_arrival_times():
    """Two frames with time stamps of the access point, in a doze of two beacons."""
    policy = Scripted(Rest(beacons=2))
    bench = RadioBench(policy)
    bench.arrive_at(0.05, 1500)
    bench.arrive_at(0.12, 40)
    bench.run(0.25)
    poll = policy.calls[1][2]
    assert poll.slept_ms == pytest.approx(200)
    assert (poll.buffered_bytes, poll.buffered_frames) == (1540, 2)
    assert poll.arrivals == ((pytest.approx(50), 1500), (pytest.approx(120), 40))


def test_the_decision_after_an_uplink_packet_has_no_poll():
    """The policy gets the time since the packet."""
    policy = Scripted()
    bench = RadioBench(policy, rate_mbps=5.0)
    bench.send_at(0.25)
    bench.run(0.35)
    assert policy.uplinks == [0.25]
    calls = {now: (since, poll) for now, since, poll in policy.calls}
    assert calls[0.250064] == (0.000064, None)
    assert calls[0.3][0] == pytest.approx(0.05)
    assert calls[0.3][1].buffered_frames == 0


def test_the_interrupted_hook_is_called_with_the_buffered_frames():
    """The uplink packet at 0.25 s retrieves the frame of 0.22 s."""
    policy = Scripted()
    bench = RadioBench(policy)
    bench.arrive_at(0.22)
    bench.send_at(0.25)
    bench.run(0.29)
    (poll,) = policy.interruptions
    assert (poll.buffered_frames, poll.slept_ms) == (1, pytest.approx(50))
    assert bench.delivered == [pytest.approx(0.25)]


def test_a_beacon_after_an_interrupted_doze_has_no_tim_bit():
    """The frame of 0.22 s is retrieved at 0.25 s, so the beacon at 0.3 s announces nothing."""
    bench = RadioBench(make_policy("psm"), rate_mbps=5.0)
    bench.arrive_at(0.22)
    bench.send_at(0.25)
    assert bench.run(0.45) == [0.1, 0.2, 0.3, 0.4]
    assert bench.recorder.changes == [(0.0, False), (0.25, True), (pytest.approx(0.2524), False)]


def test_a_packet_sent_while_awake_begins_a_new_rest():
    """The rest at 0 s is 0.5 s awake. A new rest begins after the packet at 0.3 s, which takes 64 us."""
    policy = Scripted(Rest(awake_s=0.5), Rest(awake_s=0.5))
    bench = RadioBench(policy, rate_mbps=5.0)
    bench.send_at(0.3)
    bench.run(0.85)
    assert policy.calls == [(0.0, 0.0, None), (0.300064, 0.000064, None)]
    assert bench.recorder.changes == [(pytest.approx(0.800064), False)]


def test_buffered_frames_wait_for_the_beacon_if_there_is_no_release_on_uplink():
    """The packet at 0.25 s retrieves nothing."""
    bench = RadioBench(make_policy("psm"), release_on_uplink=False)
    bench.arrive_at(0.22)
    bench.send_at(0.25)
    bench.run(0.35)
    assert bench.delivered == [pytest.approx(0.3)]


def test_a_station_that_stays_awake_receives_frames_without_release_on_uplink():
    """BSD stays awake after an uplink packet, so no frame waits for a beacon."""
    bench = RadioBench(make_policy("bsd"), release_on_uplink=False, rate_mbps=5.0)
    bench.arrive_at(1.99)
    bench.send_at(2.01)
    bench.arrive_at(2.02)
    bench.run(2.3)
    assert bench.delivered == [pytest.approx(2.010064 + 0.0024), pytest.approx(2.02 + 0.0024)]


def test_frames_are_delivered_immediately_while_the_radio_stays_awake():
    """The rest is 50 ms awake, so a frame at 0.03 s passes, and a frame at 0.06 s waits for the beacon."""
    policy = Scripted(Rest(awake_s=0.05), Rest(awake_s=0.0))
    bench = RadioBench(policy)
    bench.arrive_at(0.03)
    bench.arrive_at(0.06)
    bench.run(0.15)
    assert bench.delivered == [pytest.approx(0.03, abs=1e-6), pytest.approx(0.1, abs=1e-6)]
    assert policy.calls[1][2] is None


def test_a_rest_awake_after_a_beacon_is_charged_at_the_power_awake():
    """The radio wakes at 0.1 s, stays awake for 20 ms, and dozes until the next beacon."""
    policy = Scripted(Rest(), Rest(awake_s=0.02))
    bench = RadioBench(policy)
    bench.run(0.25)
    assert bench.recorder.changes == [(0.0, False), (0.1, True), (pytest.approx(0.12), False)]
    usage = bench.ledger.usage(0.25)
    assert (usage.awake_s, usage.beacons) == (pytest.approx(0.02), 2)


def test_a_frame_passes_while_the_radio_stays_awake_after_a_beacon():
    """The radio is awake from 0.1 to 0.15 s, so a frame at 0.12 s does not wait for the beacon at 0.2 s."""
    bench = RadioBench(Scripted(Rest(), Rest(awake_s=0.05)))
    bench.at(0.05, lambda: bench.radio.advance(0.05))  # the doze is evaluated up to 0.05 s
    bench.arrive_at(0.12)
    assert bench.run(0.25) == [0.1, 0.2]
    assert bench.delivered == [pytest.approx(0.12, abs=1e-6)]


def test_the_always_on_policy_never_dozes():
    """The radio reports no beacons."""
    bench = RadioBench(make_policy("always-on"))
    bench.arrive_at(5.03)
    assert bench.run(10.0) == []
    assert bench.delivered == [pytest.approx(5.03)]
    assert bench.ledger.usage(10.0).asleep_s == 0.0


def bench_without_release_on_uplink(*rests) -> tuple[RadioBench, Scripted, float]:
    """Return a bench that sends at 0.25 s with a frame buffered, its policy, and the end of its packet."""
    policy = Scripted(Rest(), Rest(), Rest(), *rests)
    bench = RadioBench(policy, release_on_uplink=False, rate_mbps=5.0)
    bench.arrive_at(0.22)
    bench.send_at(0.25)
    bench.env.run(until=0.2500001)
    return bench, policy, 0.25 + 40 * 8 / 5e6


def test_a_station_without_release_on_uplink_decides_after_its_last_packet():
    """A second packet follows at 0.25003 s: two transmissions of 64 us, one decision, the beacon at 0.3 s."""
    bench, policy, idle_s = bench_without_release_on_uplink()
    bench.send_at(0.25003)
    bench.run(0.35)
    decided_s = [now for now, _, _ in policy.calls if 0.25 < now < 0.3]
    assert decided_s == [pytest.approx(idle_s + 40 * 8 / 5e6, abs=1e-6)]
    assert bench.delivered == [pytest.approx(0.3 + 0.0024)]


def test_a_station_without_release_on_uplink_decides_once_when_its_link_is_idle():
    """A call of advance() at this time changes nothing. Another decision follows the frame."""
    bench, policy, idle_s = bench_without_release_on_uplink(Rest(awake_s=0.02))
    bench.at(idle_s, lambda: bench.radio.advance(nextafter(bench.env.now, inf)))
    bench.run(0.29)
    received_s = idle_s + 0.0024
    decided_s = [now for now, _, _ in policy.calls if now > 0.25]
    assert decided_s == [pytest.approx(idle_s, abs=1e-6), pytest.approx(received_s, abs=1e-6)]
    assert bench.delivered == [pytest.approx(received_s)]

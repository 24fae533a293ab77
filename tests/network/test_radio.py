"""Radio: when it wakes, what it hears, and what its policy is asked."""

from __future__ import annotations

from math import inf, nextafter

import pytest

from psm_sim.policies import Policy, Rest, make_policy
from tests.network.radio_bench import RadioBench


class Scripted(Policy):
    """Answers from a list, then dozes one beacon at a time; keeps what it was asked."""

    name = "scripted"

    def __init__(self, *rests):
        self.rests, self.asked, self.interruptions, self.uplinks = list(rests), [], [], []

    def rest(self, now_s, since_uplink_s, poll):
        self.asked.append((round(now_s, 6), round(since_uplink_s, 6), poll))
        return self.rests.pop(0) if self.rests else Rest()

    def uplink(self, now_s):
        self.uplinks.append(now_s)

    def interrupted(self, poll):
        self.interruptions.append(poll)


def test_static_psm_hears_every_beacon():
    """Ten beacons per second, from the first after the start."""
    bench = RadioBench(make_policy("psm"))
    assert bench.run(0.55) == [0.1, 0.2, 0.3, 0.4, 0.5]


def test_a_held_frame_waits_for_the_next_beacon_and_is_delivered_then():
    """Held at 0.23, announced and fetched at 0.3."""
    bench = RadioBench(make_policy("psm"))
    bench.arrive_at(0.23)
    assert bench.run(0.45) == [0.1, 0.2, 0.3, 0.4]
    assert bench.delivered == [pytest.approx(0.3)]


def test_a_frame_that_arrives_with_the_beacon_is_announced_by_it():
    """At equal times the beacon comes last."""
    bench = RadioBench(make_policy("psm"))
    bench.arrive_at(0.3)
    bench.run(0.45)
    assert bench.delivered == [pytest.approx(0.3)]


def test_a_frame_that_arrives_with_the_beacon_for_another_is_in_its_poll():
    """Also if its arrival was scheduled after the beacon: at equal times the beacon comes last."""
    policy = Scripted()
    bench = RadioBench(policy)
    bench.arrive_at(0.4375)
    bench.at(0.46875, lambda: bench.arrive_at(0.5))
    bench.run(0.55)
    assert max(poll.buffered_frames for _, _, poll in policy.asked if poll) == 2
    assert bench.delivered == pytest.approx([0.5, 0.5])


def test_an_idle_doze_fires_no_event():
    """Nothing held, nothing heard: ten minutes of beacons, and SimPy's queue is empty."""
    bench = RadioBench(make_policy("psm"))
    bench.radio.advance(600.0)
    assert bench.env.peek() == inf
    assert len(bench.recorder.heard) == 5999


def test_the_station_wakes_at_once_to_send_and_dozes_when_it_has_sent():
    """40 bytes at 5 Mbit/s keep the radio awake 64 us."""
    bench = RadioBench(make_policy("psm"), rate_mbps=5.0)
    bench.send_at(0.25)
    bench.run(0.4)
    assert bench.recorder.changes == [
        (0.0, False),
        (0.25, True),
        (pytest.approx(0.250064), False),
    ]


def test_a_packet_sent_with_the_beacon_finds_the_station_awake_for_it():
    """No beacon is charged to a station that is awake."""
    bench = RadioBench(make_policy("psm"), rate_mbps=5.0)
    bench.send_at(0.2)
    assert bench.run(0.35) == [0.1, 0.3]


def test_the_poll_tells_what_was_held_and_when_it_came():
    """Slept since the last beacon; two frames, stamped by the access point."""
    policy = Scripted(Rest(beacons=2))
    bench = RadioBench(policy)
    bench.arrive_at(0.05, 1500)
    bench.arrive_at(0.12, 40)
    bench.run(0.25)
    poll = policy.asked[1][2]
    assert poll.slept_ms == pytest.approx(200)
    assert (poll.buffered_bytes, poll.buffered_frames) == (1540, 2)
    assert poll.arrivals == ((pytest.approx(50), 1500), (pytest.approx(120), 40))


def test_after_an_uplink_packet_there_is_no_poll():
    """And the policy is told the time since it."""
    policy = Scripted()
    bench = RadioBench(policy, rate_mbps=5.0)
    bench.send_at(0.25)
    bench.run(0.35)
    assert policy.uplinks == [0.25]
    asked = {now: (since, poll) for now, since, poll in policy.asked}
    assert asked[0.250064] == (0.000064, None)
    assert asked[0.3][0] == pytest.approx(0.05)
    assert asked[0.3][1].buffered_frames == 0


def test_a_doze_cut_short_is_told_with_what_was_held():
    """The uplink packet at 0.25 finds the frame that came at 0.22."""
    policy = Scripted()
    bench = RadioBench(policy)
    bench.arrive_at(0.22)
    bench.send_at(0.25)
    bench.run(0.29)
    (poll,) = policy.interruptions
    assert (poll.buffered_frames, poll.slept_ms) == (1, pytest.approx(50))
    assert bench.delivered == [pytest.approx(0.25)]


def test_the_beacon_that_a_cut_doze_would_have_woken_for_does_not_wake_the_station():
    """The frame that came at 0.22 is fetched at 0.25, so the beacon at 0.3 names nobody."""
    bench = RadioBench(make_policy("psm"), rate_mbps=5.0)
    bench.arrive_at(0.22)
    bench.send_at(0.25)
    assert bench.run(0.45) == [0.1, 0.2, 0.3, 0.4]
    assert bench.recorder.changes == [(0.0, False), (0.25, True), (pytest.approx(0.2524), False)]


def test_a_packet_sent_while_the_radio_waits_awake_begins_a_new_rest():
    """Asked at 0 to wait 0.5 s; the packet at 0.3 takes 64 us, then it is asked again and waits anew."""
    policy = Scripted(Rest(awake_s=0.5), Rest(awake_s=0.5))
    bench = RadioBench(policy, rate_mbps=5.0)
    bench.send_at(0.3)
    bench.run(0.85)
    assert policy.asked == [(0.0, 0.0, None), (0.300064, 0.000064, None)]
    assert bench.recorder.changes == [(pytest.approx(0.800064), False)]


def test_held_frames_may_be_made_to_wait_for_the_beacon():
    """``release_on_uplink = false``: the packet at 0.25 fetches nothing."""
    bench = RadioBench(make_policy("psm"), release_on_uplink=False)
    bench.arrive_at(0.22)
    bench.send_at(0.25)
    bench.run(0.35)
    assert bench.delivered == [pytest.approx(0.3)]


def test_a_deaf_station_that_stays_awake_begins_to_listen_when_the_link_is_idle():
    """BSD stays awake after an uplink packet: then nothing needs to wait for a beacon."""
    bench = RadioBench(make_policy("bsd"), release_on_uplink=False, rate_mbps=5.0)
    bench.arrive_at(1.99)
    bench.send_at(2.01)
    bench.arrive_at(2.02)
    bench.run(2.3)
    assert bench.delivered == [pytest.approx(2.010064 + 0.0024), pytest.approx(2.02 + 0.0024)]


def test_frames_pass_at_once_while_the_radio_stays_awake():
    """A rest of 50 ms awake: a frame at 0.03 passes, one at 0.06 waits for the beacon."""
    policy = Scripted(Rest(awake_s=0.05), Rest(awake_s=0.0))
    bench = RadioBench(policy)
    bench.arrive_at(0.03)
    bench.arrive_at(0.06)
    bench.run(0.15)
    assert bench.delivered == [pytest.approx(0.03, abs=1e-6), pytest.approx(0.1, abs=1e-6)]
    assert policy.asked[1][2] is None


def test_a_rest_awake_after_a_beacon_is_charged_as_awake():
    """Wakes at 0.1, stays 20 ms, dozes to the next beacon."""
    policy = Scripted(Rest(), Rest(awake_s=0.02))
    bench = RadioBench(policy)
    bench.run(0.25)
    assert bench.recorder.changes == [(0.0, False), (0.1, True), (pytest.approx(0.12), False)]
    usage = bench.ledger.usage(0.25)
    assert (usage.awake_s, usage.beacons) == (pytest.approx(0.02), 2)


def test_a_frame_passes_while_the_radio_stays_awake_after_a_beacon():
    """Awake from 0.1 to 0.15 s: a frame of 0.12 s does not wait for the beacon at 0.2 s."""
    bench = RadioBench(Scripted(Rest(), Rest(awake_s=0.05)))
    bench.at(0.05, lambda: bench.radio.advance(0.05))  # it dozes, as far as anyone has looked
    bench.arrive_at(0.12)
    assert bench.run(0.25) == [0.1, 0.2]
    assert bench.delivered == [pytest.approx(0.12, abs=1e-6)]


def test_always_on_never_dozes():
    """And hears no beacon as a dozing station does."""
    bench = RadioBench(make_policy("always-on"))
    bench.arrive_at(5.03)
    assert bench.run(10.0) == []
    assert bench.delivered == [pytest.approx(5.03)]
    assert bench.ledger.usage(10.0).asleep_s == 0.0


def deaf_with_a_frame_held(*rests) -> tuple[RadioBench, Scripted, float]:
    """Return a bench that is deaf from 0.25 s, a frame held; its policy; and when its link falls idle."""
    policy = Scripted(Rest(), Rest(), Rest(), *rests)
    bench = RadioBench(policy, release_on_uplink=False, rate_mbps=5.0)
    bench.arrive_at(0.22)
    bench.send_at(0.25)
    bench.env.run(until=0.2500001)
    return bench, policy, 0.25 + 40 * 8 / 5e6


def test_a_deaf_station_that_sends_again_is_asked_when_all_is_sent():
    """A second packet at 0.25003 s: two transmissions of 64 us, one question, then the beacon at 0.3 s."""
    bench, policy, idle_s = deaf_with_a_frame_held()
    bench.send_at(0.25003)
    bench.run(0.35)
    asked = [now for now, _, _ in policy.asked if 0.25 < now < 0.3]
    assert asked == [pytest.approx(idle_s + 40 * 8 / 5e6, abs=1e-6)]
    assert bench.delivered == [pytest.approx(0.3 + 0.0024)]


def test_a_deaf_station_is_asked_once_even_if_it_is_looked_at_as_its_link_falls_idle():
    """As happens when every beacon is an event: it fetches the frame, and is asked again once it has it."""
    bench, policy, idle_s = deaf_with_a_frame_held(Rest(awake_s=0.02))
    bench.at(idle_s, lambda: bench.radio.advance(nextafter(bench.env.now, inf)))
    bench.run(0.29)
    received_s = idle_s + 0.0024
    asked = [now for now, _, _ in policy.asked if now > 0.25]
    assert asked == [pytest.approx(idle_s, abs=1e-6), pytest.approx(received_s, abs=1e-6)]
    assert bench.delivered == [pytest.approx(received_s)]

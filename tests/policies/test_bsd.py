"""Bounded Slowdown: the published schedules, and the bound on the slowdown."""

from __future__ import annotations

from itertools import pairwise
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psm_sim.common.errors import InputError
from psm_sim.policies import Policy, Poll, make_policy
from psm_sim.policies.bsd import Bsd
from tests.network.radio_bench import RadioBench

BEACON_S = 0.1
EPSILON_S = 2e-9


def schedule(policy: Policy, phase_s: float, until_s: float, beacon_s: float = BEACON_S):
    """Yield the dozes (start, end) after a packet sent *phase_s* after beacon 1000, in s since the packet."""
    sent_s = 1000 * beacon_s + phase_s
    policy.start(beacon_s)
    now_s, poll = sent_s, None
    while now_s - sent_s < until_s:
        rest = policy.rest(now_s, now_s - sent_s, poll)
        doze_s = now_s + rest.awake_s
        wake_s = policy.beacon_grid.time(policy.beacon_grid.after(doze_s) + rest.beacons - 1)
        yield doze_s - sent_s, wake_s - sent_s
        now_s, poll = wake_s, Poll(1000 * (wake_s - doze_s))


def wakes_ms(policy, phase_s, count):
    wakes = []
    for _, wake_s in schedule(policy, phase_s, inf):
        wakes.append(round(1000 * wake_s, 3))
        if len(wakes) == count:
            return wakes
    return wakes


@pytest.mark.parametrize(
    ("p", "awake_ms", "expected_ms"),
    [
        (1.0, 100, [200, 400, 800, 1600, 2500, 3400, 4300]),
        (0.5, 200, [300, 400, 600, 900, 1300, 1900, 2800, 3700]),
        (0.2, 500, [*range(600, 1001, 100), 1200, 1400, 1600, 1900, 2200, 2600, 3100, 3700, 4400, 5200]),
        (
            0.1,
            1000,
            [*range(1100, 2001, 100), 2200, 2400, 2600, 2800, 3000, 3300, 3600, 3900, 4200, 4600, 5000],
        ),
    ],
)
def test_a_request_at_the_time_of_a_beacon_has_the_hand_computed_schedule(p, awake_ms, expected_ms):
    """The radio is awake for T / p, then wakes at the hand-computed times, with the cap of 900 ms."""
    assert wakes_ms(Bsd(p), 0.0, len(expected_ms)) == expected_ms
    first_doze_s, _ = next(iter(schedule(Bsd(p), 0.0, inf)))
    assert first_doze_s == pytest.approx(awake_ms / 1000)


@pytest.mark.parametrize(
    ("p", "expected_ms"), [(1.0, [150, 250, 450, 850, 1650]), (0.5, [250, 350, 450, 650, 950])]
)
def test_a_request_between_beacons_has_the_hand_computed_schedule(p, expected_ms):
    """The request is sent 50 ms before a beacon."""
    assert wakes_ms(Bsd(p), 0.05, len(expected_ms)) == expected_ms


@settings(max_examples=500)
@given(
    reply_s=st.floats(1e-6, 60.0),
    p=st.floats(0.02, 5.0),
    phase_s=st.floats(0.0, 0.1),
    cap_ms=st.sampled_from([None, 900.0, 350.0, 100.0, 60.0]),
)
def test_every_reply_takes_at_most_one_plus_p_times_as_long(reply_s, p, phase_s, cap_ms):
    """The bound is the published one, for any reply time, p and phase.

    A reply within T / p is not delayed.
    """
    for doze_s, wake_s in schedule(Bsd(p, cap_ms), phase_s, reply_s + 1e-9):
        if doze_s < reply_s <= wake_s:
            assert wake_s <= (1 + p) * reply_s + EPSILON_S
            assert reply_s > BEACON_S / p - EPSILON_S


@settings(max_examples=100)
@given(p=st.floats(0.05, 4.0), phase_s=st.floats(0.0, 0.1), cap_ms=st.sampled_from([900.0, 400.0, 130.0]))
def test_dozes_lengthen_up_to_the_cap_and_end_at_beacons(p, phase_s, cap_ms):
    """The dozes are those from the first wake-up until the next uplink packet."""
    dozes = list(schedule(Bsd(p, cap_ms), phase_s, 30.0))
    lengths = [wake - doze for doze, wake in dozes]
    assert max(lengths) <= cap_ms / 1000 + EPSILON_S
    assert all(later >= earlier - EPSILON_S for earlier, later in pairwise(lengths[1:]))
    for _, wake_s in dozes:
        beacons = (wake_s + phase_s) / BEACON_S
        assert beacons == pytest.approx(round(beacons), abs=1e-6)


@settings(max_examples=100)
@given(p=st.floats(0.1, 2.0), phase_s=st.floats(0.0, 0.1))
def test_a_rest_marked_as_repeated_equals_the_rest_at_every_later_beacon(p, phase_s):
    """The policy would return an equal rest at each of these beacons."""
    policy = Bsd(p)
    promised = None
    policy.start(BEACON_S)
    now_s = sent_s = 100 + phase_s
    while now_s < sent_s + 40:
        rest = policy.rest(now_s, now_s - sent_s, None)
        if promised is not None:
            assert rest == promised
        promised = rest if rest.repeat else promised
        now_s = policy.beacon_grid.time(policy.beacon_grid.after(now_s + rest.awake_s) + rest.beacons - 1)
    assert promised is not None


def test_without_a_cap_a_doze_lasts_up_to_p_times_the_wait():
    """Dozes double for p = 1 and ``max_sleep_ms=none``."""
    assert wakes_ms(Bsd(1.0, None), 0.0, 7) == [200, 400, 800, 1600, 3200, 6400, 12800]


def test_the_schedule_scales_with_the_beacon_interval():
    """Real access points have 102.4 ms."""
    wakes_s = [round(wake, 4) for _, wake in schedule(Bsd(1.0, None), 0.0, 1.0, beacon_s=0.1024)]
    assert wakes_s == [0.2048, 0.4096, 0.8192, 1.6384]


@pytest.mark.parametrize("spec", ["bsd:p=0", "bsd:p=-1", "bsd:p=nan", "bsd:p=inf", "bsd:p=much"])
def test_p_must_be_above_zero(spec):
    """The bound for p = 0 would forbid every doze."""
    with pytest.raises(InputError, match=r"policy bsd: p must be a number > 0.*, got"):
        make_policy(spec)


@pytest.mark.parametrize(("release", "delivered_s"), [(True, 0.1064), (False, 0.8032)])
def test_bsd_keeps_its_delay_bound_only_with_release_on_uplink(release, delivered_s):
    """A reply that arrives 21 ms after its request must be retrieved within 126 ms, because p is 5.

    On 0.1 Mbit/s, 40 B take 3.2 ms. The radio is awake to 20 ms and dozes to 100 ms, but sends 1,500 B at 99
    ms for 120 ms. T / p is then over, and a doze of five times 120 ms is allowed, to 800 ms.
    """
    bench = RadioBench(Bsd(5.0), release_on_uplink=release, rate_mbps=0.1)
    bench.at(1.0, lambda: bench.station.send(bench.frame(40)))
    bench.arrive_at(1.021, size=40)
    bench.at(1.099, lambda: bench.station.send(bench.frame(1500)))
    bench.run(2.5)
    assert bench.delivered[0] - 1.0 == pytest.approx(delivered_s, abs=0.005)
    assert (bench.delivered[0] - 1.0 <= 6 * 0.021) is release

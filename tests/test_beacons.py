"""Beacon grid: numbers and times of beacons, compared with exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, inf, nextafter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from psm_sim.beacons import TOLERANCE_S, Beacons

GRIDS = st.sampled_from([0.1, 0.1024, 0.037, 0.02, 1.0, 1 / 3]).map(Beacons)
NUMBERS = st.integers(0, 10**6)
TIMES_S = st.floats(0, 1e5)


def test_the_beacons_around_a_time_are_the_hand_computed_beacons():
    """The time 0.25 s is between the beacons 2 and 3 of a grid of 0.1 s."""
    beacons = Beacons(0.1)
    assert (beacons.before(0.25), beacons.after(0.25)) == (2, 3)
    assert (beacons.time(3), beacons.on(0.25)) == (3 * 0.1, False)


@given(GRIDS, NUMBERS)
def test_a_beacon_is_already_past_at_its_own_time(beacons, number):
    """The time is on the grid. The beacon is neither before nor after it, and before the next float."""
    time_s = beacons.time(number)
    assert beacons.on(time_s)
    assert beacons.after(time_s) == number + 1
    assert beacons.before(time_s) == number - 1
    assert beacons.before(nextafter(time_s, inf)) == number


@given(GRIDS, NUMBERS, st.floats(-0.9, 0.9))
def test_a_time_within_the_tolerance_counts_as_the_time_of_the_beacon(beacons, number, share):
    """The time is up to 0.9 ns off, on either side."""
    time_s = beacons.time(number) + share * TOLERANCE_S
    assert beacons.on(time_s)
    assert beacons.after(time_s) == number + 1


@given(GRIDS, NUMBERS, st.sampled_from([-2.0, 2.0]))
def test_a_time_beyond_the_tolerance_does_not_count_as_the_time_of_the_beacon(beacons, number, share):
    """A beacon is in the future 2 ns before its time, and past 2 ns after it."""
    time_s = beacons.time(number) + share * TOLERANCE_S
    assert not beacons.on(time_s)
    assert beacons.after(time_s) == number + (share > 0)


@given(GRIDS, TIMES_S)
def test_beacon_numbers_at_times_between_beacons_agree_with_exact_arithmetic(beacons, time_s):
    """The reference uses fractions, for any time that is not within the tolerance of a beacon."""
    exact = Fraction(time_s) / Fraction(beacons.interval_s)
    if not beacons.on(time_s):
        assert beacons.after(time_s) == floor(exact) + 1
        assert beacons.before(time_s) == ceil(exact) - 1


@given(GRIDS, TIMES_S)
def test_the_last_beacon_before_a_time_is_found_without_a_tolerance(beacons, time_s):
    """The beacon is before the time, and the next one is not."""
    number = beacons.before(time_s)
    assert beacons.time(number) < time_s or number == -1
    assert beacons.time(number + 1) >= time_s


@given(GRIDS, st.lists(TIMES_S, min_size=1, max_size=20))
def test_arrays_of_times_give_the_same_beacons_as_single_times(beacons, times_s):
    """Numbers are bit-for-bit equal; the last beacon until a time precedes the next one."""
    times = np.array(times_s)
    assert beacons.times_after(times).tolist() == [beacons.time(beacons.after(time_s)) for time_s in times_s]
    until = [beacons.time(beacons.after(time_s) - 1) for time_s in times_s]
    assert beacons.times_until(times).tolist() == until

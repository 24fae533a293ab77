"""Doze: the beacons that a radio wakes for, and the poll of what it sees."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psm_sim.beacons import Beacons
from psm_sim.network.doze import Doze
from psm_sim.policies import Poll, Rest
from psm_sim.policies.base import Plan
from tests.network.radio_bench import RadioBench


def begun(interval_s: float, since_s: float, beacons: int) -> Doze:
    doze = Doze(Beacons(interval_s))
    doze.begin(since_s, Rest(beacons=beacons, repeat=True))
    return doze


def test_a_hand_computed_case():
    """Begun at 0.25 s for two beacons of 0.1 s: it ends at 0.4 s, and later ones every 0.2 s."""
    doze = begun(0.1, 0.25, 2)
    assert (doze.since_s, doze.wakes_s, doze.every_s) == (0.25, pytest.approx(0.4), pytest.approx(0.2))
    assert doze.load_promised_doze()
    assert doze.skip_empty_beacons(1.05) == 4
    assert (doze.since_s, doze.wakes_s) == (pytest.approx(1.0), pytest.approx(1.2))


@given(
    interval_s=st.sampled_from([0.1, 0.1024, 0.037]),
    since_s=st.floats(0, 1e4),
    beacons=st.integers(1, 12),
    length_s=st.floats(0, 100),
)
def test_sleeping_on_in_one_step_is_sleeping_on_beacon_by_beacon(interval_s, since_s, beacons, length_s):
    """The same number of beacons, the same begin of the doze and next beacon, to the last bit."""
    at_once, singly = begun(interval_s, since_s, beacons), begun(interval_s, since_s, beacons)
    now_s, count = singly.wakes_s + 1e-6 + length_s, 0
    while singly.wakes_s < now_s:
        singly.begin(singly.wakes_s, Rest(beacons=beacons, repeat=True))
        count += 1
    assert at_once.skip_empty_beacons(now_s) == count
    assert (at_once.since_s, at_once.wakes_s) == (singly.since_s, singly.wakes_s)


def test_a_poll_gives_offsets_from_the_begin_of_the_doze():
    """Two frames, 10 and 30 ms after it began; none is an empty poll."""
    doze = begun(0.1, 2.0, 1)
    poll = doze.end(2.1, [(2.01, RadioBench.frame(40)), (2.03, RadioBench.frame(1500))])
    assert (poll.slept_ms, poll.buffered_bytes, poll.buffered_frames) == (pytest.approx(100), 1540, 2)
    assert poll.arrivals == ((pytest.approx(10), 40), (pytest.approx(30), 1500))
    assert doze.end(2.1) == Poll(1000 * (2.1 - 2.0))


class Written(Plan):
    """A plan that was written down, and what is told of it."""

    def __init__(self, *dozes: tuple[int, float]) -> None:
        self.written, self.told = dozes, list[tuple[int, int]]()

    def dozes(self):
        """Yield what was written down."""
        return iter(self.written)

    def followed(self, heard, until):
        """Note it."""
        self.told.append((heard, until))


def followed(plan: Plan, *stops_s: float) -> list[float]:
    """Return the beacons heard unasked until each of these times in turn."""
    doze, heard = Doze(Beacons(1.0)), list[float]()
    doze.begin(0.5, Rest(beacons=2, plan=plan))
    for stop_s in stops_s:
        while doze.wakes_s < stop_s and doze.load_promised_doze():
            first_s, count = doze.wakes_s, doze.skip_empty_beacons(stop_s)
            heard += [first_s + number * doze.every_s for number in range(count)]
    doze.end(doze.wakes_s)
    return heard


def test_a_plan_is_followed_doze_by_doze():
    """To beacon 2, then two dozes of 3 beacons and three of 5: the last one ends at beacon 23, unheard."""
    plan = Written((3, 2), (5, 3))
    assert followed(plan, 100.0) == [2.0, 5.0, 8.0, 13.0, 18.0]
    assert plan.told == [(5, 23)]


@given(st.lists(st.floats(0, 30), max_size=6))
def test_a_plan_followed_step_by_step_is_told_as_one(stops_s):
    """However often the station looks, it hears the same beacons and says so once."""
    stops_s = sorted(stops_s)
    plan, at_once = Written((3, 2), (5, 3)), Written((3, 2), (5, 3))
    assert followed(plan, *stops_s) == followed(at_once, *stops_s[-1:])
    assert plan.told == at_once.told


def test_a_plan_of_which_nothing_was_followed_is_told_nothing():
    """Frames at the end of the first doze end it; a plan of no dozes is none."""
    for plan in (Written((3, 2)), Written()):
        assert followed(plan, 2.0) == []
        assert plan.told == []
    assert followed(Written(), 100.0) == []

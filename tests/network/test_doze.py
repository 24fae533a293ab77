"""Beacons for which a dozing radio wakes, and the poll that they give."""

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


def test_a_doze_ends_at_the_hand_computed_beacon():
    """A doze of two beacons of 0.1 s from 0.25 s ends at 0.4 s; the next ones end every 0.2 s."""
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
def test_a_fast_forward_equals_dozing_beacon_by_beacon(interval_s, since_s, beacons, length_s):
    """The number of beacons, the start of the doze and the next beacon are bit-for-bit identical."""
    at_once, singly = begun(interval_s, since_s, beacons), begun(interval_s, since_s, beacons)
    now_s, count = singly.wakes_s + 1e-6 + length_s, 0
    while singly.wakes_s < now_s:
        singly.begin(singly.wakes_s, Rest(beacons=beacons, repeat=True))
        count += 1
    assert at_once.skip_empty_beacons(now_s) == count
    assert (at_once.since_s, at_once.wakes_s) == (singly.since_s, singly.wakes_s)


def test_arrival_times_in_a_poll_are_offsets_from_the_start_of_the_doze():
    """Two frames arrive 10 and 30 ms after the start; no frame gives an empty poll."""
    doze = begun(0.1, 2.0, 1)
    poll = doze.end(2.1, [(2.01, RadioBench.frame(40)), (2.03, RadioBench.frame(1500))])
    assert (poll.slept_ms, poll.buffered_bytes, poll.buffered_frames) == (pytest.approx(100), 1540, 2)
    assert poll.arrivals == ((pytest.approx(10), 40), (pytest.approx(30), 1500))
    assert doze.end(2.1) == Poll(1000 * (2.1 - 2.0))


class Listed(Plan):
    """Plan of listed dozes that records the calls of followed()."""

    def __init__(self, *dozes: tuple[int, float]) -> None:
        self.listed, self.calls = dozes, list[tuple[int, int]]()

    def dozes(self):
        """Yield the listed dozes."""
        return iter(self.listed)

    def followed(self, heard, until):
        """Record the call."""
        self.calls.append((heard, until))


def followed(plan: Plan, *stops_s: float) -> list[float]:
    """Return the number of beacons received without a decision until each of these times."""
    doze, heard = Doze(Beacons(1.0)), list[float]()
    doze.begin(0.5, Rest(beacons=2, plan=plan))
    for stop_s in stops_s:
        while doze.wakes_s < stop_s and doze.load_promised_doze():
            first_s, count = doze.wakes_s, doze.skip_empty_beacons(stop_s)
            heard += [first_s + number * doze.every_s for number in range(count)]
    doze.end(doze.wakes_s)
    return heard


def test_a_plan_is_followed_doze_by_doze():
    """The dozes are 2 beacons, two of 3 beacons and three of 5.

    The last one ends at beacon 23 without a call.
    """
    plan = Listed((3, 2), (5, 3))
    assert followed(plan, 100.0) == [2.0, 5.0, 8.0, 13.0, 18.0]
    assert plan.calls == [(5, 23)]


@given(st.lists(st.floats(0, 30), max_size=6))
def test_the_followed_hook_is_called_once_however_often_the_simulator_advances_the_plan(stops_s):
    """The station receives the same beacons, however often the simulator advances it."""
    stops_s = sorted(stops_s)
    plan, at_once = Listed((3, 2), (5, 3)), Listed((3, 2), (5, 3))
    assert followed(plan, *stops_s) == followed(at_once, *stops_s[-1:])
    assert plan.calls == at_once.calls


def test_the_followed_hook_is_not_called_if_frames_end_the_first_doze():
    """Frames at the end of the first doze end the plan; an empty plan changes nothing."""
    for plan in (Listed((3, 2)), Listed()):
        assert followed(plan, 2.0) == []
        assert plan.calls == []
    assert followed(Listed(), 100.0) == []

"""Doze: the beacons that a radio wakes for, and the poll of what it sees."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psm_sim.beacons import Beacons
from psm_sim.network.doze import Doze
from psm_sim.policies import Poll, Rest


def begun(interval_s: float, since_s: float, beacons: int) -> Doze:
    doze = Doze(Beacons(interval_s))
    doze.begin(since_s, Rest(beacons=beacons, repeat=True))
    return doze


def test_a_hand_computed_case():
    """Begun at 0.25 s for two beacons of 0.1 s: it ends at 0.4 s, and later ones every 0.2 s."""
    doze = begun(0.1, 0.25, 2)
    assert (doze.since_s, doze.wakes_s, doze.every_s) == (0.25, pytest.approx(0.4), pytest.approx(0.2))
    assert doze.repeat(1.05) == 4
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
    assert at_once.repeat(now_s) == count
    assert (at_once.since_s, at_once.wakes_s) == (singly.since_s, singly.wakes_s)


def test_a_poll_gives_offsets_from_the_begin_of_the_doze():
    """Two frames, 10 and 30 ms after it began; none is an empty poll."""
    doze = begun(0.1, 2.0, 1)
    poll = doze.poll(2.1, [(2.01, 40), (2.03, 1500)])
    assert (poll.slept_ms, poll.held_bytes, poll.held_frames) == (pytest.approx(100), 1540, 2)
    assert poll.arrivals == ((pytest.approx(10), 40), (pytest.approx(30), 1500))
    assert doze.poll(2.1) == Poll(1000 * (2.1 - 2.0))

"""Bad times and spells: their shares are those asked for, and they depend on the clock alone."""

from __future__ import annotations

import numpy as np
import pytest

from psm_sim.network.parts.faults.outages import OutageSchedule
from psm_sim.network.parts.gilbert_elliott import GilbertElliott


def test_bad_times_have_their_share_and_their_mean_length():
    """Looked at every 10 ms for 4,000 s: a quarter is bad, in times of 0.5 s."""
    times = GilbertElliott(3, "a hop", good_s=1.5, bad_s=0.5)
    bad = np.array([times.at(0.01 * number) for number in range(400_000)])
    begins = np.count_nonzero(bad[1:] & ~bad[:-1])
    assert bad.mean() == pytest.approx(0.25, abs=0.02)
    assert 0.01 * bad.sum() / begins == pytest.approx(0.5, rel=0.05)


def test_bad_times_do_not_depend_on_who_looks_when():
    """One look after a long pause sees what somebody sees who has looked all the time."""
    often, seldom = (GilbertElliott(1, "a hop", 10.0, 1.0) for _ in range(2))
    seen = {number: often.at(0.25 * number) for number in range(40_000)}
    assert {number: seldom.at(0.25 * number) for number in range(0, 40_000, 777)} == {
        number: seen[number] for number in range(0, 40_000, 777)
    }
    assert any(seen.values())


def test_spells_begin_after_memoryless_times_and_have_one_length():
    """A mean of 20 s between them, over 4,000 spells of 3 s."""
    spells, ends_s, gaps_s = OutageSchedule(1, "stalls", 20.0, 3.0), 0.0, []
    for _ in range(4_000):
        gaps_s.append(spells.begins_s - ends_s)
        ends_s = spells.ends_s
        assert ends_s - spells.begins_s == pytest.approx(3.0)
        spells.next()
    assert np.mean(gaps_s) == pytest.approx(20.0, rel=0.05)
    assert np.std(gaps_s) == pytest.approx(20.0, rel=0.1)


def test_what_is_left_of_a_spell_runs_down_to_nothing():
    """Before, within and after it."""
    spells = OutageSchedule(1, "stalls", 20.0, 3.0)
    begins_s = spells.begins_s
    times_s = (0.5 * begins_s, begins_s, begins_s + 1.0, begins_s + 3.0)
    assert [spells.left_s(time_s) for time_s in times_s] == pytest.approx([0.0, 3.0, 2.0, 0.0])
    assert spells.number == 2


def test_spells_are_counted_from_their_beginnings():
    """None before the first one, one within and after it."""
    spells = OutageSchedule(1, "stalls", 20.0, 3.0)
    begins_s = spells.begins_s
    assert [spells.begun(begins_s + after_s) for after_s in (-0.1, 0.1, 3.1)] == [0, 1, 1]

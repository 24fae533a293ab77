"""Bad times: their shares are those asked for, and they depend on the clock alone."""

from __future__ import annotations

import numpy as np
import pytest

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

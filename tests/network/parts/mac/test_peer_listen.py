"""Listen intervals by both rules, and both ends that may close first, compared with ns-3."""

from __future__ import annotations

import pytest

from benchmarks.peer_listen import CASES, compare, read


@pytest.mark.parametrize("case", CASES, ids=str)
def test_page_times_and_time_awake_agree_with_ns3(case):
    """The time awake is within 1 %, and at most 3 of 100 pages are a beacon apart."""
    page_s, peer_s, awake_s, peer_awake_s, apart = compare(read(), case)
    assert apart <= 3
    assert page_s == pytest.approx(peer_s, rel=0.01)
    assert awake_s == pytest.approx(peer_awake_s, rel=0.01)

"""Bytes spread over 10 ms bins."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psm_lab.replay.binned_arrivals import BIN_US, BinnedArrivals
from psm_lab.replay.network_activity import Transfer, without_gaps

TRANSFERS = st.lists(
    st.tuples(st.integers(0, 500_000), st.integers(0, 300_000), st.integers(1, 10**7)), min_size=1, max_size=8
).map(lambda rows: sorted(Transfer(start, start + took, size) for start, took, size in rows))
STEPS = st.lists(st.integers(1, 40), min_size=1, max_size=60)


def by_hand(transfers: list[Transfer], end: int) -> list[Fraction]:
    """Return the exact share of each transfer's bytes in the bins before *end*, bin by bin."""
    origin = transfers[0].start_us // BIN_US
    shares = []
    for start_us, end_us, size in transfers:
        first = start_us // BIN_US - origin
        last = max(-(-end_us // BIN_US) - origin, first + 1)
        shares.append(
            Fraction(size * len([bin_ for bin_ in range(end) if first <= bin_ < last]), last - first)
        )
    return shares


@given(TRANSFERS, STEPS)
def test_only_whole_bytes_of_each_transfer_are_counted_as_arrived(
    transfers: list[Transfer], steps: list[int]
) -> None:
    """The bytes are summed over all earlier polls."""
    arrivals, end, had = BinnedArrivals(transfers), 0, 0
    for step in steps:
        end += step
        had += arrivals.until(end)
        assert had == sum(int(share) for share in by_hand(transfers, end))


@given(TRANSFERS, st.integers(1, 50))
def test_every_byte_arrives_once(transfers: list[Transfer], step: int) -> None:
    """The activity is then finished."""
    arrivals, end, had = BinnedArrivals(iter(transfers)), 0, 0
    while not arrivals.finished:
        end += step
        had += arrivals.until(end)
    assert had == sum(transfer.size for transfer in transfers)
    assert arrivals.until(end + 10**6) == 0


@given(TRANSFERS, STEPS)
def test_the_bytes_of_the_bins_add_up_to_the_bytes_of_the_poll(
    transfers: list[Transfer], steps: list[int]
) -> None:
    """Each bin occurs once, and none is empty. Reading bins does not retrieve bytes."""
    arrivals, end = BinnedArrivals(transfers), 0
    for step in steps:
        bins = arrivals.offsets(end, end + step)
        assert all(end <= bin_ < end + step and size > 0 for bin_, size in bins)
        end += step
        assert sum(size for _, size in bins) == arrivals.until(end)


def test_ten_bytes_over_four_bins_have_hand_computed_shares() -> None:
    """The first bin is that of the start, and the last one that of the end; a bin counts when it is over."""
    arrivals = BinnedArrivals([Transfer(1_005_000, 1_035_000, 10)])
    assert [arrivals.until(end) for end in (0, 1, 2, 3, 4, 5)] == [0, 2, 3, 2, 3, 0]
    assert arrivals.finished


def test_a_transfer_that_takes_no_time_is_one_bin() -> None:
    """The transfer is in the middle of a bin, and simultaneous with another one."""
    arrivals = BinnedArrivals([Transfer(0, 20_000, 2), Transfer(14_000, 14_000, 7)])
    assert [arrivals.until(end) for end in (1, 2, 3)] == [1, 8, 0]


def test_an_idle_period_above_the_limit_is_shortened_to_the_limit() -> None:
    """The period begins at the end of all earlier transfers, not of the previous one."""
    transfers = [Transfer(0, 50, 1), Transfer(10, 20, 1), Transfer(150, 160, 1), Transfer(165, 170, 1)]
    cut = list(without_gaps(transfers, 30))
    assert cut == [(0, 50, 1), (10, 20, 1), (80, 90, 1), (95, 100, 1)]
    assert list(without_gaps(transfers, 100)) == transfers
    assert list(without_gaps(transfers, 0))[2].start_us == pytest.approx(50)

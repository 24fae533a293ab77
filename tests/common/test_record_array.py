"""Rows of numbers in one array."""

from __future__ import annotations

import pickle
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from psm_sim.common.record_array import RecordArray, record_column


class Pair(NamedTuple):
    number: int
    value: float


ROWS = st.lists(st.builds(Pair, st.integers(-(2**53), 2**53), st.floats(allow_nan=False)))


@given(ROWS)
def test_rows_are_read_as_they_were_written(rows):
    """Each with its types, from either end, in slices, and after being pickled."""
    found = RecordArray(Pair, rows)
    assert len(found) == len(rows)
    assert found == rows
    assert list(found) == rows
    assert [type(row.number) for row in found] == [int] * len(rows)
    assert [found[-1 - index] for index in range(len(rows))] == rows[::-1]
    assert found[1:5:2] == rows[1:5:2]
    assert record_column(found, "value") == record_column(rows, "value") == [row.value for row in rows]
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301 (our own)

"""Cells with several stations, frame errors, uploads and 802.11g, compared with ns-3."""

from __future__ import annotations

import pytest

from benchmarks.peer_air import mean_and_variance, measured_cell, read_cells, simulated_cell

CELLS = (
    "b-0", "b-0.05", "g54-0", "g54-0.01", "upload-20k-0", "upload-200k-0",
    "upload-20k-0.01", "three-stations-0", "three-stations-0.01",
)  # fmt: skip


@pytest.fixture(scope="module")
def cells(shared):
    """Return the cells by name."""
    return read_cells(shared / "data" / "ns3-air")


@pytest.mark.parametrize("name", CELLS)
def test_page_times_and_time_awake_agree_with_ns3(cells, name):
    """The tolerance is 1 % of page times, 5 % of the time awake, or three standard errors.

    ``benchmarks/peer_air.py`` also has the cells with smaller error rates.
    """
    cell = cells[name]
    runs = 8 if "mac.frame_error_rate" in cell.topology else 3
    mean, own = mean_and_variance(simulated_cell(cell, runs))
    peer, other = mean_and_variance(measured_cell(cell))
    assert mean[:2] == pytest.approx(peer[:2], rel=0.01)
    assert mean[2] == pytest.approx(peer[2], rel=0.05, abs=3 * (own + other)[2] ** 0.5)

"""Rows of results, computed and aggregated from a table of meter readings."""

from __future__ import annotations

import numpy as np
import pytest

from psm_sim.simulation import Result, Scenario, run_comparison
from psm_sim.simulation.table import fold, measure, usage_of

CASES = {
    "pages": Scenario(pages=3, settings={"power.transmit_w": 1.2, "power.wake_j": 0.001}),
    "failed pages": Scenario(pages=6, settings={"browser.max_page_s": 1, "faults.wireless.loss": 0.05}),
    "no complete page": Scenario(pages=2, settings={"browser.max_page_s": 0.01}),
    "messages": Scenario("mqtt:stretch_s=310", pages=1, profile="esp32-c6", battery="2Ah"),
    "datagrams": Scenario("pushes:stretch_s=310", pages=2),
}


@pytest.fixture(scope="module", params=CASES.values(), ids=list(CASES))
def result(request: pytest.FixtureRequest) -> Result:
    """Return a run of static PSM."""
    return run_comparison(["psm"], request.param).runs[0]


def test_aggregating_a_single_row_gives_that_row(result: Result) -> None:
    """The mean, sum, maximum or pool of one value is that value; only datagrams are omitted."""
    row = {name: value for name, value in result.row.items() if not name.startswith("pushes.")}
    folded = fold([row])
    assert list(folded) == list(row)
    assert repr(folded) == repr(row)


def test_the_energies_of_pages_add_up_to_the_energy_of_the_meter(result: Result) -> None:
    """Times and beacons add up, too, because those of a page are the difference of two readings."""
    (block,) = result.blocks
    columns, usage = block.page_columns(), usage_of(measure(block))
    assert columns["energy_j"].sum() == pytest.approx(usage.total_j, rel=1e-12)
    for name in ("awake_s", "asleep_s", "beacons", "awake_j", "asleep_j", "beacons_j"):
        assert columns[name].sum() == pytest.approx(getattr(usage, name), rel=1e-12)
    assert usage.awake_s + usage.asleep_s == pytest.approx(result["simulated_s"])
    assert result.energy_per_page_j == usage.total_j / len(block)


def test_rows_are_aggregated_by_sums_means_and_maxima(result: Result) -> None:
    """A run without a complete page has no page time, and is excluded from the mean."""
    doubled = fold([result.row, result.row])
    for name in ("pages", "simulated_s", "events", "usage.awake_j", "traffic.server_sent_bytes"):
        assert doubled[name] == 2 * result[name]
    for name in ("energy_per_page_j", "page_time_s.p95", "slowdown.max", "mean_power_mw", "mean_delay_s"):
        assert doubled[name] == pytest.approx(result[name], rel=1e-12, nan_ok=True)
    none = {name: np.nan if name.startswith("slowdown.") else value for name, value in result.row.items()}
    assert fold([result.row, none])["slowdown.mean"] == pytest.approx(result.slowdown.mean, nan_ok=True)

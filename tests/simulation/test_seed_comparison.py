"""Several seeds, averaged; and differences that are paired by seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from psm_sim.common.errors import InputError
from psm_sim.simulation import (
    BASELINES,
    References,
    Scenario,
    SeedComparison,
    compare_runs,
    compare_seeds,
    paired_difference,
    simulate,
)

PSM = References(BASELINES, BASELINES[1:])
T_3 = 4.302653
"""Student's 97.5 % quantile at two degrees of freedom."""


@pytest.fixture(scope="module")
def three() -> SeedComparison:
    """Return LPSM and BSD over the seeds 5, 6 and 7, in one process."""
    found = compare_seeds(["lpsm", "bsd:p=0.1"], Scenario(pages=4, seed=5), 3, workers=1, references=PSM)
    assert isinstance(found, SeedComparison)
    return found


def test_each_seed_is_the_run_it_would_be_alone(three: SeedComparison) -> None:
    """The baselines included."""
    alone = compare_runs(["lpsm"], Scenario(pages=4, seed=6), references=PSM)
    assert three.runs[0].results[1].page_records == alone.runs[0].page_records
    assert three.baselines[1].results[1].page_records == alone.baselines[1].page_records
    assert three.runs[0].names == ("5", "6", "7")


def test_pages_of_all_seeds_are_one_table(three: SeedComparison) -> None:
    frame = three.runs[0].pages
    assert list(frame.columns).count("seed") == 1
    assert frame.columns[0] == "seed"
    assert frame["seed"].tolist() == [5] * 4 + [6] * 4 + [7] * 4
    assert list(frame["energy_j"]) == [record.energy_j for record in three.runs[0].page_records]


def test_differences_are_paired_by_seed(three: SeedComparison) -> None:
    """Their interval is that of the differences, not of the two means."""
    assert three.reference is three.baselines[1]
    found = paired_difference(three.runs[1], three.reference)
    pairs = zip(three.runs[1].results, three.reference.results, strict=True)
    less = [run.slowdown.mean - psm.slowdown.mean for run, psm in pairs]
    assert found.measures["slowdown.mean"].mean == pytest.approx(np.mean(less), rel=1e-12)
    half = T_3 * np.std(less, ddof=1) / 3**0.5
    assert found.measures["slowdown.mean"].half_width == pytest.approx(half, rel=1e-6)
    assert found.to_dict()["half_width_95"]["energy_saved_percent"] == found.saved_percent.half_width


def test_percentiles_are_numpys(three: SeedComparison) -> None:
    """Of one run's page times; those of several runs are averaged."""
    one = three.runs[0].results[0]
    times = [record.page_time_s for record in one.page_records]
    assert float(one.page_time_s) == pytest.approx(np.mean(times))
    assert one.page_time_percentiles_s["p90"] == pytest.approx(np.percentile(times, 90))
    each = [result.page_time_percentiles_s["p50"] for result in three.runs[0].results]
    assert three.runs[0].page_time_percentiles_s["p50"] == pytest.approx(np.mean(each))


def test_a_free_radio_saves_an_undefined_share() -> None:
    """A reference without energy: nan, not an error."""
    free = {"power.awake_w": 0, "power.asleep_w": 0, "power.beacon_j": 0}
    found = compare_runs(["bsd"], Scenario(pages=1, settings=free), references=PSM)
    assert found.reference is not None
    assert np.isnan(paired_difference(found.runs[0], found.reference).saved_percent.mean)


def test_pages_that_do_not_depend_on_the_seed_are_refused(tmp_path: Path) -> None:
    """Intervals over the same pages would have no width, and no meaning."""
    path = tmp_path / "list.csv"
    path.write_text("page,think_s,main_bytes,images\n1,5,1000,100;200\n")
    with pytest.raises(InputError, match="the same for every seed"):
        compare_seeds(["psm"], Scenario(str(path)), 3)


def test_a_run_is_the_same_alone_and_among_others() -> None:
    """Common random numbers: no policy disturbs another's pages."""
    alone = simulate("bsd:p=0.5", pages=10, seed=2)
    among = compare_runs(["lpsm", "bsd:p=0.5", "psm"], Scenario(pages=10, seed=2)).runs[1]
    assert {**alone.to_dict(), "wall_s": 0} == {**among.to_dict(), "wall_s": 0}


def test_progress_counts_every_page_of_every_run() -> None:
    seen: list[tuple[int, int, str]] = []
    compare_runs(["psm", "always-on"], Scenario(pages=4), lambda *state: seen.append(state))
    assert [done for done, _, _ in seen] == [*range(5), *range(4, 9)]  # each run begins with a report
    assert {total for _, total, _ in seen} == {8}


def test_a_policy_saves_nothing_against_itself(three: SeedComparison) -> None:
    """Its difference from itself is 0, without width."""
    assert three.reference is not None
    found = paired_difference(three.reference, three.reference)
    assert found.saved_percent[:2] == (0.0, 0.0)
    assert all(each[:2] == (0.0, 0.0) for each in found.measures.values())


def test_pages_are_a_frame_whose_rows_add_up() -> None:
    """Energy of the rows is the run's; slowdown is each page's own ratio."""
    run = simulate("psm", pages=12)
    frame = run.pages
    assert len(frame) == 12
    assert frame["energy_j"].sum() == pytest.approx(12 * run.energy_per_page_j)
    assert frame["beacons"].sum() == pytest.approx(12 * run.beacons_per_page)
    assert (frame["page_time_s"] / frame["always_on_time_s"]).mean() == pytest.approx(run.slowdown.mean)

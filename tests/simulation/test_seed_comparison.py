"""Averages over seeds, and differences paired by seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_rel

from psm_sim.common.errors import InputError
from psm_sim.simulation import BASELINES, Comparison, References, Scenario, run_comparison, simulate
from tests.page_rows import page_rows

PSM = References(BASELINES, BASELINES[1:])
T_3 = 4.302653
"""Student's 97.5 % quantile for three values, at two degrees of freedom."""


@pytest.fixture(scope="module")
def three() -> Comparison:
    """Return LPSM and BSD over the seeds 5, 6 and 7, in one process."""
    return run_comparison(["lpsm", "bsd:p=0.1"], Scenario(pages=4, seed=5), 3, workers=1, references=PSM)


def test_each_seed_has_the_results_of_a_separate_run(three: Comparison) -> None:
    """Baselines are compared, too."""
    alone = run_comparison(["lpsm"], Scenario(pages=4, seed=6), references=PSM)
    assert page_rows(three.runs[0].parts[1]) == page_rows(alone.runs[0])
    assert page_rows(three.baselines[1].parts[1]) == page_rows(alone.baselines[1])
    assert three.runs[0].names("seed") == ["5", "6", "7"]


def test_the_pages_of_all_seeds_are_in_one_table(three: Comparison) -> None:
    frame = three.runs[0].pages
    assert list(frame.columns).count("seed") == 1
    assert frame.columns[0] == "seed"
    assert frame["seed"].tolist() == [5] * 4 + [6] * 4 + [7] * 4
    assert list(frame["energy_j"]) == [record.energy_j for record in page_rows(three.runs[0])]


def test_differences_are_paired_by_seed(three: Comparison) -> None:
    """The interval is that of the differences, not of the two means."""
    (reference,) = three.reference_runs
    assert reference is three.baselines[1]
    difference = three.difference(three.runs[1])
    pairs = zip(three.runs[1].parts, reference.parts, strict=True)
    less = [run.slowdown.mean - psm.slowdown.mean for run, psm in pairs]
    assert difference["slowdown.mean"] == pytest.approx(np.mean(less), rel=1e-12)
    half = T_3 * np.std(less, ddof=1) / 3**0.5
    assert difference["half_width_95"]["slowdown.mean"] == pytest.approx(half, rel=1e-6)


def test_the_long_dataframe_has_intervals_and_paired_p_values() -> None:
    """The p-value of two policies is that of the paired t-test."""
    comparison = run_comparison(
        ["bsd", "psm:label=static"], Scenario(pages=4), 3, workers=1, references=References((), ("psm",))
    )
    frame = comparison.long_frame
    slowdowns = frame[frame["metric"] == "slowdown.mean"].to_dict("records")
    (bsd, psm), (row, reference) = comparison.runs, slowdowns
    samples = [[replicate.slowdown.mean for replicate in run.replicates] for run in (bsd, psm)]
    assert row["mean"] == pytest.approx(np.mean(samples[0]))
    assert row["high"] - row["mean"] == pytest.approx(bsd.interval("slowdown.mean").half_width)
    assert row["p_value"] == pytest.approx(ttest_rel(*samples).pvalue)
    assert row["replications"] == 3
    assert reference["label"] == "static"
    assert np.isnan(reference["p_value"])


def test_a_single_seed_gives_neither_an_interval_nor_a_p_value() -> None:
    frame = run_comparison(["bsd"], Scenario(pages=2), references=PSM).long_frame
    assert frame[["low", "high", "p_value"]].isna().all(axis=None)
    assert set(frame["replications"]) == {1}


def test_percentiles_agree_with_numpy(three: Comparison) -> None:
    """The page times of a run are compared; percentiles of several runs are averaged."""
    one = three.runs[0].parts[0]
    times = [record.page_time_s for record in page_rows(one)]
    assert float(one.page_time_s) == one["page_time_s.mean"] == pytest.approx(np.mean(times))
    assert one["page_time_percentiles_s.p90"] == pytest.approx(np.percentile(times, 90))
    medians = [result["page_time_percentiles_s.p50"] for result in three.runs[0].parts]
    assert three.runs[0]["page_time_percentiles_s.p50"] == pytest.approx(np.mean(medians))


def test_the_energy_saving_is_nan_if_the_reference_uses_no_energy() -> None:
    free = {"power.awake_w": 0, "power.asleep_w": 0, "power.beacon_j": 0}
    comparison = run_comparison(["bsd"], Scenario(pages=1, settings=free), references=PSM)
    assert np.isnan(comparison.difference(comparison.runs[0])["energy_saved_percent"])


def test_replicating_pages_without_randomness_is_an_error(tmp_path: Path) -> None:
    """Intervals over the same pages would have no width."""
    path = tmp_path / "list.csv"
    path.write_text("page,think_s,main_bytes,images\n1,5,1000,100;200\n")
    with pytest.raises(InputError, match="the same for every seed"):
        run_comparison(["psm"], Scenario(str(path)), 3)


def test_a_run_does_not_depend_on_the_other_policies() -> None:
    """Policies share random numbers, and do not change the pages of each other."""
    alone = simulate("bsd:p=0.5", pages=10, seed=2)
    among = run_comparison(["lpsm", "bsd:p=0.5", "psm"], Scenario(pages=10, seed=2)).runs[1]
    assert {**alone.to_dict(), "wall_s": 0} == {**among.to_dict(), "wall_s": 0}


def test_progress_counts_every_page_of_every_run() -> None:
    seen: list[tuple[int, int, str]] = []
    run_comparison(["psm", "always-on"], Scenario(pages=4), progress=lambda *state: seen.append(state))
    assert [done for done, _, _ in seen] == [*range(5), *range(4, 9)]  # each run begins with a report
    assert {total for _, total, _ in seen} == {8}


def test_progress_over_several_seeds_counts_seeds() -> None:
    seen: list[tuple[object, ...]] = []
    run_comparison(["psm"], Scenario(pages=4), 2, lambda *state: seen.append(state), 1)
    assert seen == [(0, 2, "", "seeds"), (1, 2, "", "seeds"), (2, 2, "", "seeds")]


def test_the_difference_of_a_policy_from_itself_is_0(three: Comparison) -> None:
    """The interval has no width."""
    against, *numbers, widths = three.difference(three.reference_runs[0]).values()
    assert against == "psm"
    assert {*numbers, *widths.values()} == {0.0}

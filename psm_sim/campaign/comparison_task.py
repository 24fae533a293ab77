"""Task that compares policies, with one row per policy and ratios to a reference."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import pandas as pd

from psm_sim.campaign.parallel_tasks import Row
from psm_sim.campaign.scenario_task import ScenarioTask
from psm_sim.simulation.policy_comparison import compare_runs
from psm_sim.simulation.result import Result
from psm_sim.simulation.run import page_times_s


@dataclass(frozen=True)
class RunTask(ScenarioTask):
    """Comparison of policies in one scenario; a row has energy by state, page times and slowdown."""

    kind: ClassVar[str] = "run"

    def run(self) -> list[Row]:
        """Run the policies on the same pages and return one row per policy."""
        comparison = compare_runs(self.policies, self.scenario)
        always_on_s = comparison.always_on.page_time_s.mean
        seed = self.scenario.seed
        return [
            {"seed": seed, **_row(run), "time_ratio": run.page_time_s.mean / always_on_s}
            for run in comparison.runs
        ]


def _row(run: Result) -> Row:
    states = run.energy_by_state_per_page_j
    return {
        "policy": run.policy,
        "energy_j": run.energy_per_page_j,
        "awake_j": states["awake"],
        "asleep_j": states["asleep"],
        "beacons_j": states["beacons"],
        "page_s": run.simulated_s / len(run.page_records),
        "page_time_s": run.page_time_s.mean,
        "slowdown": run.slowdown.mean,
        "slowdown_max": run.slowdown.max,
        "page_times_s": page_times_s(run),
    }


def add_ratios(rows: pd.DataFrame, policy: str, keys: Iterable[str] = ("seed",)) -> pd.DataFrame:
    """Return *rows* with the ratios to the row of a reference policy on the same pages.

    ``energy_ratio``, ``beacons_ratio`` and ``slowdown_ratio`` are ratios of means. ``page_ratio_mean`` and
    ``page_ratio_max`` are the mean and the maximum of the ratios of page times.

    Parameters
    ----------
    rows : DataFrame
        Rows of :meth:`RunTask.run` of any number of tasks.
    policy : str
        Reference policy, as in the column ``policy``.
    keys : iterable of str
        Columns whose values are equal for rows with the same pages.
    """
    keys = list(keys)
    columns = ["energy_j", "beacons_j", "slowdown", "page_times_s"]
    reference = rows.loc[rows["policy"] == policy, [*keys, *columns]].drop_duplicates(subset=keys)
    joined = rows.merge(reference, on=keys, suffixes=("", "_of_reference"), validate="many_to_one")
    for name, column in (("energy", "energy_j"), ("beacons", "beacons_j"), ("slowdown", "slowdown")):
        joined[f"{name}_ratio"] = joined[column] / joined[f"{column}_of_reference"]
    pairs = zip(joined["page_times_s"], joined["page_times_s_of_reference"], strict=True)
    ratios = [[page_s / reference_s for page_s, reference_s in zip(*pair, strict=True)] for pair in pairs]
    joined["page_ratio_mean"] = [sum(ratio) / len(ratio) for ratio in ratios]
    joined["page_ratio_max"] = [max(ratio) for ratio in ratios]
    return joined.drop(columns=[f"{column}_of_reference" for column in columns])

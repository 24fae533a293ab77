"""Comparison as a task: one row per policy, and its ratios to another policy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import pandas as pd

from psm_sim.campaign.scenario_task import ScenarioTask
from psm_sim.campaign.task_runner import Row
from psm_sim.simulation.compare_policies import compare_runs
from psm_sim.simulation.result import Result
from psm_sim.simulation.run import page_times_s


@dataclass(frozen=True)
class RunTask(ScenarioTask):
    """Policies in one scenario: one row for each, with its energy by state, its page times and slowdown."""

    kind: ClassVar[str] = "run"

    def run(self) -> list[Row]:
        """Run the policies over the same pages; return one row per policy."""
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
    """Add to each row its ratios to the row of *policy* on the same pages.

    ``energy_ratio``, ``beacons_ratio`` and ``slowdown_ratio`` are of the means; ``page_ratio_mean`` and
    ``page_ratio_max`` of each page's own times.

    Parameters
    ----------
    rows : DataFrame
        The rows of :meth:`RunTask.run`, of any number of tasks.
    policy : str
        The policy that is the denominator, as it stands in the column ``policy``.
    keys : iterable of str
        The columns that say which rows have the same pages.
    """
    keys = list(keys)
    wanted = ["energy_j", "beacons_j", "slowdown", "page_times_s"]
    reference = rows.loc[rows["policy"] == policy, [*keys, *wanted]].drop_duplicates(subset=keys)
    joined = rows.merge(reference, on=keys, suffixes=("", "_of_reference"), validate="many_to_one")
    for name, column in (("energy", "energy_j"), ("beacons", "beacons_j"), ("slowdown", "slowdown")):
        joined[f"{name}_ratio"] = joined[column] / joined[f"{column}_of_reference"]
    pairs = zip(joined["page_times_s"], joined["page_times_s_of_reference"], strict=True)
    ratios = [[mine / other for mine, other in zip(*pair, strict=True)] for pair in pairs]
    joined["page_ratio_mean"] = [sum(ratio) / len(ratio) for ratio in ratios]
    joined["page_ratio_max"] = [max(ratio) for ratio in ratios]
    return joined.drop(columns=[f"{column}_of_reference" for column in wanted])

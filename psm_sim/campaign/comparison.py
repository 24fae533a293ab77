"""Comparison of policies as a task: one row per policy and seed, and its ratios to another policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from psm_sim.simulation.compare import compare_runs
from psm_sim.simulation.result import Result


@dataclass(frozen=True)
class RunTask:
    """One comparison to run: everything that decides its numbers, and *labels* for its rows.

    ``policies`` are named by their specs; ``python -m psm_sim`` with the words of :meth:`command` reproduces
    the rows. ``settings`` override keys of the topology, as ``--set`` does.
    """

    policies: tuple[str, ...]
    trace: str
    pages: int
    seed: int
    topology: str = "three-node"
    settings: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, Any] = field(default_factory=dict)

    @property
    def weight(self) -> int:
        """The number of pages of all runs, the always-on one included."""
        return self.pages * (1 + len(self.policies))

    def command(self) -> str:
        """Return the command line that runs this task alone."""
        words = [f"--policy {policy}" for policy in self.policies]
        words += [f"--trace {self.trace}", f"--pages {self.pages}", f"--seed {self.seed}"]
        words += [f"--topology {self.topology}"] if self.topology != "three-node" else []
        words += [f"--set {key}={value}" for key, value in self.settings.items()]
        return "python -m psm_sim " + " ".join(words)

    def run(self) -> list[dict[str, Any]]:
        """Run the policies over the same pages; return one row per policy, energies in joules per page."""
        comparison = compare_runs(
            self.policies, self.trace, self.topology, self.pages, self.seed, dict(self.settings)
        )
        always_on_s = comparison.always_on.page_time_s.mean
        return [
            {**self.labels, "seed": self.seed, **_row(run), "time_ratio": run.page_time_s.mean / always_on_s}
            for run in comparison.runs
        ]


def _row(run: Result) -> dict[str, Any]:
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
        "page_times_s": [record.page_time_s for record in run.page_records],
    }


def against(rows: pd.DataFrame, policy: str, keys: Iterable[str] = ("seed",)) -> pd.DataFrame:
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
    joined["page_ratio_mean"] = [sum(each) / len(each) for each in ratios]
    joined["page_ratio_max"] = [max(each) for each in ratios]
    return joined.drop(columns=[f"{column}_of_reference" for column in wanted])

"""Tasks of studies: protocol, parallel execution, comparisons of policies, and offline optima."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import pandas as pd

from psm_sim.common.component_spec import Spec
from psm_sim.common.hashing import digest_of
from psm_sim.common.parallel import parallel_map
from psm_sim.common.progress import Progress, no_progress
from psm_sim.hindsight.offline_optimum import (
    OfflineOptimum,
    least_energy_j,
    offline_frontier,
    offline_optimum,
)
from psm_sim.hindsight.traffic_chain import Chain, evaluate_policy
from psm_sim.hindsight.traffic_chain_recorder import record_chain
from psm_sim.policies import make_policy
from psm_sim.simulation.policy_comparison import compare_runs
from psm_sim.simulation.result import Result
from psm_sim.simulation.run import page_times_s
from psm_sim.simulation.scenario import DigestCache, Scenario

Row = dict[str, Any]


class Task(Protocol):
    """Independent unit of work that any process can run."""

    @property
    def kind(self) -> str:
        """Name under which the rows are selected, such as ``"run"``."""

    @property
    def labels(self) -> Mapping[str, Any]:
        """Values added to each row. They are not part of the key, so equal tasks run once."""

    @property
    def weight(self) -> int:
        """Amount of work, in pages."""

    def key(self, cache: DigestCache | None = None) -> str:
        """Return a hash of all inputs of the rows; see :meth:`Scenario.key` for *cache*."""

    def run(self) -> list[Row]:
        """Run the task and return its rows without the labels."""


@dataclass(frozen=True)
class Rows:
    """Rows of tasks, in the order of the tasks.

    Attributes
    ----------
    kinds : tuple of str
        Kind of each task.
    of_tasks : tuple of list of Row
        Rows of each task, including its labels.
    """

    kinds: tuple[str, ...]
    of_tasks: tuple[list[Row], ...]

    @classmethod
    def labelled(cls, tasks: Sequence[Task], results: Sequence[Sequence[Row]]) -> Rows:
        """Return the *results* of *tasks* with the labels of the tasks as the first columns."""
        pairs = zip(tasks, results, strict=True)
        of_tasks = tuple([{**task.labels, **row} for row in rows] for task, rows in pairs)
        return cls(tuple(task.kind for task in tasks), of_tasks)

    def of(self, kind: str) -> list[Row]:
        """Return the rows of all tasks of one kind.

        Raises
        ------
        KeyError
            If there is no task of that kind.
        """
        if kind not in self.kinds:
            raise KeyError(f"no rows of kind {kind!r}; expected one of {', '.join(sorted(set(self.kinds)))}")
        pairs = zip(self.kinds, self.of_tasks, strict=True)
        return [row for task_kind, rows in pairs if task_kind == kind for row in rows]

    def __iter__(self) -> Iterator[list[Row]]:
        return iter(self.of_tasks)

    def __len__(self) -> int:
        return len(self.of_tasks)


def run_tasks(tasks: Sequence[Task], workers: int = 1, progress: Progress = no_progress) -> Rows:
    """Run all *tasks* and return their rows in their order.

    For *workers* and *progress* see :func:`run_groups`.
    """
    (rows,) = run_groups([tasks], workers, progress)
    return rows


def run_groups(
    groups: Sequence[Sequence[Task]], workers: int = 1, progress: Progress = no_progress
) -> Iterator[Rows]:
    """Run the tasks of several groups in one pool, and yield the rows of each group when it has finished.

    Tasks with equal keys run once. The groups run one after the other, so that an interrupt loses only the
    last ones. In each group the heaviest tasks run first, so that no worker is left with a long task at the
    end.

    Parameters
    ----------
    groups : sequence of sequence of Task
        Tasks, each with its own seed and without shared state.
    workers : int
        Number of processes; -1 uses one per core. The rows do not depend on it.
    progress : callable
        Called after each task with the finished weight, the total weight and the number of tasks.
    """
    cache: DigestCache = {}
    keys = [[task.key(cache) for task in group] for group in groups]
    distinct: dict[str, Task] = {}
    for pair in zip(keys, groups, strict=True):
        for key, task in sorted(zip(*pair, strict=True), key=lambda item: -item[1].weight):
            distinct.setdefault(key, task)
    finished = zip(distinct, _run_all(list(distinct.values()), workers, progress), strict=True)
    results: dict[str, list[Row]] = {}
    for group, names in zip(groups, keys, strict=True):
        while not results.keys() >= set(names):
            key, rows = next(finished)
            results[key] = rows
        yield Rows.labelled(group, [results[key] for key in names])


def _run_all(tasks: Sequence[Task], workers: int, progress: Progress) -> Iterator[list[Row]]:
    done, total = 0, sum(task.weight for task in tasks)
    label = f"{len(tasks)} tasks"
    results = parallel_map(_run, tasks, None if workers < 0 else workers)
    progress(done, total, label)
    for task, rows in zip(tasks, results, strict=True):
        done += task.weight
        progress(done, total, label)
        yield rows


def _run(task: Task) -> list[Row]:
    return task.run()


@dataclass(frozen=True)
class Trial:
    """Task that calls a function, whose rows depend only on its arguments.

    Parameters
    ----------
    kind : str
        Name of the rows in a digest.
    work : callable
        Function of a module, which returns rows.
    arguments : mapping
        Keyword arguments of the function, as plain values.
    weight : int
        Approximate duration, in any unit that all tasks of a run share.
    labels : mapping
        Columns that are added to the rows.
    """

    kind: str
    work: Callable[..., list[Row]]
    arguments: Mapping[str, Any]
    weight: int = 1
    labels: Mapping[str, Any] = field(default_factory=dict)

    def key(self, cache: DigestCache | None = None) -> str:
        """Return a hash of the function and its arguments, which determine the rows."""
        return digest_of({"work": f"{self.work.__module__}.{self.work.__qualname__}", **self.arguments})

    def run(self) -> list[Row]:
        """Call the function and return its rows."""
        return self.work(**self.arguments)


@dataclass(frozen=True)
class ScenarioTask(ABC):
    """Policies in one scenario. A subclass sets ``kind`` and creates the rows.

    ``scenario.command(policies)`` returns the command line that reproduces the numbers.

    Attributes
    ----------
    policies : tuple of str or Spec
        Policies to run.
    scenario : Scenario
        Pages, topology, seed and settings.
    labels : mapping
        Values that are added to each row.
    """

    kind: ClassVar[str]

    policies: tuple[str | Spec, ...]
    scenario: Scenario
    labels: Mapping[str, Any] = field(default_factory=dict)

    @property
    def weight(self) -> int:
        """Number of pages of all runs, including the always-on run."""
        return self.scenario.pages * (1 + len(self.policies))

    def key(self, cache: DigestCache | None = None) -> str:
        """Return a hash of scenario, policies and their files; see :meth:`Scenario.key` for *cache*."""
        return digest_of([self.kind, self.scenario.key(self.policies, cache)])

    @abstractmethod
    def run(self) -> list[Row]:
        """Run the policies on the same pages and return one row per policy."""


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


@dataclass(frozen=True)
class OptimumTask:
    """Offline optimum on the event chain of one scenario, and the energy of policies on that chain.

    There is one row without delay, one for each bound p, one for each corner of the frontier, and one for
    each policy, with the minimum energy at the delay of that policy. At most *prices* prices are tried for
    the frontier; 0 disables it. Energies are in joules per page, delays in seconds per page.
    """

    kind: ClassVar[str] = "optimum"

    scenario: Scenario
    policies: tuple[str | Spec, ...] = ()
    bounds: tuple[float, ...] = ()
    prices: int = 32
    labels: Mapping[str, Any] = field(default_factory=dict)

    @property
    def weight(self) -> int:
        """Approximate amount of work, in pages of a run."""
        return self.scenario.pages * (1 + len(self.policies) + self.prices)

    def key(self, cache: DigestCache | None = None) -> str:
        """Return a hash of all inputs of the rows; see :meth:`Scenario.key` for *cache*."""
        return digest_of([self.kind, self.scenario.key(self.policies, cache), self.bounds, self.prices])

    def run(self) -> list[dict[str, Any]]:
        """Compute and return the rows."""
        chain = record_chain(self.scenario.workload().pages, self.scenario.resolve_topology())
        rows = [self._row("no delay", offline_optimum(chain))]
        rows += [self._row(f"p = {p:g}", offline_optimum(chain, 0.0, p)) for p in self.bounds]
        hull = offline_frontier(chain, self.prices) if self.prices else []
        rows += [self._row("frontier", corner) for corner in hull]
        return rows + [self._policy_row(policy, chain, hull) for policy in self.policies]

    def _policy_row(self, policy: str | Spec, chain: Chain, hull: list[OfflineOptimum]) -> dict[str, Any]:
        outcome = evaluate_policy(chain, make_policy(policy))
        return {
            **self._row("policy", OfflineOptimum(outcome.energy_j, outcome.delay_s)),
            "policy": str(policy),
            "worst_stretch": outcome.worst_stretch,
            "least_j": least_energy_j(hull, outcome.delay_s) / self.scenario.pages if hull else None,
        }

    def _row(self, allowed: str, optimum: OfflineOptimum) -> dict[str, Any]:
        return {
            "seed": self.scenario.seed,
            "allowed": allowed,
            "energy_j": optimum.energy_j / self.scenario.pages,
            "delay_s": optimum.delay_s / self.scenario.pages,
        }

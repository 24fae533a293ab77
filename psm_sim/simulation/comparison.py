"""Results of several policies on the same pages, and the selection of baselines and a reference policy."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import CommandTerminated, InputError, describe_error
from psm_sim.common.formatting import flatten, format_pairs, pluralize
from psm_sim.common.summary_stats import confidence_interval
from psm_sim.network import Topology, topology_differences
from psm_sim.policies import Policy
from psm_sim.policies.factory import PolicyLike, label_of, spec_text
from psm_sim.simulation.result import Result
from psm_sim.simulation.run import StationSetup, Task
from psm_sim.simulation.scenario import Scenario
from psm_sim.simulation.table import MEASURES, Block, Row, drop_nan
from psm_sim.simulation.verdict import Measure
from psm_sim.workload import Workload
from psm_sim.workload.page_view import DependencyPage

if TYPE_CHECKING:
    import pandas as pd


_MAIN = (
    "policy",
    "label",
    "station",
    "energy_per_page_j",
    "mean_current_ma",
    "battery_days",
    "difference.energy_saved_percent",
)
_PAGE_MEASURES = ("page_time_s.mean", "slowdown.mean", "slowdown.max")
"""Next columns of the frame after ``_MAIN``; without page views, the latencies are next."""

_MAX_NAMED = 8
"""Maximum number of results in the ``repr`` of a comparison."""

REFERENCE_NUMBER = -1
"""Number of the run without power saving, which every slowdown refers to."""

SAVED = "energy_saved_percent"

_COMPARED = ("energy_per_page_j", "page_time_s.mean", "slowdown.mean")


class Roles(NamedTuple):
    """Indices of the compared policies, the baselines and the reference policy."""

    compared: Sequence[int]
    baselines: Sequence[int]
    reference: Sequence[int]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Results of several policies on the same pages, as returned by :func:`psm_sim.compare`.

    Printing a comparison, or displaying it in a notebook, shows the tables of the command line and the
    conclusion.

    Attributes
    ----------
    scenario : Scenario
        Trace, topology, number of pages and seed.
    tasks : sequence of Task
        The seeds or clients, at least one.
    replicate : str
        What varies between the independent runs of a policy: ``"seed"``, ``"client"``, or empty for a single
        run.
    blocks : list of Block
        Measurements of each policy, seed, client and station.
    roles : Roles
        Indices of the compared policies, the baselines and the reference policy.
    missing : mapping of str to str
        In a partial comparison, the policies, seeds or clients without a result, each with the reason.
    max_latency_s : float or None
        Limit of the delay for :meth:`conclusion`, in seconds; None means no limit. The delay is the mean
        delay of a page, or the 99th percentile of the latency of messages.
    preset : str
        Name of the preset; empty for none.

    See Also
    --------
    psm_sim.compare : Simulate several policies on the same pages.

    Examples
    --------
    >>> import psm_sim
    >>> comparison = psm_sim.compare(["lpsm"], pages=5)
    >>> [run.policy for run in comparison.shown]
    ['always-on', 'psm', 'lpsm']
    >>> psm, lpsm = comparison.frame["energy_per_page_j"].iloc[1:]
    >>> lpsm < psm
    True
    """

    scenario: Scenario
    tasks: Sequence[Task]
    replicate: str
    blocks: list[Block]
    roles: Roles
    missing: Mapping[str, str] = field(default_factory=dict)
    max_latency_s: float | None = None
    preset: str = ""

    @property
    def resolved_topology(self) -> Topology:
        """Topology of the first seed, with the values of all keys."""
        return self.tasks[0].resolved_topology

    @cached_property
    def workload(self) -> Workload:
        """Workload of the first run, with a ``remark`` that describes all clients or stations."""
        return _describe_tasks(self.tasks)

    @property
    def workloads(self) -> list[Workload]:
        """Workload of the first station for each seed or client."""
        return [task.workload for task in self.tasks]

    @cached_property
    def _results(self) -> dict[int, list[Result]]:
        """Results by policy index. A policy has one result for each ``[[stations]]`` table."""
        results: dict[int, list[Result]] = {}
        kinds = list(dict.fromkeys(block.keys["kind"] for block in self.blocks))
        ordered = sorted(self.blocks, key=lambda each: (each.keys["number"], kinds.index(each.keys["kind"])))
        for (number, _), blocks in groupby(ordered, lambda each: (each.keys["number"], each.keys["kind"])):
            results.setdefault(number, []).append(Result(tuple(blocks), self.levels, self.scenario.facts))
        return results

    def _of(self, numbers: Iterable[int]) -> tuple[Result, ...]:
        return tuple(result for number in numbers for result in self._results.get(number, []))

    @cached_property
    def levels(self) -> tuple[str, ...]:
        """Keys that distinguish the runs of a policy, such as ``("seed", "station")``."""
        stations = ["station"] if self.resolved_topology.stations else []
        return (*filter(None, [self.replicate]), *stations)

    @property
    def runs(self) -> tuple[Result, ...]:
        """Results of the compared policies, in the given order.

        If the topology has ``[[stations]]`` tables, each policy has a result for each table.
        """
        return self._of(self.roles.compared)

    @property
    def baselines(self) -> tuple[Result, ...]:
        """Results of the baselines, which precede the policies in tables."""
        return self._of(self.roles.baselines)

    @property
    def reference_runs(self) -> tuple[Result, ...]:
        """Results of the reference policy; empty without a reference."""
        return self._of(self.roles.reference)

    @property
    def always_on_runs(self) -> tuple[Result, ...]:
        """Results of the run without power saving, the reference of every slowdown."""
        return self._of([REFERENCE_NUMBER])

    @property
    def shown(self) -> tuple[Result, ...]:
        """The baselines followed by all other runs."""
        compared, baselines, _ = self.roles
        return self._of([*baselines, *(number for number in compared if number not in baselines)])

    @property
    def always_on(self) -> Result:
        """Result of the run without power saving. With several ``[[stations]]`` tables, raise InputError."""
        first, *others = self.always_on_runs
        if others:
            stations = ", ".join(run.station for run in self.always_on_runs)
            raise InputError(
                f"Use always_on_runs, because each of the stations {stations} has its own result."
            )
        return first

    def reference_of(self, run: Result) -> Result | None:
        """Return the result of the reference policy for the same stations; None without a reference."""
        return next((other for other in self.reference_runs if other.station == run.station), None)

    def difference(self, run: Result) -> Row:
        """Return how much the energy, page time and slowdown of a result differ from the reference.

        The values are means over pairs of runs with the same seed or client. With several pairs,
        ``half_width_95`` has the half-widths of their 95 % confidence intervals. Without a reference, the
        row is empty.
        """
        reference = self.reference_of(run)
        if reference is None:
            return {}
        pairs = [(a.row, b.row) for a, b in zip(run.replicates, reference.replicates, strict=True)]
        samples = {SAVED: [_saved_percent(*pair) for pair in pairs]}
        samples |= {name: [row[name] - other[name] for row, other in pairs] for name in _COMPARED}
        intervals = {name: confidence_interval(drop_nan(values)) for name, values in samples.items()}
        widths = {name: interval.half_width for name, interval in intervals.items()}
        return {
            "against": reference.policy,
            **{name: interval.mean for name, interval in intervals.items()},
            **({"half_width_95": widths} if intervals[SAVED].replications > 1 else {}),
        }

    def __str__(self) -> str:
        from psm_sim.reporting.terminal.comparison import write

        stream = io.StringIO()
        write(self, stream)
        return stream.getvalue().rstrip("\n")

    def __repr__(self) -> str:
        results = [f"{run.label} {run.key_numbers}" for run in self.shown]
        more = [f"and {len(results) - _MAX_NAMED} more"] if len(results) > _MAX_NAMED else []
        scenario = f"{self.scenario.trace_name}, {pluralize(self.pages, 'page')}, {self.seed_range}"
        return f"<Comparison on {scenario}: {'; '.join([*results[:_MAX_NAMED], *more])}>"

    def _repr_html_(self) -> str:
        """Return the conclusion and the tables as HTML for notebooks, with all names escaped."""
        from psm_sim.reporting.comparison_table import tables_of
        from psm_sim.reporting.html.html_document import html_paragraphs, html_table

        tables = [html_table(table.main_columns) for table in tables_of(self)]
        return "".join([html_paragraphs([self.conclusion()]), *tables])

    @property
    def frame(self) -> pd.DataFrame:
        """The results as a DataFrame with one row per shown result, including the baselines.

        The columns begin with policy and energy. Nested values have dotted names, such as ``slowdown.mean``.
        """
        import pandas as pd

        frame = pd.DataFrame([self._frame_row(run) for run in self.shown])
        measures = _PAGE_MEASURES if self.runs[0]["loads_pages"] else _latencies(map(str, frame))
        first = [name for name in (*_MAIN, *measures) if name in frame]
        return frame[[*first, *(name for name in frame if name not in first)]]

    def _frame_row(self, run: Result) -> Row:
        values = {key: value for key, value in run.to_dict().items() if not isinstance(value, list)}
        difference = self.difference(run)
        return {
            **flatten({**values, "parameters": format_pairs(values["parameters"])}),
            **flatten({"difference": difference} if difference else {}),
            **self.scenario.facts,
        }

    @property
    def long_frame(self) -> pd.DataFrame:
        """The means as a DataFrame with one row per shown result and metric.

        ``metric`` is the name of a value, such as ``slowdown.mean``. ``mean`` is over the seeds or clients;
        ``low`` and ``high`` are the ends of its 95 % confidence interval. ``p_value`` is from the paired
        t-test against the reference policy, with Holm's correction for all pairs of policies, as in the
        conclusion. Intervals and p-values of a single run are nan. The other columns are ``policy``,
        ``replications`` and, if they are set, ``label`` and ``station``.
        """
        import pandas as pd

        stations = dict.fromkeys(run.station for run in self.shown)
        rows = [row for station in stations for row in self._long_rows(station)]
        return pd.DataFrame(rows)

    def _long_rows(self, station: str) -> Iterator[Row]:
        """Yield the rows of :attr:`long_frame` for one ``[[stations]]`` table."""
        runs = [run for run in self.shown if run.station == station]
        reference = next((n for n, run in enumerate(runs) if run is self.reference_of(run)), None)
        for metric in _metrics(runs[0].row):
            measure = Measure(runs, itemgetter(metric))
            for number, (run, interval) in enumerate(zip(runs, measure.intervals, strict=True)):
                has_test = reference not in (None, number) and not measure.is_single
                ends = (math.nan, math.nan) if measure.is_single else (interval.low, interval.high)
                yield {
                    **{key: value for key, value in run.identity.items() if key != "station_policy"},
                    "metric": metric,
                    "mean": interval.mean,
                    "low": ends[0],
                    "high": ends[1],
                    "p_value": float(measure.p_values[number, reference]) if has_test else math.nan,
                    "replications": interval.replications,
                }

    @property
    def recorded_time(self) -> Row:
        """Mean recorded and simulated page time and their ratio; empty if the trace has no page times."""
        pages = self.workload.pages
        times_s = [page.graph.recorded_s for page in pages if isinstance(page, DependencyPage)]
        known_s = [time_s for time_s in times_s if time_s is not None]
        if len(known_s) < len(pages) or self.resolved_topology.stations:
            return {}
        recorded_s, simulated_s = float(np.mean(known_s)), self.always_on["page_time_s.mean"]
        ratio = simulated_s / recorded_s if recorded_s else math.nan
        return {"recorded_s": recorded_s, "simulated_s": simulated_s, "ratio": ratio}

    def conclusion(self) -> str:
        """Return one to three sentences that name the policies with the lowest energy and the shortest delay.

        ``docs/reference.md`` explains how the policies are compared.
        """
        from psm_sim.reporting.sentences import conclude

        return conclude(
            self.shown,
            self.reference_runs,
            max_latency_s=self.max_latency_s,
            is_partial=bool(self.missing),
            is_synthetic=self.workload.synthetic,
        )

    def plot(self) -> Any:
        """Plot energy against slowdown, with the best known schedule. Return the matplotlib figure."""
        from psm_sim.reporting.figures.comparison import draw_trade_off, frontier_of

        return draw_trade_off(self, frontier_of(self))

    @property
    def topology_differs(self) -> dict[str, Any]:
        """Topology keys that differ from the bundled topology, without those set by profile or settings."""
        reported = {**self.scenario.chip, **self.scenario.settings}
        differences = topology_differences(self.resolved_topology)
        return {key: value for key, value in differences.items() if key not in reported}

    @property
    def pages(self) -> int:
        """The number of pages that each policy loaded with one seed, over all clients and stations."""
        first = self.blocks[0].keys
        same = [
            block
            for block in self.blocks
            if (block.keys["number"], block.keys["seed"]) == (first["number"], first["seed"])
        ]
        return sum(map(len, same))

    @property
    def replications(self) -> int:
        """The number of seeds or clients."""
        return len(self.tasks)

    @property
    def seed_range(self) -> str:
        """The seeds as text, such as ``"seed 1"`` or ``"seeds 1 to 10"``."""
        first, last = (self.tasks[index].scenario.seed for index in (0, -1))
        return f"seeds {first} to {last}" if self.replicate == "seed" else f"seed {first}"


def _metrics(row: Row) -> list[str]:
    """Return the metrics of :attr:`Comparison.long_frame`; without page views, power and latencies."""
    names = MEASURES if row["loads_pages"] else ("mean_power_mw", *_latencies(row))
    return [name for name in (*names, "mean_current_ma") if name in row]


def _latencies(names: Iterable[str]) -> list[str]:
    return [name for name in names if name.endswith((".latency_s.p50", ".latency_s.p99"))]


def _describe_tasks(tasks: Sequence[Task]) -> Workload:
    """Return the first task's workload with a ``remark`` that describes all clients or stations."""
    first = tasks[0]
    if first.resolved_topology.stations:
        return _describe_setups(first.stations, first.resolved_topology)
    workload = first.workload
    if len(tasks) == 1 or not first.client:
        return workload
    remark = (
        f"{len(tasks)} clients of the recording, each simulated independently; all values are means over"
        " the clients"
    )
    return replace(workload, client="", remark="; ".join((remark, *workload.notes)))


def _describe_setups(setups: Sequence[StationSetup], topology: Topology) -> Workload:
    """Return the workload of the first station with a ``remark`` that describes all stations."""
    kinds = [list(group) for _, group in groupby(setups, lambda setup: setup.kind)]
    remark = (
        f"{pluralize(len(setups), 'station')} on one access point: "
        f"{'; '.join(map(_describe_kind, kinds))}. Each row is a mean over the stations of its name. They"
        " share a channel, so intervals require several seeds"
    )
    return replace(setups[0].workload, name=topology.name, remark=remark)


def _describe_kind(setups: Sequence[StationSetup]) -> str:
    """Return a description of the stations of one table, such as ``"3 x phone with trace ucb"``."""
    first = setups[0]
    policy = f" and policy {first.policy}" if first.policy else ""
    return f"{len(setups)} x {first.kind} with trace {first.workload.name}{policy}"


def _saved_percent(row: Row, reference: Row) -> float:
    reference_j = reference["energy_per_page_j"]
    return 100 * (1 - row["energy_per_page_j"] / reference_j) if reference_j else math.nan


@dataclass(frozen=True)
class References:
    """Additional policies of a comparison.

    Attributes
    ----------
    baselines : tuple of PolicyLike
        Policies that precede the compared ones in tables.
    reference : tuple of PolicyLike
        The reference policy for relative energy and slowdown, or an empty tuple.
    """

    baselines: tuple[PolicyLike, ...] = ()
    reference: tuple[PolicyLike, ...] = ()


NO_REFERENCES = References()
"""No baselines and no reference policy."""

BASELINES = (Spec("always-on"), Spec("psm"))
"""The baselines: no power saving, and static power-save mode of the standard."""


def all_policies(policies: Sequence[PolicyLike], references: References) -> list[PolicyLike]:
    """Return the baselines and the reference that are not among *policies*, followed by *policies*.

    The policies run in this order, so that a partial comparison has its baselines.

    Raises
    ------
    InputError
        If there is no policy, *policies* is not a list, or two policies have the same label.
    """
    if not policies or isinstance(policies, (str, Spec, Policy, type)):
        raise InputError(f"policies must be a non-empty list, got {policies!r}.")
    others: list[PolicyLike] = []
    for policy in (*references.baselines, *references.reference):
        if index_of(policy, [*policies, *others]) is None:
            others.append(policy)
    check_labels([*others, *policies])
    return [*others, *policies]


def check_labels(policies: Sequence[PolicyLike]) -> None:
    """Raise InputError if the label of a policy is also the label or the name of another policy."""
    names = [label_of(policy) or spec_text(policy) for policy in policies]
    for label in filter(None, map(label_of, policies)):
        if names.count(label) > 1:
            raise InputError(f"label={label} names two policies; give each policy a different label.")


def roles_of(policies: Sequence[PolicyLike], references: References, finished: Iterable[int]) -> Roles:
    """Return the :class:`Roles` of the policies with the indices *finished* in :func:`all_policies`."""
    simulated, done = all_policies(policies, references), set(finished)
    compared = range(len(simulated) - len(policies), len(simulated))
    baselines, reference = (
        [index_of(policy, simulated) for policy in role]
        for role in (references.baselines, references.reference)
    )
    return Roles(*([n for n in numbers if n in done] for numbers in (compared, baselines, reference)))


def reason_of(error: BaseException) -> str:
    """Return the reason why a run has no result, in one line."""
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    return str(error) if isinstance(error, (InputError, CommandTerminated)) else describe_error(error)


def index_of(policy: PolicyLike, policies: Sequence[PolicyLike]) -> int | None:
    """Return the index of *policy*, or None. Specs that differ only in the label are equal."""
    for index, other in enumerate(policies):
        if isinstance(policy, (Policy, type)) or isinstance(other, (Policy, type)):
            if policy is other:
                return index
        elif spec_text(policy) == spec_text(other):
            return index
    return None

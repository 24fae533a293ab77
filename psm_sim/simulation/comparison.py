"""Results of several policies on the same pages, and the roles of baselines and reference."""

from __future__ import annotations

import html
import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import CommandTerminated, InputError, describe_error
from psm_sim.common.formatting import format_pairs
from psm_sim.network import Topology, topology_differences
from psm_sim.policies import Policy
from psm_sim.simulation.conclusion import conclude
from psm_sim.simulation.result import Result
from psm_sim.simulation.result_parts import PolicyLike, label_of, spec_text
from psm_sim.simulation.run_averages import PairedDifference, paired_difference
from psm_sim.simulation.scenario import Scenario
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
"""First columns of the frame, if it has them. Without page views, those of the latencies come next."""

_MAX_NAMED = 8
"""Maximum number of results in the ``repr`` of a comparison."""


class RecordedTime(NamedTuple):
    """Mean page time of a recording, and of its simulation without power saving, in seconds."""

    recorded_s: float
    simulated_s: float

    @property
    def ratio(self) -> float:
        """Simulated time relative to the recorded one."""
        return self.simulated_s / self.recorded_s if self.recorded_s else math.nan


@dataclass(frozen=True, repr=False)
class Comparison:
    """Results of several policies on the same pages, as returned by :func:`psm_sim.compare`.

    Printing a comparison shows the table of the command line and the conclusion, and so does a notebook.

    Attributes
    ----------
    scenario : Scenario
        Trace, topology, number of pages and seed.
    resolved_topology : Topology
        Topology with the values of all keys.
    workload : Workload
        The pages.
    runs : tuple of Result
        Results of the compared policies, in the given order. Each policy has one result, or one for each
        ``[[stations]]`` table of the topology.
    always_on_runs : tuple of Result
        Run without power saving, the reference of every slowdown, with one result for each table as well.
    baselines : tuple of Result
        Results of the baselines, which precede the policies in tables.
    reference_runs : tuple of Result
        Results of the policy that energy and slowdown are compared with; empty if there is no reference.
    missing : mapping of str to str
        Policies, seeds or clients without a result, with the reason, if this is a partial comparison.
    max_latency_s : float or None
        Limit of the delay for :meth:`conclusion`, in seconds: of the mean delay of a page, or of the 99th
        percentile of the latency of messages. None means no limit.

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
    resolved_topology: Topology
    workload: Workload
    runs: tuple[Result, ...]
    always_on_runs: tuple[Result, ...]
    baselines: tuple[Result, ...] = ()
    reference_runs: tuple[Result, ...] = ()
    missing: Mapping[str, str] = field(default_factory=dict)
    max_latency_s: float | None = None

    def __str__(self) -> str:
        stream = io.StringIO()
        _reporting("terminal.comparison").write(self, stream)
        return stream.getvalue().rstrip("\n")

    def __repr__(self) -> str:
        results = [f"{run.label} {run.key_numbers}" for run in self.shown]
        more = [f"and {len(results) - _MAX_NAMED} more"] if len(results) > _MAX_NAMED else []
        scenario = f"{self.trace}, {self.pages} pages, {self.seed_range}"
        return f"<{type(self).__name__} on {scenario}: {'; '.join([*results[:_MAX_NAMED], *more])}>"

    def _repr_html_(self) -> str:
        """Return the conclusion and the tables as HTML for notebooks, with all names escaped."""
        import pandas as pd

        module = _reporting("comparison_table")
        tables = [module.plain_rows(self, table) for table in module.tables_of(self)]
        texts = [pd.DataFrame(rows, columns=head).to_html(index=False) for head, rows in tables]
        return "".join([f"<p>{html.escape(self.conclusion())}</p>", *texts])

    @property
    def frame(self) -> pd.DataFrame:
        """The results as a DataFrame with one row per shown result, including the baselines.

        The first columns are the main values. Nested values have dotted names, such as ``slowdown.mean``.
        """
        import pandas as pd

        frame = pd.json_normalize([self._row(run) for run in self.shown])
        latencies = [name for name in map(str, frame) if name.endswith((".latency_s.p50", ".latency_s.p99"))]
        measures = _PAGE_MEASURES if self.runs[0].loads_pages else latencies
        first = [name for name in (*_MAIN, *measures) if name in frame]
        return frame[[*first, *(name for name in frame if name not in first)]]

    def _row(self, run: Result) -> dict[str, Any]:
        row = {key: value for key, value in run.to_dict().items() if not isinstance(value, list)}
        return {
            **row,
            "parameters": format_pairs(row["parameters"]),
            **self.difference_values(run),
            **self.facts,
        }

    @property
    def differences(self) -> list[PairedDifference]:
        """Difference of each shown result from the reference; empty without a reference."""
        pairs = ((run, self.reference_of(run)) for run in self.shown)
        return [paired_difference(run, reference) for run, reference in pairs if reference is not None]

    def difference_values(self, run: Result) -> dict[str, Any]:
        """Return the difference of a result from the reference as ``difference``; empty without one."""
        reference = self.reference_of(run)
        if reference is None:
            return {}
        values = paired_difference(run, reference).to_dict()
        return {"difference": {key: value for key, value in values.items() if key not in run.identity}}

    def reference_of(self, run: Result) -> Result | None:
        """Return the result of the reference policy for the same stations; None without a reference."""
        return next((each for each in self.reference_runs if each.station == run.station), None)

    @property
    def reference(self) -> Result | None:
        """The only one of ``reference_runs``; None without a reference. See :meth:`reference_of`."""
        return _only(self.reference_runs, "reference_runs") if self.reference_runs else None

    @property
    def always_on(self) -> Result:
        """The only one of ``always_on_runs``."""
        return _only(self.always_on_runs, "always_on_runs")

    @property
    def recorded_time(self) -> RecordedTime | None:
        """Recorded and simulated page time; None if the trace has no recorded page times."""
        pages = self.workload.pages
        times_s = [page.graph.recorded_s for page in pages if isinstance(page, DependencyPage)]
        known_s = [time_s for time_s in times_s if time_s is not None]
        if len(known_s) < len(pages) or self.resolved_topology.stations:
            return None
        return RecordedTime(sum(known_s) / len(pages), self.always_on.page_time_s.mean)

    @property
    def facts(self) -> dict[str, Any]:
        """Trace, topology, settings and seed, which are columns of every frame."""
        return self.scenario.facts

    def conclusion(self) -> str:
        """Return in one to three sentences which policies use the least energy and which delay least.

        ``docs/reference.md`` explains how it is computed.
        """
        is_reference = all(any(run is each for each in self.reference_runs) for run in self.shown)
        return conclude(
            self.shown,
            self.always_on_runs if is_reference else self.reference_runs,
            max_latency_s=self.max_latency_s,
            is_partial=bool(self.missing),
            is_synthetic=self.workload.synthetic,
        )

    def plot(self) -> Any:
        """Plot energy against slowdown, with the offline frontier. Return the matplotlib figure."""
        frontier = _reporting("figures.comparison").frontier_of(self)
        return _reporting("figures.comparison").draw_trade_off(self, frontier)

    @property
    def shown(self) -> tuple[Result, ...]:
        """The baselines followed by all other runs."""
        return (
            *self.baselines,
            *(run for run in self.runs if not any(run is baseline for baseline in self.baselines)),
        )

    @property
    def trace(self) -> str:
        """The trace as the user specified it."""
        return self.scenario.trace_name

    @property
    def topology(self) -> str:
        """The topology as the user specified it."""
        return self.scenario.topology_name

    @property
    def topology_differs(self) -> dict[str, Any]:
        """Topology keys that differ from the bundled topology, apart from profile and settings."""
        reported = {**self.scenario.chip, **self.settings}
        return {
            key: value
            for key, value in topology_differences(self.resolved_topology).items()
            if key not in reported
        }

    @property
    def pages(self) -> int:
        """The number of pages that each policy loaded."""
        return len(self.workload.pages)

    @property
    def seed(self) -> int:
        """The seed of all random values."""
        return self.scenario.seed

    @property
    def seed_range(self) -> str:
        """The seeds as text, such as ``"seed 1"`` or ``"seeds 1 to 10"``."""
        return f"seed {self.seed}"

    @property
    def settings(self) -> dict[str, Any]:
        """The overridden topology keys, as specified."""
        return dict(self.scenario.settings)


@dataclass(frozen=True, repr=False)
class ClientComparison(Comparison):
    """Comparison of policies over the same clients; ``runs`` are :class:`ClientAverage`."""

    clients: tuple[Comparison, ...] = ()

    @property
    def pages(self) -> int:
        """The number of pages of all clients that each policy loaded."""
        return sum(comparison.pages for comparison in self.clients)


@dataclass(frozen=True, repr=False)
class SeedComparison(Comparison):
    """Comparison of policies over several seeds; ``runs`` are :class:`SeedAverage`.

    ``seeds`` has the comparison of each seed. ``workload`` is that of the first seed.
    """

    seeds: tuple[Comparison, ...] = ()

    @property
    def pages(self) -> int:
        """The number of pages that each policy loaded with the first seed."""
        return self.seeds[0].pages

    @property
    def seed_range(self) -> str:
        """The first and the last seed as text."""
        return f"seeds {self.seeds[0].seed} to {self.seeds[-1].seed}"


def _only(runs: Sequence[Result], name: str) -> Result:
    """Return the only one of the results, which *name* lists."""
    if len(runs) > 1:
        stations = ", ".join(run.station for run in runs)
        raise InputError(f"Use {name}, because each of the stations {stations} has its own result.")
    return runs[0]


OnFailure = Callable[[Comparison], None]
"""Function that receives the finished part of a comparison before the exception that ended it is raised."""


def ignore_partial(_: Comparison) -> None:
    """Drop a partial comparison."""


def _reporting(name: str) -> Any:
    # Imported lazily by name: reporting is a higher layer and may not be imported here.
    return import_module(f"psm_sim.reporting.{name}")


@dataclass(frozen=True)
class References:
    """Additional policies of a comparison.

    Attributes
    ----------
    baselines : tuple of PolicyLike
        Policies that precede the compared ones in tables.
    reference : tuple of PolicyLike
        The policy that energy and slowdown are compared with, or an empty tuple.
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
        if _index_of(policy, [*policies, *others]) is None:
            others.append(policy)
    check_labels([*others, *policies])
    return [*others, *policies]


def check_labels(policies: Sequence[PolicyLike]) -> None:
    """Raise InputError if the label of a policy is also the label or the name of another one."""
    names = [label_of(policy) or spec_text(policy) for policy in policies]
    for label in filter(None, map(label_of, policies)):
        if names.count(label) > 1:
            raise InputError(f"label={label} names two policies; give each policy a different label.")


Kind = TypeVar("Kind", bound=Comparison)


def assign_roles(comparison: Kind, policies: Sequence[PolicyLike], references: References) -> Kind:
    """Split the runs of a comparison into policies, baselines and reference.

    *comparison* has the runs of :func:`all_policies`, or the first of them. *policies* and *references* are
    its arguments.
    """
    simulated = all_policies(policies, references)
    size = len(comparison.resolved_topology.stations) or 1

    def runs_of(policies: Sequence[PolicyLike]) -> tuple[Result, ...]:
        starts = [size * (_index_of(policy, simulated) or 0) for policy in policies]
        return tuple(run for start in starts for run in comparison.runs[start : start + size])

    return replace(
        comparison,
        runs=comparison.runs[size * (len(simulated) - len(policies)) :],
        baselines=runs_of(references.baselines),
        reference_runs=runs_of(references.reference),
    )


def collect_runs(
    comparison: Kind,
    runs: Iterable[Sequence[Result]],
    policies: Sequence[PolicyLike],
    references: References,
    on_failure: OnFailure,
) -> Kind:
    """Return *comparison* with runs and their roles. If a run fails, keep those before it.

    *runs* yields the results of each policy of :func:`all_policies`, whose arguments are *policies* and
    *references*. If a run fails or is interrupted and at least one of *policies* has finished, *on_failure*
    is called with the partial comparison. The exception is then raised.
    """
    finished: list[Sequence[Result]] = []

    def collected() -> Kind:
        found = tuple(result for results in finished for result in results)
        return assign_roles(replace(comparison, runs=found), policies, references)

    try:
        for run in runs:
            finished.append(run)  # noqa: PERF402 (the runs before a failure are kept)
    except BaseException as error:
        partial = collected()
        simulated = all_policies(policies, references)
        names = [label_of(policy) or spec_text(policy) for policy in simulated[len(finished) :]]
        missing = dict.fromkeys(names, "not run") | dict.fromkeys(names[:1], reason_of(error))
        if partial.runs:
            on_failure(replace(partial, missing=missing))
        raise
    return collected()


def reason_of(error: BaseException) -> str:
    """Return why a run has no result, in one line."""
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    return str(error) if isinstance(error, (InputError, CommandTerminated)) else describe_error(error)


def _index_of(policy: PolicyLike, policies: Sequence[PolicyLike]) -> int | None:
    """Return the index of a policy. Specs are compared as text, without labels."""
    for index, other in enumerate(policies):
        if isinstance(policy, (Policy, type)) or isinstance(other, (Policy, type)):
            if policy is other:
                return index
        elif spec_text(policy) == spec_text(other):
            return index
    return None

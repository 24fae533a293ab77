"""Comparison of policies over several clients of one trace, or over several seeds, with confidence intervals.

Clients and seeds are simulated independently, and each has the same weight, regardless of its number of
pages. Means are means over the clients or seeds of the mean of each one, and intervals are Student's t
intervals over them. All policies load the same pages, so differences are paired. The runs share no state,
so the numbers do not depend on the number of workers.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial

from psm_sim.common.errors import InputError
from psm_sim.common.parallel import parallel_map
from psm_sim.common.parameters import Parameter
from psm_sim.common.progress import Progress, no_progress
from psm_sim.network import Observer
from psm_sim.simulation.comparison import NO_REFERENCES, Comparison, References, all_policies, assign_roles
from psm_sim.simulation.policy_comparison import compare_runs, prepare_runs, run_shared_pages
from psm_sim.simulation.result_parts import PolicyLike
from psm_sim.simulation.run import Run
from psm_sim.simulation.run_averages import ClientAverage, SeedAverage, average_runs
from psm_sim.simulation.run_outputs import NO_OUTPUTS, RunOutputs
from psm_sim.simulation.scenario import Scenario
from psm_sim.simulation.station_comparison import compare_stations
from psm_sim.workload import Workload

_DEFAULTS = Scenario()
_REPLICATIONS = Parameter("replications", 1, at_least=1, at_most=10_000)


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


def compare_clients(
    policies: Sequence[PolicyLike],
    scenario: Scenario = _DEFAULTS,
    progress: Progress = no_progress,
    workers: int | None = None,
    references: References = NO_REFERENCES,
    outputs: RunOutputs = NO_OUTPUTS,
) -> Comparison:
    """Simulate each policy for every client that the trace selects, and average over the clients.

    Parameters
    ----------
    policies, scenario, references
        As for :func:`~psm_sim.simulation.compare_runs`. The scenario's ``pages`` limits the pages of each
        client.
    progress
        Called after each page of a single client, otherwise after each client.
    workers
        Number of processes for several clients; None uses all cores. The numbers do not depend on it.
    outputs
        Files to write during the run. Only supported for a single client.

    Returns
    -------
    Comparison
        A :class:`ClientComparison` if there are several clients.

    Raises
    ------
    InputError
        If an argument is invalid. No simulation has started then.
    """
    topology = scenario.resolve_topology()
    if outputs:
        outputs.check(policies, topology)
    if topology.stations:
        return compare_stations(policies, scenario, topology, progress, references, outputs)
    no_observers: AbstractContextManager[list[list[list[Observer]]]] = nullcontext([])
    with outputs.observers(policies) if outputs else no_observers as by_policy:
        runs = prepare_runs(policies, topology, references, [observers for (observers,) in by_policy])
        workloads = scenario.workloads()
        if len(workloads) == 1:
            outputs.check_size(workloads, topology)
            comparison = run_shared_pages(runs, topology, scenario, workloads[0], progress)
            return assign_roles(comparison, policies, references)
        outputs.refuse(f"{len(workloads)} clients")
    _check_several_runs(runs, f"{len(workloads)} clients", workers)
    return _compare_each(policies, scenario, workloads, progress, workers, references)


def _compare_each(
    policies: Sequence[PolicyLike],
    scenario: Scenario,
    workloads: Sequence[Workload],
    progress: Progress,
    workers: int | None,
    references: References,
) -> ClientComparison:
    """Simulate the policies for each client independently, and average over the clients.

    Parameters
    ----------
    policies, scenario, progress, workers, references
        As for :func:`compare_clients`.
    workloads
        Pages of each client, at least two workloads.
    """
    scenarios = [replace(scenario, trace=workload) for workload in workloads]
    report = _ProgressReporter(
        progress, sum(len(workload.pages) for workload in workloads), len(workloads), "clients"
    )
    comparisons = _compare_in_parallel(all_policies(policies, references), scenarios, report, workers)
    return assign_roles(_merge_clients(scenario, workloads, comparisons), policies, references)


def compare_seeds(
    policies: Sequence[PolicyLike],
    scenario: Scenario,
    replications: int,
    progress: Progress = no_progress,
    workers: int | None = None,
    references: References = NO_REFERENCES,
) -> Comparison:
    """Simulate each policy on the pages of several seeds, and average over the seeds.

    Parameters
    ----------
    policies, scenario, references
        As for :func:`~psm_sim.simulation.compare_runs`. The scenario has the first seed.
    replications
        Number of consecutive seeds, at least 1.
    progress
        Called after each seed. With one seed it is called as for
        :func:`compare_clients`.
    workers
        Number of processes; None uses all cores. The numbers do not depend on it.

    Returns
    -------
    Comparison
        A :class:`SeedComparison` if there are several seeds.

    Raises
    ------
    InputError
        If an argument is invalid, or the pages do not depend on the seed. No simulation has started
        then.
    """
    _REPLICATIONS.check(replications, "comparison")
    if replications == 1:
        return compare_clients(policies, scenario, progress, workers, references)
    _check_several_runs(
        prepare_runs(policies, scenario.resolve_topology(), references), f"{replications} seeds", workers
    )
    scenarios = [replace(scenario, seed=scenario.seed + number) for number in range(replications)]
    _check_pages_depend_on_seed(scenarios)
    report = _ProgressReporter(progress, replications * scenarios[0].pages, replications, "seeds")
    comparisons = _compare_in_parallel(all_policies(policies, references), scenarios, report, workers)
    return assign_roles(_merge_seeds(scenarios, comparisons), policies, references)


def _check_pages_depend_on_seed(scenarios: Sequence[Scenario]) -> None:
    """Reject replications of pages that are equal for all seeds: the intervals would be meaningless."""
    first, second = (scenario.workload() for scenario in scenarios[:2])
    if (first.pages, first.messages) == (second.pages, second.messages):
        raise InputError(
            f"replications must be 1 for trace {scenarios[0].trace_name}, got {len(scenarios)}; its pages "
            "are the same for every seed."
        )


def _check_several_runs(runs: Sequence[Run], several: str, workers: int | None) -> None:
    """Reject arguments that do not support several runs of a policy.

    Parameters
    ----------
    runs
        The policies, initialised in this process.
    several
        Description of the runs, such as ``"3 clients"``.
    workers
        Number of processes; None uses all cores.

    Raises
    ------
    InputError
        If *workers* is less than 1, or a policy would write the same file in every run.
    """
    if workers is not None and workers < 1:
        raise InputError(f"workers must be an integer >= 1, got {workers!r}.")
    for run in runs:
        state = run.parameters.get("state")
        if state:
            raise InputError(
                f"policy {run.policy.name}: state={state!r} conflicts with {several}, because each of them "
                f"would write it; use one of the {several.split()[1]} or remove state."
            )


@dataclass(frozen=True)
class _ProgressReporter:
    """Progress reporter for several runs.

    Attributes
    ----------
    progress : Progress
        Callback for the progress.
    pages, runs : int
        Total number of pages and of runs.
    kind : str
        Plural noun for the runs, such as ``"clients"``.
    """

    progress: Progress
    pages: int
    runs: int
    kind: str

    def __call__(self, comparisons: Sequence[Comparison]) -> None:
        """Report the finished comparisons."""
        label = f"{len(comparisons)} of {self.runs} {self.kind}"
        self.progress(sum(comparison.pages for comparison in comparisons), self.pages, label)


def _compare_in_parallel(
    policies: Sequence[PolicyLike],
    scenarios: Sequence[Scenario],
    report: _ProgressReporter,
    workers: int | None,
) -> list[Comparison]:
    """Simulate the policies in each scenario.

    Parameters
    ----------
    policies
        As for :func:`~psm_sim.simulation.compare_runs`.
    scenarios
        The scenarios, at least one.
    report
        Called after each scenario.
    workers
        Number of processes; None uses all cores. The numbers do not depend on it.

    Returns
    -------
    list of Comparison
        One comparison for each scenario, in order.
    """
    comparisons: list[Comparison] = []
    for comparison in parallel_map(partial(_compare_without_state, policies), scenarios, workers):
        comparisons.append(comparison)
        report(comparisons)
    return comparisons


def _compare_without_state(policies: Sequence[PolicyLike], scenario: Scenario) -> Comparison:
    """Simulate the policies in one scenario. The final policy states are dropped, not pickled."""
    comparison = compare_runs(policies, scenario)
    runs = tuple(replace(run, policy_state=None) for run in comparison.runs)
    return replace(comparison, runs=runs, always_on=replace(comparison.always_on, policy_state=None))


def _merge_clients(
    scenario: Scenario, workloads: Sequence[Workload], comparisons: Sequence[Comparison]
) -> ClientComparison:
    names = tuple(workload.client for workload in workloads)
    runs_by_policy = zip(*(comparison.runs for comparison in comparisons), strict=True)
    return ClientComparison(
        scenario,
        comparisons[0].resolved_topology,
        _describe_workloads(workloads),
        tuple(average_runs(ClientAverage, names, runs) for runs in runs_by_policy),
        average_runs(ClientAverage, names, [comparison.always_on for comparison in comparisons]),
        clients=tuple(comparisons),
    )


def _describe_workloads(workloads: Sequence[Workload]) -> Workload:
    """Return the workload of the first client with a remark about all clients."""
    first = workloads[0]
    remark = f"{len(workloads)} clients, each simulated independently; all values are means over the clients"
    return replace(first, client="", remark="; ".join((remark, *first.notes)))


def _merge_seeds(scenarios: Sequence[Scenario], comparisons: Sequence[Comparison]) -> SeedComparison:
    names, first = tuple(str(scenario.seed) for scenario in scenarios), comparisons[0]
    runs_by_policy = zip(*(comparison.runs for comparison in comparisons), strict=True)
    return SeedComparison(
        scenarios[0],
        first.resolved_topology,
        first.workload,
        tuple(average_runs(SeedAverage, names, runs) for runs in runs_by_policy),
        average_runs(SeedAverage, names, [comparison.always_on for comparison in comparisons]),
        seeds=tuple(comparisons),
    )

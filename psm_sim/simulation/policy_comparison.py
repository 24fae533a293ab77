"""Comparison of policies on the same pages, for one client, several clients or several seeds.

Clients and seeds are simulated independently, and each has the same weight, regardless of its number of
pages. Means are means over the clients or seeds of the mean of each one, and intervals are Student's t
intervals over them. All policies load the same pages, so differences are paired. The runs share no state,
so the numbers do not depend on the number of workers. Several stations on one access point are averaged
within each kind, and have intervals over seeds only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.common.parallel import parallel_map
from psm_sim.common.parameters import Parameter
from psm_sim.common.progress import Progress, no_progress
from psm_sim.network import Observer, Topology
from psm_sim.policies.always_on import AlwaysOn
from psm_sim.simulation.comparison import (
    NO_REFERENCES,
    ClientComparison,
    Comparison,
    OnFailure,
    References,
    SeedComparison,
    all_policies,
    assign_roles,
    collect_runs,
    ignore_partial,
    reason_of,
)
from psm_sim.simulation.result import Result
from psm_sim.simulation.result_parts import PolicyLike
from psm_sim.simulation.run import Run, page_times_s, prepare
from psm_sim.simulation.run_averages import ClientAverage, Kind, SeedAverage, average_runs
from psm_sim.simulation.run_outputs import NO_OUTPUTS, RunOutputs
from psm_sim.simulation.scenario import Scenario
from psm_sim.simulation.station_comparison import compare_stations, station_setups
from psm_sim.workload import Workload

_ALWAYS_ON = Spec("always-on")
_DEFAULTS = Scenario()
_REPLICATIONS = Parameter("replications", 1, at_least=1, at_most=10_000)
_WORKERS = Parameter("workers", 1, at_least=1, at_most=1024, optional=True)


def compare_runs(
    policies: Sequence[PolicyLike],
    scenario: Scenario = _DEFAULTS,
    progress: Progress = no_progress,
    references: References = NO_REFERENCES,
    on_failure: OnFailure = ignore_partial,
) -> Comparison:
    """Simulate each policy, and one run without power saving, on the pages of one client.

    All policies are initialised before the first page is loaded, so that errors are found early.

    Parameters
    ----------
    policies
        At least one policy: names with optional parameters (``"bsd:p=0.5"``), ``FILE.py:CLASS``, specs
        or policy instances.
    scenario
        Pages and topology.
    progress
        Called after each page.
    references
        Baselines, and the reference for relative energy and slowdown.
    on_failure
        If a later policy fails or is interrupted, called with the finished ones before the exception is
        raised.

    Returns
    -------
    Comparison
        The runs, baselines and reference.

    Raises
    ------
    InputError
        If an argument is invalid, or the trace selects several clients. No simulation has started then.
    """
    topology = scenario.resolve_topology()
    if topology.stations:
        return compare_stations(policies, scenario, topology, progress, references, on_failure=on_failure)
    runs = _prepare_runs(all_policies(policies, references), topology)
    collect = partial(collect_runs, policies=policies, references=references, on_failure=on_failure)
    return _run_on_same_pages(runs, topology, scenario, scenario.workload(), progress, collect)


def compare_clients(
    policies: Sequence[PolicyLike],
    scenario: Scenario = _DEFAULTS,
    progress: Progress = no_progress,
    workers: int | None = None,
    references: References = NO_REFERENCES,
    outputs: RunOutputs = NO_OUTPUTS,
    on_failure: OnFailure = ignore_partial,
) -> Comparison:
    """Simulate each policy for every client that the trace selects, and average over the clients.

    Parameters
    ----------
    policies, scenario, references
        As for :func:`compare_runs`. The scenario's ``pages`` limits the pages of each client.
    progress
        Called after each page of a single client, otherwise after each client.
    workers
        Number of processes for several clients; None uses all cores. The numbers do not depend on it.
    outputs
        Files to write during the run. Only supported for a single client. They are not written if a policy
        fails.
    on_failure
        As for :func:`compare_runs`. With several clients it is called with the finished clients, or with the
        finished policies of the first client.

    Returns
    -------
    Comparison
        A :class:`ClientComparison` if there are several clients.

    Raises
    ------
    InputError
        If an argument is invalid. No simulation has started then.
    """
    _WORKERS.check(workers, "comparison")
    topology = scenario.resolve_topology()
    outputs.check(policies, scenario, topology)
    if topology.stations:
        return compare_stations(policies, scenario, topology, progress, references, outputs, on_failure)
    simulated = all_policies(policies, references)
    with outputs.observers(policies) as by_policy:
        runs = _prepare_runs(simulated, topology, [observers for (observers,) in by_policy])
        workloads = scenario.workloads()
        if len(workloads) == 1:
            outputs.check_size(workloads, topology)
            collect = partial(collect_runs, policies=policies, references=references, on_failure=on_failure)
            return _run_on_same_pages(runs, topology, scenario, workloads[0], progress, collect)
        outputs.refuse(f"{len(workloads)} clients")
    scenarios = [replace(scenario, trace=workload, pages=len(workload.pages)) for workload in workloads]
    names = [workload.client for workload in workloads]

    def average(comparisons: Sequence[Comparison]) -> Comparison:
        done = len(comparisons)
        return ClientComparison(
            scenario,
            topology,
            _describe_workloads(workloads[:done]),
            *_average(ClientAverage, names[:done], comparisons),
            clients=tuple(comparisons),
        )

    by_name = dict(zip(names, scenarios, strict=True))
    return _compare_each(policies, references, by_name, "clients", progress, workers, average, on_failure)


def compare_seeds(
    policies: Sequence[PolicyLike],
    scenario: Scenario,
    replications: int,
    progress: Progress = no_progress,
    workers: int | None = None,
    references: References = NO_REFERENCES,
    outputs: RunOutputs = NO_OUTPUTS,
    on_failure: OnFailure = ignore_partial,
) -> Comparison:
    """Simulate each policy on the pages of several seeds, and average over the seeds.

    Parameters
    ----------
    policies, scenario, references
        As for :func:`compare_runs`. The scenario has the first seed.
    replications
        Number of seeds, at least 1. One seed is simulated by :func:`compare_clients`. The seeds are
        consecutive. With several stations, whose pages have consecutive seeds, they differ by the number of
        stations, so that no pages occur twice.
    progress
        Called after each seed.
    workers
        Number of processes; None uses all cores. The numbers do not depend on it.
    outputs
        Files to write during the run. Only supported for a single seed.
    on_failure
        As for :func:`compare_clients`, with seeds instead of clients.

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
        return compare_clients(policies, scenario, progress, workers, references, outputs, on_failure)
    _WORKERS.check(workers, "comparison")
    outputs.refuse(f"{replications} replications")
    simulated = all_policies(policies, references)
    topology = scenario.resolve_topology()
    _prepare_runs(simulated, topology)  # finds errors before the first run
    scenarios = [replace(scenario, seed=scenario.seed + number) for number in range(replications)]
    _check_pages_depend_on_seed(scenarios)
    names = [str(each.seed) for each in scenarios]

    def average(comparisons: Sequence[Comparison]) -> Comparison:
        return SeedComparison(
            scenario,
            comparisons[0].resolved_topology,
            comparisons[0].workload,
            *_average(SeedAverage, names[: len(comparisons)], comparisons),
            seeds=tuple(comparisons),
        )

    by_name = dict(zip(names, scenarios, strict=True))
    return _compare_each(policies, references, by_name, "seeds", progress, workers, average, on_failure)


def _prepare_runs(
    policies: Sequence[PolicyLike], topology: Topology, observers: Sequence[Sequence[Observer]] = ()
) -> list[Run]:
    """Initialise a run of each policy in a separate world. *observers* are those of the last policies."""
    own_observers = [*[()] * (len(policies) - len(observers)), *observers]
    pairs = zip(policies, own_observers, strict=True)
    return [prepare(policy, topology, observers) for policy, observers in pairs]


def _run_on_same_pages(
    runs: Sequence[Run],
    topology: Topology,
    scenario: Scenario,
    workload: Workload,
    progress: Progress,
    collect: Callable[[Comparison, Iterable[Sequence[Result]]], Comparison],
) -> Comparison:
    """Run initialised policies on the same pages, and return the comparison from :func:`collect_runs`.

    The run without power saving comes first, because its page times are needed for the slowdowns.
    """
    always_on_runs = (run for run in runs if isinstance(run.policy, AlwaysOn))
    reference = next(always_on_runs, None) or prepare(_ALWAYS_ON, topology)
    others = sum(not isinstance(run.policy, AlwaysOn) for run in runs)
    total, done = len(workload.pages) * (1 + others), 0

    def execute(run: Run, times_s: Sequence[float] | None = None) -> Result:
        nonlocal done
        before, done = done, done + len(workload.pages)
        progress(before, total, run.label)
        report: Callable[[int], None] = lambda count: progress(before + count, total, run.label)  # noqa: E731
        result = run.execute(workload.pages, times_s, report, workload.messages)
        return replace(result, facts=scenario.facts)

    always_on = execute(reference)
    times_s = page_times_s(always_on)
    results = ([always_on if isinstance(run.policy, AlwaysOn) else execute(run, times_s)] for run in runs)
    return collect(Comparison(scenario, topology, workload, (), (always_on,)), results)


def _check_pages_depend_on_seed(scenarios: Sequence[Scenario]) -> None:
    """Reject replications of pages that are equal for all seeds: the intervals would be meaningless."""
    first, second = map(_traffic_of, scenarios[:2])
    if first == second:
        raise InputError(
            f"replications must be 1 for trace {scenarios[0].trace_name}, got {len(scenarios)}; its pages "
            "are the same for every seed."
        )


def _traffic_of(scenario: Scenario) -> list[tuple[Any, Any]]:
    """Return pages and messages of each station."""
    topology = scenario.resolve_topology()
    workloads = (
        [setup.workload for setup in station_setups(scenario, topology)]
        if topology.stations
        else [scenario.workload()]
    )
    return [(workload.pages, workload.messages) for workload in workloads]


def _compare_each(
    policies: Sequence[PolicyLike],
    references: References,
    scenarios: Mapping[str, Scenario],
    kind: str,
    progress: Progress,
    workers: int | None,
    average: Callable[[Sequence[Comparison]], Comparison],
    on_failure: OnFailure,
) -> Comparison:
    """Simulate the policies in each scenario, in parallel, and merge the comparisons.

    *scenarios* are at least one, by name, in the order in which they are merged. *kind* is a plural noun for
    them, such as ``"clients"``. *average* returns the average of the first comparisons, at least two.
    """

    def merge(comparisons: Sequence[Comparison]) -> Comparison:
        merged = average(comparisons) if len(comparisons) > 1 else comparisons[0]
        return assign_roles(merged, policies, references)

    simulated = all_policies(policies, references)
    pages = [scenario.pages for scenario in scenarios.values()]
    total, label = sum(pages), f"{len(scenarios)} {kind}"
    finished: list[Comparison] = []
    begun: list[Comparison] = []
    attempts = parallel_map(partial(_compare_without_state, simulated), list(scenarios.values()), workers)
    progress(0, total, label)
    try:
        for comparison, error in attempts:
            if error is not None:
                begun.append(comparison)
                raise error
            finished.append(comparison)
            progress(sum(pages[: len(finished)]), total, label)
    except BaseException as error:
        kept = finished or begun
        if kept:
            rest = list(scenarios)[len(kept) :]
            missing = dict(kept[0].missing)
            if rest:
                name = f"{kind} {rest[0]} to {rest[-1]}" if len(rest) > 1 else f"{kind[:-1]} {rest[0]}"
                missing[name] = reason_of(error) if finished else "not run"
            merged = replace(merge(kept), missing=missing)
            if merged.runs:
                on_failure(merged)
        raise
    return merge(finished)


def _compare_without_state(
    policies: Sequence[PolicyLike], scenario: Scenario
) -> tuple[Comparison, Exception | None]:
    """Simulate the policies in one scenario. The final policy states are dropped, not pickled.

    Returns
    -------
    tuple of (Comparison, exception or None)
        If a policy fails, the comparison of those before it, with the exception.
    """
    kept: list[Comparison] = []
    error = None
    try:
        comparison = compare_runs(policies, scenario, on_failure=kept.append)
    except Exception as failure:
        if not kept:
            raise
        comparison, error = kept[0], failure
    runs = tuple(replace(run, policy_state=None) for run in comparison.runs)
    always_on = tuple(replace(run, policy_state=None) for run in comparison.always_on_runs)
    return replace(comparison, runs=runs, always_on_runs=always_on), error


def _average(
    kind: type[Kind], names: Sequence[str], comparisons: Sequence[Comparison]
) -> tuple[tuple[Kind, ...], tuple[Kind, ...]]:
    """Return the averages of the runs over the comparisons, and those of the runs without power saving."""
    by_comparison = ((each.runs for each in comparisons), (each.always_on_runs for each in comparisons))
    averages, always_on = (
        tuple(average_runs(kind, tuple(names), same) for same in zip(*runs, strict=True))
        for runs in by_comparison
    )
    return averages, always_on


def _describe_workloads(workloads: Sequence[Workload]) -> Workload:
    """Return the workload of the first client with a remark about all clients."""
    first = workloads[0]
    remark = (
        f"{len(workloads)} clients of the recording, each simulated independently; all values are means over"
        " the clients"
    )
    return replace(first, client="", remark="; ".join((remark, *first.notes)))

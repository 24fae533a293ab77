"""Comparison of policies over several clients of one trace, with confidence intervals.

Each client is simulated independently and has the same weight, regardless of its number of pages. Means
are means over the clients of the mean of each client. Intervals are Student's t intervals over the
clients. Clients share no state, so the numbers do not depend on the number of workers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from psm_sim.common.errors import InputError
from psm_sim.common.parallel import parallel_map
from psm_sim.common.progress import Progress
from psm_sim.simulation.compare_policies import all_policies, assign_roles, compare_runs
from psm_sim.simulation.comparison import Comparison
from psm_sim.simulation.reference_policies import PolicyLike, References
from psm_sim.simulation.run import Run
from psm_sim.simulation.run_averages import ClientAverage, average_runs
from psm_sim.simulation.scenario import Scenario
from psm_sim.workload import Workload


@dataclass(frozen=True, repr=False)
class ClientComparison(Comparison):
    """Comparison of policies over the same clients; ``runs`` are :class:`ClientAverage`."""

    clients: tuple[Comparison, ...] = ()

    @property
    def pages(self) -> int:
        """The number of pages of all clients that each policy loaded."""
        return sum(comparison.pages for comparison in self.clients)


def check_several_runs(runs: Sequence[Run], several: str, workers: int | None) -> None:
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


def compare_each(
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
        As for :func:`~psm_sim.simulation.compare_policies.compare_clients`.
    workloads
        Pages of each client, at least two workloads.
    """
    scenarios = [replace(scenario, trace=workload) for workload in workloads]
    report = ProgressReporter(
        progress, sum(len(workload.pages) for workload in workloads), len(workloads), "clients"
    )
    comparisons = compare_in_parallel(all_policies(policies, references), scenarios, report, workers)
    return assign_roles(_merge_clients(scenario, workloads, comparisons), policies, references)


@dataclass(frozen=True)
class ProgressReporter:
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


def compare_in_parallel(
    policies: Sequence[PolicyLike],
    scenarios: Sequence[Scenario],
    report: ProgressReporter,
    workers: int | None,
) -> list[Comparison]:
    """Simulate the policies in each scenario.

    Parameters
    ----------
    policies
        As for :func:`~psm_sim.simulation.compare_policies.compare_runs`.
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

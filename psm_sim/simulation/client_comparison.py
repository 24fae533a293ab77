"""Many clients of one trace: one independent simulation for each, averaged with a confidence interval.

Each client has a world of its own and counts once, however many pages it has: means are means over
clients of each client's own mean, and intervals are Student's over clients. Nothing is shared, so the
numbers do not depend on the number of workers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from psm_sim.errors import InputError
from psm_sim.parallel import parallel_map
from psm_sim.progress import Progress
from psm_sim.simulation.compare_policies import all_policies, assign_roles, compare_runs
from psm_sim.simulation.comparison import Comparison
from psm_sim.simulation.references import PolicyLike, References
from psm_sim.simulation.run import Run
from psm_sim.simulation.scenario import Scenario
from psm_sim.simulation.seed_average import ClientAverage, average_runs
from psm_sim.workload import Workload


@dataclass(frozen=True, repr=False)
class ClientComparison(Comparison):
    """Policies side by side over the same clients; ``runs`` are :class:`ClientAverage`."""

    clients: tuple[Comparison, ...] = ()

    @property
    def pages(self) -> int:
        """The number of pages that each policy loaded, of all clients together."""
        return sum(one.pages for one in self.clients)


def check_several_runs(runs: Sequence[Run], several: str, workers: int | None) -> None:
    """Refuse what cannot be used in several runs of a policy, before anything is run.

    Parameters
    ----------
    runs
        The policies, made and started once in this process.
    several
        What there are several of, such as ``"3 clients"``.
    workers
        The number of processes asked for; ``None``: one for each core.

    Raises
    ------
    InputError
        If the number of processes is below 1, or a policy would write one file in every run.
    """
    if workers is not None and workers < 1:
        raise InputError(f"workers is {workers!r}; expected a whole number, at least 1.")
    for run in runs:
        state = run.parameters.get("state")
        if state:
            raise InputError(
                f"policy {run.policy.name}: state is {state!r}, but each of {several} "
                f"would write it; expected one of the {several.split()[1]}, or no state."
            )


def compare_each(
    policies: Sequence[PolicyLike],
    scenario: Scenario,
    workloads: Sequence[Workload],
    progress: Progress,
    workers: int | None,
    references: References,
) -> ClientComparison:
    """Run each policy over each client on its own, and average over clients.

    Parameters
    ----------
    policies, scenario, progress, workers, references
        As for :func:`~psm_sim.simulation.compare_policies.compare_clients`.
    workloads
        The pages of each client, at least two.
    """
    scenarios = [replace(scenario, trace=workload) for workload in workloads]
    report = ProgressReporter(
        progress, sum(len(workload.pages) for workload in workloads), len(workloads), "clients"
    )
    found = compare_in_parallel(all_policies(policies, references), scenarios, report, workers)
    return assign_roles(_merged(scenario, workloads, found), policies, references)


@dataclass(frozen=True)
class ProgressReporter:
    """Progress over several runs: whom to tell, the pages and runs in all, and what a run is called."""

    progress: Progress
    pages: int
    runs: int
    kind: str

    def __call__(self, found: Sequence[Comparison]) -> None:
        """Tell what has been done."""
        words = f"{len(found)} of {self.runs} {self.kind}"
        self.progress(sum(one.pages for one in found), self.pages, words)


def compare_in_parallel(
    policies: Sequence[PolicyLike], scenarios: Sequence[Scenario], told: ProgressReporter, workers: int | None
) -> list[Comparison]:
    """Run the policies in each scenario; the comparisons are in the order of the scenarios.

    Parameters
    ----------
    policies
        As for :func:`~psm_sim.simulation.compare_policies.compare_runs`.
    scenarios
        At least one.
    told
        Called after each scenario.
    workers
        Processes, one for each core if None; the numbers do not depend on it.
    """
    found: list[Comparison] = []
    if any(scenario.is_piped for scenario in scenarios):
        workers = 1  # what a pipe gave is in this process alone
    for one in parallel_map(partial(_compared, policies), scenarios, workers):
        found.append(one)
        told(found)
    return found


def _compared(policies: Sequence[PolicyLike], scenario: Scenario) -> Comparison:
    """Run the policies in one scenario; what they have learned stays in this process."""
    found = compare_runs(policies, scenario)
    runs = tuple(replace(run, policy_state=None) for run in found.runs)
    return replace(found, runs=runs, always_on=replace(found.always_on, policy_state=None))


def _merged(
    scenario: Scenario, workloads: Sequence[Workload], found: Sequence[Comparison]
) -> ClientComparison:
    names = tuple(workload.client for workload in workloads)
    each_policy = zip(*(one.runs for one in found), strict=True)
    return ClientComparison(
        scenario,
        found[0].resolved_topology,
        _described(workloads),
        tuple(average_runs(ClientAverage, names, runs) for runs in each_policy),
        average_runs(ClientAverage, names, [one.always_on for one in found]),
        clients=tuple(found),
    )


def _described(workloads: Sequence[Workload]) -> Workload:
    """Return the first client's workload, its remark about all clients."""
    first = workloads[0]
    remark = (
        f"{len(workloads)} clients replayed, an independent simulation each; "
        "all values are means over clients"
    )
    return replace(first, client="", remark="; ".join((remark, *first.notes)))

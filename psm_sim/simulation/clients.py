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
from psm_sim.policies import Policy
from psm_sim.processes import in_processes
from psm_sim.progress import Progress
from psm_sim.simulation.client_average import average
from psm_sim.simulation.compare import Comparison, compare_runs
from psm_sim.simulation.run import Run
from psm_sim.simulation.scenario import Scenario
from psm_sim.spec import Spec
from psm_sim.workload import Workload


@dataclass(frozen=True)
class ClientComparison(Comparison):
    """Policies side by side over the same clients; ``runs`` are :class:`ClientAverage`."""

    clients: tuple[Comparison, ...] = ()

    @property
    def pages(self) -> int:
        """The number of pages that each policy loaded, of all clients together."""
        return sum(one.pages for one in self.clients)


def check(runs: Sequence[Run], clients: int, workers: int | None) -> None:
    """Refuse what cannot be used over several clients, before anything is run.

    Parameters
    ----------
    runs
        The policies, made and started once in this process.
    clients
        The number of clients.
    workers
        The number of processes asked for; ``None``: one for each core.

    Raises
    ------
    InputError
        If the number of processes is below 1, or a policy would write one file for every client.
    """
    if workers is not None and workers < 1:
        raise InputError(f"workers is {workers!r}; expected a whole number, at least 1.")
    for run in runs:
        state = run.parameters.get("state")
        if state:
            raise InputError(
                f"policy {run.policy.name}: state is {state!r}, but each of {clients} clients "
                "would write it; expected one client, such as clients=1, or no state."
            )


def compare_each(
    policies: Sequence[str | Spec | Policy],
    scenario: Scenario,
    workloads: Sequence[Workload],
    progress: Progress,
    workers: int | None,
) -> ClientComparison:
    """Run each policy over each client on its own, and average over clients.

    Parameters
    ----------
    policies, scenario, progress, workers
        As for :func:`~psm_sim.simulation.compare.compare_clients`.
    workloads
        The pages of each client, at least two.
    """
    found = _each(policies, scenario, workloads, progress, workers)
    return _merged(scenario, workloads, found)


def _each(
    policies: Sequence[str | Spec | Policy],
    scenario: Scenario,
    workloads: Sequence[Workload],
    progress: Progress,
    workers: int | None,
) -> list[Comparison]:
    scenarios = [replace(scenario, trace=workload) for workload in workloads]
    total, done = sum(len(each.pages) for each in workloads), 0
    found: list[Comparison] = []
    for one in in_processes(partial(compare_runs, policies), scenarios, workers):
        found.append(one)
        done += one.pages
        progress(done, total, f"{len(found)} of {len(workloads)} clients")
    return found


def _merged(
    scenario: Scenario, workloads: Sequence[Workload], found: Sequence[Comparison]
) -> ClientComparison:
    names = tuple(workload.client for workload in workloads)
    each_policy = zip(*(one.runs for one in found), strict=True)
    return ClientComparison(
        scenario,
        found[0].place,
        _described(workloads),
        tuple(average(names, runs) for runs in each_policy),
        average(names, [one.always_on for one in found]),
        tuple(found),
    )


def _described(workloads: Sequence[Workload]) -> Workload:
    """Return the first client's workload, its remark about all clients."""
    first = workloads[0]
    remark = (
        f"{len(workloads)} clients replayed, an independent simulation each; "
        "all values are means over clients"
    )
    return replace(first, client="", remark="; ".join((remark, *first.notes)))

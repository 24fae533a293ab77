"""Many clients of one trace: an independent simulation each, averaged with a confidence interval.

Each client has a world of its own and counts once, however many pages it has: means are means over
clients of each client's own mean, and intervals are Student's over clients. Nothing is shared, so the
numbers do not depend on the number of workers.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from psm_sim.errors import InputError
from psm_sim.network import Topology, load_topology
from psm_sim.policies import Policy, make_policy
from psm_sim.progress import Progress
from psm_sim.simulation.client_average import average
from psm_sim.simulation.compare import Comparison, compare_runs
from psm_sim.workload import Workload, load_workloads


@dataclass(frozen=True)
class ClientComparison(Comparison):
    """Policies side by side over the same clients; ``runs`` are :class:`ClientAverage`."""

    clients: tuple[Comparison, ...] = ()


def compare_clients(
    policies: Sequence[str | Policy],
    trace: str = "ucb",
    topology: str | Topology = "three-node",
    pages: int = 100,
    seed: int = 1,
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    workers: int | None = None,
) -> Comparison:
    """Run each policy over every client that the trace chooses, and average over clients.

    Arguments and errors as :func:`compare_runs`; ``pages`` is the most of each client, and ``progress``
    is told of each client that is done.

    Parameters
    ----------
    workers
        Processes to use, one a core if None. The numbers do not depend on it.

    Returns
    -------
    Comparison
        A :class:`ClientComparison`; a plain one if the trace has, or chooses, a single client.
    """
    workloads = load_workloads(trace, pages, seed)
    if len(workloads) == 1:
        single = compare_runs(policies, workloads[0], topology, pages, seed, settings, progress)
        return replace(single, trace=trace)
    if workers is not None and workers < 1:
        raise InputError(f"workers is {workers!r}; expected a whole number, at least 1.")
    _check(policies, topology, settings, len(workloads))
    found = _run_all(policies, workloads, topology, (pages, seed), settings, progress, workers)
    return _merged(trace, workloads, found)


def _check(
    policies: Sequence[str | Policy],
    topology: str | Topology,
    settings: Mapping[str, Any] | None,
    clients: int,
) -> None:
    """Find what cannot be used before anything is run, in this process."""
    if not isinstance(topology, Topology):
        load_topology(topology, settings)
    for policy in map(make_policy, policies):
        if policy.config().get("state"):
            raise InputError(
                f"policy {policy.name}: state is {policy.config()['state']!r}, but each of {clients} clients "
                "would write it; expected one client, such as clients=1, or no state."
            )


def _run_all(
    policies: Sequence[str | Policy],
    workloads: Sequence[Workload],
    topology: str | Topology,
    counts: tuple[int, int],
    settings: Mapping[str, Any] | None,
    progress: Progress | None,
    workers: int | None,
) -> list[Comparison]:
    from joblib import Parallel, delayed

    jobs = min(workers or os.cpu_count() or 1, len(workloads))
    runs = (delayed(compare_runs)(policies, each, topology, *counts, settings) for each in workloads)
    total, found = sum(len(each.pages) for each in workloads), list[Comparison]()
    done = 0
    for workload, one in zip(workloads, Parallel(n_jobs=jobs, return_as="generator")(runs), strict=True):
        found.append(one)
        done += len(workload.pages)
        if progress is not None:
            progress(done, total, f"{len(found)} of {len(workloads)} clients")
    return found


def _merged(trace: str, workloads: Sequence[Workload], found: Sequence[Comparison]) -> ClientComparison:
    first, names = found[0], tuple(workload.client for workload in workloads)
    runs = tuple(average(names, [one.runs[index] for one in found]) for index in range(len(first.runs)))
    records = sum(one.pages for one in found)
    remark = (
        f"{len(names)} clients replayed, an independent simulation each; all values are means over clients"
    )
    notes = workloads[0].notes
    workload = replace(workloads[0], pages=(), client="", remark="; ".join((remark, *notes)))
    return ClientComparison(
        trace, first.topology, first.scenario, records, first.seed, workload, first.settings,
        runs, average(names, [one.always_on for one in found]), tuple(found),
    )  # fmt: skip

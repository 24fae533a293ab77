"""Frontier of hindsight: the least energy at each mean slowdown, over the pages of one comparison.

It is exact on the chain (:mod:`psm_sim.hindsight.event_chain`), where a late frame delays all that
follows. In the
simulator other connections go on meanwhile, so that the same polls slow pages down less: the frontier is
exact without delay, and beyond that the true one lies to the left of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import inf
from typing import NamedTuple

from psm_sim.hindsight.chain_recorder import record_slowdowns
from psm_sim.hindsight.offline_optimum import offline_optimum
from psm_sim.network import Topology
from psm_sim.parallel import parallel_map
from psm_sim.workload import Workload

MAX_PAGES = 150
"""The most pages of one workload: the work grows with their square."""

_PRICES_J = (inf, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.0)
"""Prices of a slowdown greater by 1, in joules per page."""


class ParetoCorner(NamedTuple):
    """Corner of the frontier: joules per page, and the mean slowdown of a page."""

    energy_j: float
    slowdown: float


def pareto_frontier(
    workloads: Sequence[Workload], topology: Topology, workers: int | None = None
) -> list[ParetoCorner]:
    """Return the schedules that hindsight would choose at some prices of slowdown, means over the workloads.

    Parameters
    ----------
    workloads
        The pages of each seed or client.
    topology
        The topology.
    workers
        Processes, one for each core if None; the numbers do not depend on it.

    Returns
    -------
    list of Corner
        From no delay to the least energy; empty if a workload has more than :data:`MAX_PAGES` pages, or
        pauses, or messages beside its pages, or the topology has faults.
    """
    if topology.can_fail or any(
        len(workload.pages) > MAX_PAGES
        or workload.messages
        or not all(page.objects for page in workload.pages)
        for workload in workloads
    ):
        return []
    every = list(parallel_map(partial(_corners, topology), workloads, workers))
    means = [
        [sum(values) / len(every) for values in zip(*each, strict=True)] for each in zip(*every, strict=True)
    ]
    return list(dict.fromkeys(ParetoCorner(*mean) for mean in means))


def _corners(topology: Topology, workload: Workload) -> list[ParetoCorner]:
    pages = workload.pages
    chain = record_slowdowns(pages, topology)
    found = [offline_optimum(chain, price_j) for price_j in _PRICES_J]
    return [ParetoCorner(each.energy_j / len(pages), 1 + each.delay_s / len(pages)) for each in found]

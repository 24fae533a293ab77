"""Offline frontier of a comparison: minimum energy against mean slowdown.

The frontier is optimal on the event chain (:mod:`psm_sim.hindsight.traffic_chain`), where a late frame delays
all later events. In the simulator, only the corner without delay is proved to be optimal. A policy can need
less energy than the other corners, because the delays of frames and connections that wait for the same beacon
overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import inf
from typing import NamedTuple

import numpy as np

from psm_sim.common.progress import Progress, no_progress
from psm_sim.common.run_many import run_many
from psm_sim.hindsight.offline_optimum import offline_optimum
from psm_sim.hindsight.traffic_chain_recorder import record_slowdowns
from psm_sim.network import Topology
from psm_sim.workload import Workload

MAX_FRONTIER_PAGES = 150
"""Maximum number of pages of a workload; the computing time grows with its square."""

_PRICES_J = (inf, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.0)
"""Prices of a slowdown increase of 1, in joules per page."""


class ParetoCorner(NamedTuple):
    """Corner of the frontier: energy in joules per page, and mean slowdown of a page."""

    energy_j: float
    slowdown: float


def pareto_frontier(
    workloads: Sequence[Workload],
    topology: Topology,
    workers: int | None = None,
    progress: Progress = no_progress,
) -> list[ParetoCorner]:
    """Return the optimum of the event chain at several prices of slowdown, averaged over the workloads.

    *workloads* are the pages of each seed or client, and *topology* is the topology of the
    comparison. *progress* is called after each workload. The number of *workers* does not change the result.

    Returns
    -------
    list of ParetoCorner
        Corners, the first without delay and the last with minimum energy. The list is empty if a workload has
        pauses, background messages or more than :data:`MAX_FRONTIER_PAGES` pages, or if the topology injects
        faults.
    """
    if topology.can_fail or any(
        len(workload.pages) > MAX_FRONTIER_PAGES
        or workload.messages
        or not all(page.objects for page in workload.pages)
        for workload in workloads
    ):
        return []
    corners = list(run_many(partial(_corners, topology), workloads, workers, progress))
    means = np.mean(corners, axis=0).tolist()
    return list(dict.fromkeys(ParetoCorner(*mean) for mean in means))


def best_known(corners: Sequence[ParetoCorner], results: Sequence[tuple[float, float]]) -> list[ParetoCorner]:
    """Return *corners*, or an empty list if a policy needs less energy at its slowdown than the frontier.

    *results* are pairs (slowdown, energy in joules per page), one for each policy.
    """
    if not corners or not results:
        return list(corners)
    energies_j, slowdowns = zip(*corners, strict=True)
    xs, ys = zip(*results, strict=True)
    is_below = np.array(ys) < np.interp(xs, slowdowns, energies_j)
    return [] if is_below.any() else list(corners)


def _corners(topology: Topology, workload: Workload) -> list[ParetoCorner]:
    pages = workload.pages
    chain = record_slowdowns(pages, topology)
    optima = [offline_optimum(chain, price_j) for price_j in _PRICES_J]
    return [
        ParetoCorner(optimum.energy_j / len(pages), 1 + optimum.delay_s / len(pages)) for optimum in optima
    ]

"""Optimal schedule of dozes for a random arrival time, by dynamic programming, and a bound on its delays.

A frame will arrive at a random time with a known distribution. The radio can stay awake, which costs power.
It can also doze until one of the next beacons, which costs the energy to receive a beacon and delays a frame
that arrives during the doze. Each cost is multiplied by the probability that the frame has not arrived
before. The schedule is computed backwards from the end, as in a shortest-path problem. At each time, the best
choice minimises its own cost plus the minimum cost from its end on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from psm_sim.beacons import TOLERANCE_S, Beacons
from psm_sim.common.array_types import FloatArray

ArrivalModel = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""Distribution of an arrival time.

The function maps times in seconds, shape (n,), to the probability that the frame has arrived and to the
integral of this probability, both of shape (n,).
"""

IndexArray = NDArray[np.intp]
_Times = TypeVar("_Times", float, FloatArray)


@dataclass(frozen=True)
class RestCosts:
    """Costs of resting.

    Attributes
    ----------
    price_w : float
        Price of the delay of a buffered frame, in joules per second, 0 or more.
    awake_w : float
        Additional power of staying awake instead of dozing, in watts; ``inf`` disables staying awake.
    beacon_j : float
        Energy to receive one beacon, in joules, 0 or more.
    max_beacons : int
        Longest doze, in beacons.
    """

    price_w: float
    awake_w: float
    beacon_j: float
    max_beacons: int


class DecisionGrid(NamedTuple):
    """Decision times, at which the radio can begin a doze, and beacon times.

    Attributes
    ----------
    times_s : ndarray, shape (n,)
        Decision times in seconds, ascending. The first one is before the first beacon. All beacons but the
        last ``max_beacons`` are decision times.
    beacons_s : ndarray, shape (b,)
        Beacon times in seconds. The last ``max_beacons`` beacons can end a doze, but not begin one.
    next_beacon : ndarray, shape (n,)
        Index into ``beacons_s`` of the first beacon after each decision time.
    """

    times_s: FloatArray
    beacons_s: FloatArray
    next_beacon: IndexArray


def solve_rest(
    model: ArrivalModel, grid: DecisionGrid, costs: RestCosts, allowed: NDArray[np.bool_] | None = None
) -> IndexArray:
    """Return the optimal decision at each time of a grid.

    Parameters
    ----------
    model : callable
        Distribution of the arrival time, see :data:`ArrivalModel`.
    grid : DecisionGrid
        Decision times and beacons.
    costs : RestCosts
        Costs of delay, power and beacons.
    allowed : ndarray, shape (n, costs.max_beacons), optional
        Whether a doze of 1, 2, ... beacons is allowed at each decision time. The last decision time must
        allow a doze. By default all dozes are allowed.

    Returns
    -------
    ndarray, shape (n,)
        Number of beacons to doze, or 0 to stay awake until the next decision time. Each decision assumes that
        no frame has arrived before. Of dozes with equal costs the longest is chosen.
    """
    wake_beacon = grid.next_beacon[:, None] + np.arange(costs.max_beacons)
    doze_j, stay_j, left_j = _compute_costs(model, grid, costs, wake_beacon)
    if allowed is not None:
        doze_j[~allowed] = inf
    stay_onward_j = _minimise_backwards(grid.next_beacon, doze_j, stay_j, left_j)
    totals_j = doze_j + left_j[wake_beacon]
    min_doze_j = totals_j.min(axis=1)
    longest = costs.max_beacons - np.argmin(totals_j[:, ::-1], axis=1)
    return np.where(np.array(stay_j) + stay_onward_j < min_doze_j, 0, longest)


def _compute_costs(
    model: ArrivalModel, grid: DecisionGrid, costs: RestCosts, wake_beacon: IndexArray
) -> tuple[FloatArray, list[float], FloatArray]:
    """Return the costs of each doze, of staying awake, and from each beacon to the end, in joules.

    The shapes are (n, max_beacons), (n,) and (b,), as in :class:`DecisionGrid`. The cost from a beacon to the
    end is the energy to receive one beacon per doze of maximum length.
    """
    times_s, beacons_s = grid.times_s, grid.beacons_s
    count = times_s.size
    arrived, integral = model(np.concatenate((times_s, beacons_s)))
    pending, arrived_before = 1.0 - arrived[:count], arrived[:count, None]
    delay_s = (
        integral[count:][wake_beacon]
        - integral[:count, None]
        - arrived_before * (beacons_s[wake_beacon] - times_s[:, None])
    )
    doze_j = costs.beacon_j * pending[:, None] + costs.price_w * np.maximum(delay_s, 0.0)
    remaining_dozes = np.arange(beacons_s.size, 0, -1) / costs.max_beacons
    left_j = costs.beacon_j * (1.0 - arrived[count:]) * remaining_dozes
    if costs.awake_w == inf:  # the radio never waits awake, even where a frame has surely arrived
        return doze_j, [inf] * count, left_j
    stay_j = costs.awake_w * np.diff(times_s) * (pending[:-1] + pending[1:]) / 2
    return doze_j, [*stay_j.tolist(), inf], left_j


def _minimise_backwards(
    next_beacon: IndexArray, doze_j: FloatArray, stay_j: list[float], left_j: FloatArray
) -> FloatArray:
    """Return for each decision time the minimum cost from the following time to the end, shape (n,).

    Parameters
    ----------
    next_beacon : ndarray, shape (n,)
        See :class:`DecisionGrid`.
    doze_j : ndarray, shape (n, max_beacons)
        Cost of each doze, in joules.
    stay_j : list of float, length n
        Cost of staying awake until the next decision time, in joules.
    left_j : ndarray, shape (b,)
        Cost from each beacon to the end, in joules. Modified in place: set to the minimum cost if the beacon
        is a decision time.
    """
    max_beacons, onward = doze_j.shape[1], inf
    bounds = [0, *(np.flatnonzero(np.diff(next_beacon)) + 1).tolist(), next_beacon.size]
    onward_j = [inf] * next_beacon.size
    for start, stop in reversed(list(pairwise(bounds))):
        first = int(next_beacon[start])
        min_doze_j = (doze_j[start:stop] + left_j[first : first + max_beacons]).min(axis=1).tolist()
        for row in range(stop - 1, start - 1, -1):
            onward_j[row] = onward
            stay, doze = stay_j[row] + onward, min_doze_j[row - start]
            onward = stay if stay < doze else doze
        if first:
            left_j[first - 1] = onward
    return np.array(onward_j)


def longest_doze_is_best(
    model: ArrivalModel, now_s: float, until_s: float, costs: RestCosts, beacon_s: float
) -> bool:
    """Return whether the longest doze is surely optimal from *now_s* to *until_s*.

    The longest doze, of T seconds, is optimal if price h T^2 <= e, where h is the maximum hazard rate of the
    distribution and e is the energy of a beacon. The delay that shorter or shifted dozes save then costs less
    than the additional beacon.
    """
    grid_s = np.arange(now_s, until_s, beacon_s)
    arrived, _ = model(grid_s)
    hazard = float(np.diff(arrived).max()) / beacon_s
    longest_s = costs.max_beacons * beacon_s
    pending = 1.0 - float(arrived[-1])
    return costs.price_w * hazard * longest_s**2 <= costs.beacon_j * pending


@dataclass(frozen=True)
class ReplyBound:
    """Bound of Bounded Slowdown: a doze begun e seconds after an uplink packet lasts at most p e.

    In the worst case, a frame arrives at the start of the doze and is retrieved at its end. A reply that
    takes e seconds without power saving therefore takes at most (1 + p) e (Krashinsky and Balakrishnan,
    section 4).

    Attributes
    ----------
    p : float
        Bound on the slowdown of a reply, minus 1; above 0.
    uplink_s : float
        Time of the last uplink packet, in seconds.
    grid : Beacons
        Beacon grid.
    """

    p: float
    uplink_s: float
    grid: Beacons

    def first_s(self, now_s: float) -> float:
        """Return the first time from *now_s* on at which some doze is allowed, in seconds."""
        number = self.grid.after(now_s)
        while True:
            beacon_s = self.grid.time(number)
            legal_s = max(now_s, self.legal_s(beacon_s))
            if legal_s < beacon_s - TOLERANCE_S:
                return legal_s
            number += 1

    def legal_s(self, beacons_s: _Times) -> _Times:
        """Return for each beacon the earliest start of a doze that ends at this beacon, in seconds."""
        return self.uplink_s + (beacons_s - self.uplink_s) / (1 + self.p)

    def allows(self, decisions: DecisionGrid, max_beacons: int) -> NDArray[np.bool_]:
        """Return whether each doze of 1 to *max_beacons* beacons is allowed, shape (n, max_beacons)."""
        ends_s = decisions.beacons_s[decisions.next_beacon[:, None] + np.arange(max_beacons)]
        start_s = decisions.times_s[:, None]
        return np.asarray(ends_s - start_s <= self.p * (start_s - self.uplink_s) + TOLERANCE_S)

"""Schedule of one rest: when to doze and which beacon to hear, by dynamic programming over a waiting law.

A frame will come at a random time whose law is known. The radio can stay awake, which costs power, or doze to
one of the next beacons, which costs the energy to hear it, and delays a frame that comes before it. All costs
are weighed by the probability that no frame has come yet, so that backwards from the end each choice is the
least of a few sums: a shortest path.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from operator import add
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psm_sim.array_types import FloatArray

Law = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""Waiting law: from times in seconds, (n,), to the probability that the frame has come, and its integral."""

IndexArray = NDArray[np.intp]

_TIE = 1e-9
"""Share of a beacon's energy below which costs count as equal; of equal dozes the longest is best."""


@dataclass(frozen=True)
class RestCosts:
    """Costs of resting.

    Attributes
    ----------
    price_w : float
        Price of delay of a held frame, in joules per second; 0 or more.
    awake_w : float
        Power of staying awake above that of dozing, in watts; ``inf`` never stays awake.
    beacon_j : float
        Energy to hear one beacon, in joules, 0 or more.
    most : int
        The longest doze, in beacons.
    """

    price_w: float
    awake_w: float
    beacon_j: float
    most: int


class DecisionGrid(NamedTuple):
    """Times at which something can be chosen, and the beacons.

    Attributes
    ----------
    times_s : ndarray, shape (n,)
        Ascending, in seconds. The first one lies before all beacons; every beacon but the last few, as many
        as the longest doze has, is one of these times.
    beacons_s : ndarray, shape (b,)
        The beacons; the last few end the schedule.
    ahead : ndarray, shape (n,)
        The place in ``beacons_s`` of the first beacon after each time.
    """

    times_s: FloatArray
    beacons_s: FloatArray
    ahead: IndexArray


_SHORT = 24
"""Beacons of a longest doze from which on an array is faster than plain Python."""


def solve_rest(
    law: Law, times: DecisionGrid, costs: RestCosts, allowed: NDArray[np.bool_] | None = None
) -> IndexArray:
    """Return the best choice at each time: the number of beacons to doze, or 0 to stay awake until the next.

    Parameters
    ----------
    law : callable
        The law of the time at which the frame comes.
    times : Times
        When something can be chosen.
    costs : Costs
        What delay, power and beacons cost.
    allowed : ndarray, shape (n, costs.most), optional
        Which dozes are allowed, at least one at the last time; all, if it is not given.

    Returns
    -------
    ndarray, shape (n,)
        The choices, each given that no frame has come until then.
    """
    to = times.ahead[:, None] + np.arange(costs.most)
    doze_j, stay_j, left_j = _costs(law, times, costs, to)
    if allowed is not None:
        doze_j[~allowed] = inf
    onward_j = _backwards(times.ahead, doze_j, stay_j, left_j)
    sums = doze_j + np.array(left_j)[to]
    least = sums.min(axis=1)
    longest = costs.most - np.argmax(sums[:, ::-1] <= least[:, None] + _TIE * costs.beacon_j, axis=1)
    return np.where(np.array(stay_j) + onward_j < least, 0, longest)


def _costs(
    law: Law, times: DecisionGrid, costs: RestCosts, to: IndexArray
) -> tuple[FloatArray, list[float], list[float]]:
    """Return the costs of each doze (n, most), of staying awake (n,), and from each beacon on (b,).

    After the end the beacons still to be heard cost what they cost at the longest doze.
    """
    times_s, beacons_s = times.times_s, times.beacons_s
    count = times_s.size
    risen, area = law(np.concatenate((times_s, beacons_s)))
    still, begun = 1.0 - risen[:count], risen[:count, None]
    held_s = area[count:][to] - area[:count, None] - begun * (beacons_s[to] - times_s[:, None])
    doze_j = costs.beacon_j * still[:, None] + costs.price_w * np.maximum(held_s, 0.0)
    ends = np.arange(beacons_s.size, 0, -1) / costs.most
    left_j = costs.beacon_j * (1.0 - risen[count:]) * ends
    stay_j = costs.awake_w * np.diff(times_s) * (still[:-1] + still[1:]) / 2
    return doze_j, [*stay_j.tolist(), inf], left_j.tolist()


def _backwards(ahead: IndexArray, doze_j: FloatArray, stay_j: list[float], left_j: list[float]) -> FloatArray:
    """Return the least cost from the time after each on, shape (n,), and fill in *left_j* at the beacons.

    *ahead*, *doze_j* (n, most) and *stay_j* (n,) belong to the times, which are taken in groups, from one
    beacon to the next; most groups are one time, where plain Python is faster than a short array.
    """
    most, onward = doze_j.shape[1], inf
    rows = doze_j.tolist() if most < _SHORT else None
    after_j = np.array(left_j)
    bounds = [0, *(np.flatnonzero(np.diff(ahead)) + 1).tolist(), ahead.size]
    found = [inf] * ahead.size
    for start, stop in reversed(list(pairwise(bounds))):
        first = int(ahead[start])
        if rows is not None and stop - start == 1:
            least = [min(map(add, rows[start], left_j[first : first + most]))]
        else:
            least = (doze_j[start:stop] + after_j[first : first + most]).min(axis=1).tolist()
        for row in range(stop - 1, start - 1, -1):
            found[row] = onward
            stay, doze = stay_j[row] + onward, least[row - start]
            onward = stay if stay < doze else doze
        if first:
            left_j[first - 1] = after_j[first - 1] = onward
    return np.array(found)


def longest_doze_is_best(law: Law, now_s: float, until_s: float, costs: RestCosts, beacon_s: float) -> bool:
    """Say whether the longest doze is best from *now_s* until *until_s*, as the law's greatest hazard tells.

    With a constant hazard h a doze of T seconds costs e / T + price h T / 2 per second, least where
    T^2 = 2 e / (price h). The longest doze is best with every hazard of at most half the one of which it is
    the best: to split it, or to move it by a beacon, then saves less than it costs.

    Parameters
    ----------
    law : callable
        The law of the time at which the frame comes.
    now_s, until_s : float
        From when to when, in seconds.
    costs : Costs
        What delay and beacons cost.
    beacon_s : float
        The beacon interval in seconds.
    """
    grid_s = np.arange(now_s, until_s, beacon_s)
    risen, _ = law(grid_s)
    hazard = float(np.diff(risen).max()) / beacon_s
    longest_s = costs.most * beacon_s
    still = 1.0 - float(risen[-1])
    return costs.price_w * hazard * longest_s**2 <= costs.beacon_j * still

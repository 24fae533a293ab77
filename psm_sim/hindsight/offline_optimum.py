"""Optimum in hindsight: the schedule of polls that would have cost least.

On a chain (:mod:`psm_sim.hindsight.event_chain`) everything to come is known: when the station will send, and
when frames will reach the access point. What stays fixed is the chain itself. Before a packet of its own
the radio dozes throughout. Before a frame from the access point there are three choices that can be best:
stay awake; doze to the last beacon before it, and wait for it awake; or doze to the first beacon after it,
which delays it. Any further beacon in between costs energy for nothing; a later one leaves everything at
the same phase of the beacons, with more delay and more energy.

A delay moves what follows against the beacons, so the choices are not independent. But after a delivery on
a beacon the phase is known and does not depend on what came before: dynamic programming over the delivery
that last set the phase is exact, in O(n^2) for n activities.
"""

from __future__ import annotations

from itertools import pairwise
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psm_sim.array_types import FloatArray
from psm_sim.beacons import TOLERANCE_S
from psm_sim.hindsight.event_chain import Chain, Step


class OfflineOptimum(NamedTuple):
    """The least cost under some constraint: joules, and seconds of delay in all."""

    energy_j: float
    delay_s: float


def offline_optimum(chain: Chain, price_w: float = inf, p: float | None = None) -> OfflineOptimum:
    """Return the best schedule for a chain.

    Parameters
    ----------
    chain : Chain
        The traffic, with the beacons and powers that price a schedule.
    price_w : float
        The price of a second of delay, in joules per second; ``inf`` allows no delay. The schedules for all
        prices are the corners of the lower convex hull of energy against total delay.
    p : float, optional
        If given, a delivery is not allowed to take more than (1 + p) times as long since the last uplink
        packet as without delay, as Bounded Slowdown promises.

    Returns
    -------
    Optimum
        Its energy in joules, radio and beacons, and its total delay in seconds.
    """
    paths = _Paths(*np.zeros((4, 1)))
    for step in chain.steps:
        due_s = paths.now_s + step.silent_s
        onward = paths.arrive(chain, step, due_s, _waiting_j(chain, step, paths.now_s, due_s))
        late = _late(chain, step, paths, due_s, price_w, p) if step.downlink and price_w < inf else None
        paths = onward if late is None else onward.join(late)
    best = int(np.argmin(paths.cost(price_w)))
    return OfflineOptimum(float(paths.energy_j[best]), float(paths.delay_s[best]))


class _Paths(NamedTuple):
    """Schedules so far, (k,): energy, delay, the time, and the time of the last uplink packet."""

    energy_j: FloatArray
    delay_s: FloatArray
    now_s: FloatArray
    uplink_s: FloatArray

    def cost(self, price_w: float) -> FloatArray:
        """Return what is minimised, in joules, shape (k,)."""
        return self.energy_j + (price_w * self.delay_s if price_w < inf else 0.0)

    def arrive(self, chain: Chain, step: Step, begin_s: FloatArray, energy_j: FloatArray) -> _Paths:
        """Go through the activity, begun at *begin_s* after a silence that took *energy_j*."""
        now_s = begin_s + step.busy_s
        heard = step.since_uplink_s < inf
        return _Paths(
            self.energy_j + energy_j + chain.awake_w * step.busy_s,
            self.delay_s + step.weight * (begin_s - self.now_s - step.silent_s),
            now_s,
            now_s - step.since_uplink_s if heard else self.uplink_s,
        )

    def pick(self, which: NDArray[np.intp] | NDArray[np.bool_]) -> _Paths:
        """Return some of the schedules."""
        return _Paths(*(each[which] for each in self))

    def join(self, others: _Paths) -> _Paths:
        """Return these schedules and the others."""
        return _Paths(*(np.concatenate(pair) for pair in zip(self, others, strict=True)))


def _waiting_j(chain: Chain, step: Step, now_s: FloatArray, due_s: FloatArray) -> FloatArray:
    """Return the least energy of a silence without delay."""
    asleep_j = np.full_like(now_s, chain.asleep_w * step.silent_s)
    if not step.downlink:
        return asleep_j
    # A beacon within the tolerance of the frame counts as before it, but nobody waits past the frame.
    wake_s = np.minimum(chain.beacons.times_until(due_s), due_s)
    first_s = chain.beacons.times_after(now_s)
    by_beacon_j = chain.asleep_w * (wake_s - now_s) + chain.beacon_j + chain.awake_w * (due_s - wake_s)
    awake_j = chain.awake_w * step.silent_s
    return np.where(wake_s >= first_s - TOLERANCE_S, np.minimum(by_beacon_j, awake_j), awake_j)


def _late(
    chain: Chain, step: Step, paths: _Paths, due_s: FloatArray, price_w: float, p: float | None
) -> _Paths | None:
    """Doze to the first beacon after the frame is due, where that is allowed; keep only the best ways.

    All end at the same phase, so that without a bound what follows costs each of them the same.
    """
    wake_s = chain.beacons.times_after(due_s)
    energy_j = chain.asleep_w * (wake_s - paths.now_s) + chain.beacon_j
    late = paths.arrive(chain, step, wake_s, energy_j)
    if p is None:
        return late.pick(np.array([late.cost(price_w).argmin()]))
    late = late.pick(wake_s - paths.uplink_s <= (1 + p) * (due_s - paths.uplink_s) + TOLERANCE_S)
    return late.pick(_unbeaten(late, price_w)) if late.now_s.size else None


def _unbeaten(late: _Paths, price_w: float) -> NDArray[np.intp]:
    """Pick what can still prove best under a bound: an older uplink allows more delay."""
    # By cost, and of equal cost the oldest uplink first: later ones must have an older uplink to stay.
    order = np.lexsort((late.uplink_s - late.now_s, late.cost(price_w)))
    since_s = (late.now_s - late.uplink_s)[order]
    longest_before = np.concatenate(([-inf], np.maximum.accumulate(since_s)[:-1]))
    return order[since_s > longest_before + TOLERANCE_S]


def offline_frontier(chain: Chain, prices: int = 64) -> list[OfflineOptimum]:
    """Return the lower convex hull of energy against total delay, from no delay to the least energy.

    Its corners are found by bisecting the price of delay; at most *prices* prices are tried.
    """
    ends = (offline_optimum(chain), offline_optimum(chain, 0.0))
    found, queue = set(ends), [ends]
    while queue and prices > 2:
        left, right = queue.pop(0)
        if right.delay_s - left.delay_s < TOLERANCE_S:
            continue
        # At the price that is the slope between two corners, a schedule below their line is a new corner.
        price_w = (left.energy_j - right.energy_j) / (right.delay_s - left.delay_s)
        middle = offline_optimum(chain, price_w)
        prices -= 1
        gain_j = left.energy_j - middle.energy_j - price_w * (middle.delay_s - left.delay_s)
        if gain_j > 1e-9 and middle not in found:
            found.add(middle)
            queue += [(left, middle), (middle, right)]
    return sorted(found, key=lambda each: each.delay_s)


def least_energy_j(hull: list[OfflineOptimum], delay_s: float) -> float:
    """Return the hull's energy in joules at a total delay: no schedule with that delay needs less."""
    for left, right in pairwise(hull):
        if left.delay_s <= delay_s <= right.delay_s:
            share = (delay_s - left.delay_s) / (right.delay_s - left.delay_s)
            return left.energy_j + share * (right.energy_j - left.energy_j)
    return hull[-1].energy_j if delay_s >= hull[-1].delay_s else hull[0].energy_j

"""Offline optimum: the sleep schedule of least cost for a known chain.

On a chain (:mod:`psm_sim.hindsight.traffic_chain`) all future traffic is known: when the station sends, and
when frames reach the access point. Before an uplink packet it is best to doze throughout. Before a frame
from the access point only three choices can be optimal:

- stay awake,
- doze to the last beacon before the frame, and wait for the frame awake,
- doze to the first beacon after the frame, which delays it.

To wake at an earlier beacon as well only costs energy. To doze to a later beacon costs more energy and delay,
and shifts the later traffic by whole beacon intervals, which saves nothing.

The choices are not independent, because a delay shifts later traffic relative to the beacons. After a frame
is delivered at a beacon, however, the times of the later traffic relative to the beacons do not depend on
earlier choices. Of all schedules that delay the same frame to a beacon, only the cheapest is therefore
needed. Dynamic programming over these schedules is exact and takes O(n^2) time for n activities.

On an open chain, a delay does not shift later traffic. Only the cheapest schedule for each end time of an
activity is needed. There are few end times, so the search takes O(n) time. It does not delay a frame to a
later beacon that another frame needs anyway. This would save costs only if the delay of a frame by one beacon
interval cost less than a beacon.
"""

from __future__ import annotations

from itertools import pairwise
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psm_sim.beacons import TOLERANCE_S
from psm_sim.common.array_types import FloatArray
from psm_sim.hindsight.traffic_chain import Chain, Step


class OfflineOptimum(NamedTuple):
    """Energy in joules and total delay in seconds of an optimal schedule."""

    energy_j: float
    delay_s: float


def offline_optimum(chain: Chain, price_w: float = inf, p: float | None = None) -> OfflineOptimum:
    """Return the energy and the delay of the optimal schedule for a chain.

    Parameters
    ----------
    chain : Chain
        The traffic, with the beacons and the powers.
    price_w : float
        Price of a second of delay, in joules per second; ``inf`` allows no delay. The optima for all
        prices are the vertices of the lower convex hull of energy against total delay.
    p : float or None
        Bound of the policy Bounded Slowdown: the time from the last uplink packet to a delivery is at most
        1 + p times the time without delay. None disables the bound.

    Returns
    -------
    OfflineOptimum
        Energy in joules, of the radio and the beacons, and total delay in seconds.
    """
    paths, clock_s = _Paths(*np.zeros((4, 1))), 0.0
    for step in chain.steps:
        idle_s = np.full_like(paths.now_s, step.idle_s)
        if chain.is_open:
            frame_s = clock_s + step.idle_s
            paths, idle_s = paths.wait_for(frame_s, step), np.maximum(frame_s - paths.now_s, 0.0)
            clock_s = frame_s + step.busy_s
        due_s = paths.now_s + idle_s
        onward = paths.arrive(chain, step, idle_s, due_s, _punctual_j(chain, step, paths.now_s, idle_s))
        if step.downlink and price_w < inf:
            late = _late(chain, step, paths, idle_s, price_w, p)
            onward = onward if late is None else onward.join(late)
        paths = onward.pick(_cheapest_by_time(onward, price_w)) if chain.is_open else onward
    best = int(np.argmin(paths.cost(price_w)))
    return OfflineOptimum(float(paths.energy_j[best]), float(paths.delay_s[best]))


class _Paths(NamedTuple):
    """Partial schedules: energy, delay, current time and time of the last uplink packet, shape (k,)."""

    energy_j: FloatArray
    delay_s: FloatArray
    now_s: FloatArray
    uplink_s: FloatArray

    def cost(self, price_w: float) -> FloatArray:
        """Return the energy plus the price of the delay, in joules, shape (k,)."""
        return self.energy_j + (price_w * self.delay_s if price_w < inf else 0.0)

    def wait_for(self, frame_s: float, step: Step) -> _Paths:
        """Add the delay of a frame that arrives at *frame_s*, before the last activity has ended."""
        return self._replace(delay_s=self.delay_s + step.weight * np.maximum(self.now_s - frame_s, 0.0))

    def arrive(
        self, chain: Chain, step: Step, idle_s: FloatArray, begin_s: FloatArray, energy_j: FloatArray
    ) -> _Paths:
        """Append the activity of *step*, which is due after *idle_s* seconds and begins at *begin_s*.

        *energy_j* is the energy of the idle period before the activity.
        """
        now_s = begin_s + step.busy_s
        has_uplink = step.since_uplink_s < inf
        return _Paths(
            self.energy_j + energy_j + chain.awake_w * step.busy_s,
            self.delay_s + step.weight * (begin_s - self.now_s - idle_s),
            now_s,
            now_s - step.since_uplink_s if has_uplink else self.uplink_s,
        )

    def pick(self, indices: NDArray[np.intp] | NDArray[np.bool_]) -> _Paths:
        """Return the schedules at *indices*, or where a mask is true."""
        return _Paths(*(column[indices] for column in self))

    def join(self, others: _Paths) -> _Paths:
        """Return these schedules followed by *others*."""
        return _Paths(*(np.concatenate(pair) for pair in zip(self, others, strict=True)))


def _cheapest_by_time(paths: _Paths, price_w: float) -> NDArray[np.intp]:
    """Return the index of the cheapest schedule for each current time."""
    order = np.argsort(paths.cost(price_w), kind="stable")
    times = np.round(paths.now_s[order] / TOLERANCE_S)
    return order[np.unique(times, return_index=True)[1]]


def _punctual_j(chain: Chain, step: Step, now_s: FloatArray, idle_s: FloatArray) -> FloatArray:
    """Return the minimum energy of an idle period without delay."""
    asleep_j = chain.asleep_w * idle_s
    if not step.downlink:
        return asleep_j
    due_s = now_s + idle_s
    # A beacon within the tolerance of the frame counts as before it, but the wait ends with the frame.
    wake_s = np.minimum(chain.beacons.times_until(due_s), due_s)
    first_s = chain.beacons.times_after(now_s)
    by_beacon_j = chain.asleep_w * (wake_s - now_s) + chain.beacon_j + chain.awake_w * (due_s - wake_s)
    awake_j = chain.awake_w * idle_s
    return np.where(wake_s >= first_s - TOLERANCE_S, np.minimum(by_beacon_j, awake_j), awake_j)


def _late(
    chain: Chain, step: Step, paths: _Paths, idle_s: FloatArray, price_w: float, p: float | None
) -> _Paths | None:
    """Return the schedules that doze to the first beacon after the frame, or None if the bound forbids all.

    After the beacon, all schedules have the same future unless the chain is open. Without a bound, only the
    cheapest schedule can then become optimal, so the others are dropped.
    """
    due_s = paths.now_s + idle_s
    wake_s = chain.beacons.times_after(due_s)
    energy_j = chain.asleep_w * (wake_s - paths.now_s) + chain.beacon_j
    late = paths.arrive(chain, step, idle_s, wake_s, energy_j)
    if chain.is_open:
        return late
    if p is None:
        return late.pick(np.array([late.cost(price_w).argmin()]))
    late = late.pick(wake_s - paths.uplink_s <= (1 + p) * (due_s - paths.uplink_s) + TOLERANCE_S)
    return late.pick(_undominated(late, price_w)) if late.now_s.size else None


def _undominated(late: _Paths, price_w: float) -> NDArray[np.intp]:
    """Return the indices of the schedules that can become optimal under a bound.

    These are the schedules whose last uplink packet is older than those of all cheaper schedules. An older
    uplink packet allows more delay.
    """
    # Sorted by cost, and the oldest uplink first at equal cost.
    order = np.lexsort((late.uplink_s - late.now_s, late.cost(price_w)))
    since_s = (late.now_s - late.uplink_s)[order]
    longest_before = np.concatenate(([-inf], np.maximum.accumulate(since_s)[:-1]))
    return order[since_s > longest_before + TOLERANCE_S]


def offline_frontier(chain: Chain, prices: int = 64) -> list[OfflineOptimum]:
    """Return the lower convex hull of energy against total delay, from no delay to minimum energy.

    The vertices are found by bisection of the price of delay, with at most *prices* prices.
    """
    ends = (offline_optimum(chain), offline_optimum(chain, 0.0))
    vertices, queue = set(ends), [ends]
    while queue and prices > 2:
        left, right = queue.pop(0)
        if right.delay_s - left.delay_s < TOLERANCE_S:
            continue
        # The price is the slope between two vertices: a schedule below their line is a new vertex.
        price_w = (left.energy_j - right.energy_j) / (right.delay_s - left.delay_s)
        middle = offline_optimum(chain, price_w)
        prices -= 1
        gain_j = left.energy_j - middle.energy_j - price_w * (middle.delay_s - left.delay_s)
        if gain_j > 1e-9 and middle not in vertices:
            vertices.add(middle)
            queue += [(left, middle), (middle, right)]
    return sorted(vertices, key=lambda optimum: optimum.delay_s)


def least_energy_j(hull: list[OfflineOptimum], delay_s: float) -> float:
    """Return the energy of the hull at a total delay, in joules.

    This is a lower bound of the energy of all schedules with that delay.
    """
    for left, right in pairwise(hull):
        if left.delay_s <= delay_s <= right.delay_s:
            share = (delay_s - left.delay_s) / (right.delay_s - left.delay_s)
            return left.energy_j + share * (right.energy_j - left.energy_j)
    return hull[-1].energy_j if delay_s >= hull[-1].delay_s else hull[0].energy_j

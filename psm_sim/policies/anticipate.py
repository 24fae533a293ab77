"""Anticipate: learn when replies come, and doze, listen or wait awake for a stated price of delay."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.beacons import TOLERANCE_S
from psm_sim.learning.waiting_time import WaitingTimeModel
from psm_sim.learning.waiting_time_bins import EDGES_S
from psm_sim.limits import MAX_S, MAX_WEIGHT
from psm_sim.parameters import check_all, parameter
from psm_sim.policies.base import Frame, Policy, Rest
from psm_sim.policies.flow_gaps import FlowGaps
from psm_sim.policies.frame_gaps import FrameGaps, WaitingTimeModels
from psm_sim.policies.optimal_rest import DecisionGrid, RestCosts, longest_doze_is_best, solve_rest
from psm_sim.policies.outstanding_requests import OutstandingRequests, longest_doze
from psm_sim.policies.reply_bound import ReplyBound
from psm_sim.poll import Poll

_MAX_DOZE_MS = 10_000.0
"""The longest doze that any setting allows, in ms."""

_FINE_S: FloatArray = np.concatenate(([0.001, 0.002, 0.004, 0.006, 0.008], 0.01 * np.arange(1, 40)))
"""Times from now on, up to 0.39 s, until which it can wait awake; and then each beacon."""
_AHEAD = 24
"""Beacons that a schedule looks ahead, or twice the longest doze; with 36 two traces ran the same."""
_KEPT = 60
"""Beacons for which an idle schedule is kept: nothing is learnt until a frame moves."""


@dataclass
class Anticipate(Policy):
    """Doze, hear a beacon or wait awake, whichever is expected to cost least at a stated price of delay.

    The silence since the last frame has a law, learnt for each of six contexts
    (:class:`~psm_sim.policies.frame_gaps.FrameGaps`, :class:`~psm_sim.learning.WaitingTimeModel`).
    From it dynamic programming
    (:mod:`psm_sim.policies.optimal_rest`) finds the schedule of least expected cost: energy, and for each second
    that a frame is held the price in joules. While no reply is awaited the radio never waits awake.

    With ``joint`` each connection that waits has a gap of its own, and what is awaited is the first of their
    frames; with ``share`` a delay that several wait through is priced lower for each. With ``trust`` an idle
    doze may outlast ``max_ms``: a frame that nobody asked for waits at most that share of the idle time since
    the last such frame, and never more than 10 s.

    With ``p`` a reply never takes more than (1 + p) times as long as without power saving: a doze is allowed
    only where :class:`~psm_sim.policies.bsd.Bsd` with this p and its longest doze would allow it.
    """

    name: ClassVar[str] = "anticipate"

    price: float = parameter(
        1.0, "price of delay while a reply is awaited", unit="W", at_least=0, at_most=MAX_WEIGHT
    )
    idle_price: float = parameter(
        0.1, "price of delay while none is awaited", unit="W", at_least=0, at_most=MAX_WEIGHT
    )
    max_ms: float = parameter(1200.0, "longest doze", unit="ms", above=0, at_most=_MAX_DOZE_MS)
    trust: float = parameter(
        0.0, "longest idle doze, over the idle time since an unasked frame", at_least=0, at_most=1
    )
    joint: bool = parameter(False, "whether each connection that waits has a gap of its own")
    share: float = parameter(
        0.0, "the price is divided by the connections that wait, to this power", at_least=0, at_most=1
    )
    awake: bool = parameter(True, "whether it can wait awake for a reply")
    split_s: float = parameter(
        10.0,
        "an idle silence is a busy one after two useful frames this close",
        unit="s",
        above=0,
        at_most=MAX_S,
    )
    p: float | None = parameter(
        None,
        "bound on the slowdown of a reply, minus one; none: no bound",
        above=0,
        at_most=MAX_WEIGHT,
        optional=True,
        kind=float,
    )
    mss: int = parameter(1460, "payload of a full TCP segment", unit="bytes", at_least=1, at_most=65_535)

    def __post_init__(self) -> None:
        check_all(self, "policy anticipate")
        self._begin()

    def start(self, beacon_s: float) -> None:
        """Begin with nothing learnt."""
        super().start(beacon_s)
        self._begin()

    def _begin(self) -> None:
        self.laws = WaitingTimeModels()
        self._flows = OutstandingRequests(self.mss)
        self._gaps = (FlowGaps if self.joint else FrameGaps)(self._flows, self.split_s, self._learn)
        self._most = longest_doze(self.max_ms, self.beacon_s)
        self._ahead = max(_AHEAD, 2 * self._most)
        self._kept: tuple[int, dict[int, int]] = (-1, {})

    def sent(self, now_s: float, frame: Frame) -> None:
        """Take note of a frame sent."""
        self._gaps.sent(now_s, frame)

    def received(self, now_s: float, frame: Frame) -> None:
        """Take note of a frame received, and learn how long it was waited for."""
        self._gaps.received(now_s, frame)

    def interrupted(self, poll: Poll) -> None:
        """Learn from what was held when a doze was cut short."""
        self._gaps.interrupted(poll)

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Rest as the schedule of least expected cost says."""
        if self._flows.waiting or self.p is not None:
            rest = self._wait(now_s, since_uplink_s)
        else:
            rest = self._idle(now_s)
        dozes_s = now_s + rest.awake_s
        wakes = self.beacon_grid.after(dozes_s) + rest.beacons - 1
        self._gaps.rests(dozes_s, self.beacon_grid.time(wakes))
        return rest

    def law(self, context: str) -> WaitingTimeModel:
        """Return the law of a context's silences, one that has learnt nothing if there is none yet."""
        return self.laws[context]

    def _learn(self, context: str, after_s: float, by_s: float) -> None:
        self.law(context).observe(after_s, by_s)

    def _longest(self, now_s: float) -> int:
        """Return the longest doze in beacons while nothing is awaited."""
        trusted_ms = min(1000 * self.trust * self._gaps.lull_s(now_s), _MAX_DOZE_MS)
        return max(self._most, longest_doze(trusted_ms, self.beacon_s))

    def _wait(self, now_s: float, since_uplink_s: float) -> Rest:
        """Return the best rest while a reply is awaited, or within a bound."""
        bound = None if self.p is None else ReplyBound(self.p, now_s - since_uplink_s, self.beacon_grid)
        begin_s = now_s if bound is None else bound.first_s(now_s)
        beacons_s = self._beacons_s(begin_s, self._ahead + self._most)
        parts: list[FloatArray] = [np.array([begin_s]), begin_s + _FINE_S, beacons_s[: self._ahead]]
        if bound is not None:
            parts.append(bound.legal_s(beacons_s[: self._ahead + 1]))
        times_s = np.sort(np.concatenate(parts))
        times_s = times_s[(times_s >= begin_s) & (times_s < beacons_s[self._ahead])]
        times = DecisionGrid(
            times_s, beacons_s, np.searchsorted(beacons_s, times_s + TOLERANCE_S, side="right")
        )
        allowed = None if bound is None else bound.allows(times, self._most)
        found = solve_rest(self._shifted, times, self._costs(bound is not None, self._most), allowed)
        chosen = int(np.argmax(found > 0))
        return Rest(float(times_s[chosen]) - now_s, int(found[chosen]))

    def _idle(self, now_s: float) -> Rest:
        """Return the best doze while nothing is awaited: beyond the law's last bin always the longest."""
        if now_s - self._gaps.opened_s > EDGES_S[-1]:
            return Rest(0.0, self._longest(now_s), repeat=not self.trust)
        number = self.beacon_grid.after(now_s) - 1
        gap, plan = self._kept
        if gap != self._gaps.number or number not in plan or not self.beacon_grid.on(now_s):
            plan = self._plan(now_s, number)
            self._kept = (self._gaps.number, plan)
        return Rest(0.0, plan[number])

    def _plan(self, now_s: float, number: int) -> dict[int, int]:
        """Return the best dozes from now, which counts as beacon *number*, and from the beacons to come."""
        most = self._longest(now_s)
        rows, costs = _KEPT + max(_AHEAD, 2 * most), self._costs(False, most)
        numbers = range(number, number + _KEPT)
        if longest_doze_is_best(self._shifted, now_s, now_s + rows * self.beacon_s, costs, self.beacon_s):
            return dict.fromkeys(numbers, most)
        beacons_s = self._beacons_s(now_s, rows - 1 + most)
        times_s = np.concatenate(([now_s], beacons_s[: rows - 1]))
        found = solve_rest(self._shifted, DecisionGrid(times_s, beacons_s, np.arange(rows)), costs)
        return dict(zip(numbers, found[:_KEPT].tolist(), strict=True))

    def _shifted(self, times_s: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the law of what ends the present silence, at absolute times."""
        return self._gaps.at(self.law, times_s)

    def _beacons_s(self, time_s: float, count: int) -> FloatArray:
        first = self.beacon_grid.after(time_s)
        return np.arange(first, first + count, dtype=np.float64) * self.beacon_s

    def _costs(self, bound: bool, most: int) -> RestCosts:
        """Return the costs of a rest; within a *bound* on the delay it must be able to wait awake."""
        power, waiting = self.power, self._flows.waiting
        price_w = self.price / waiting**self.share if waiting else self.idle_price
        awake = bound or (waiting and self.awake)
        awake_w = max(0.0, power.awake_w - power.asleep_w) if awake else inf
        return RestCosts(price_w, awake_w, power.beacon_j, most)

"""Policy that learns reply times and minimises energy plus a price of delay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, sqrt
from typing import ClassVar

import numpy as np

from psm_sim.beacons import TOLERANCE_S
from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_WEIGHT
from psm_sim.common.parameters import check_all, parameter
from psm_sim.learning.waiting_time_model import EDGES_S, WaitingTimeModel
from psm_sim.policies.base import Frame, Policy, Rest
from psm_sim.policies.helpers.delay_control import DelayControl
from psm_sim.policies.helpers.doze_schedule import (
    DecisionGrid,
    ReplyBound,
    RestCosts,
    longest_doze_is_best,
    solve_rest,
)
from psm_sim.policies.helpers.frame_gaps import ON_AIR_S, FrameGaps, WaitingTimeModels
from psm_sim.policies.helpers.outstanding_requests import OutstandingRequests, is_useful, longest_doze
from psm_sim.poll import Poll

_PRICE = 0.25
"""Default price of delay."""

_UNSOLICITED, _QUIET_S = 0.5, 300.0
"""Unsolicited frames that are assumed before any is received: their number, and their idle time in seconds.

Both were chosen on seed 1 of ``mqtt``, ``push`` and ``ucb`` with two chips. At a price of 10, ``push`` costs
43 % more if no such frames are assumed (``benchmarks/anticipate_constants.py``, as for the other constants).
"""

_FINE_S: FloatArray = np.concatenate(([0.001, 0.002, 0.004, 0.006, 0.008], 0.01 * np.arange(1, 40)))
"""Offsets of the decision times between beacons, in seconds.

At each of these times the radio can decide to doze. After 0.39 s it decides only at beacons. Fewer offsets
change the energy by up to 0.7 %.
"""
_MIN_PROBABILITY = 1e-9
"""Probability of an arrival in a doze. Below it, the arrival is taken to be uniform over the doze."""
_MIN_HORIZON = 24
"""Minimum horizon of a schedule, in beacons.

The horizon is at least twice the longest doze. With 12 beacons, ``mqtt`` on the nRF7002 needs 10 % more
energy at a price of 10. With 36, no energy changes by more than 2 %.
"""
_CACHED_BEACONS = 60
"""Number of beacons for which an idle schedule is cached.

The schedule stays valid, because nothing is learnt until a frame is sent or received.
"""


@dataclass
class Anticipate(Policy):
    """Policy that minimises expected energy plus a price of delay.

    The time from one frame to the next has a distribution that is learnt for each of six contexts
    (:class:`~psm_sim.policies.helpers.frame_gaps.FrameGaps`, :class:`~psm_sim.learning.WaitingTimeModel`).
    Dynamic programming (:mod:`psm_sim.policies.helpers.doze_schedule`) then finds the schedule with the
    lowest expected cost. The cost is the energy plus the price for each second that a frame is buffered. A
    second of delay costs ``price`` times as much as a second awake instead of asleep. While no reply is
    awaited, the radio never waits awake, and an unsolicited frame waits at most ``max_ms`` plus one beacon
    interval.

    If several connections wait for a reply, the schedule is computed for the first frame that any of them
    receives. The price is divided by n**``share`` for n waiting connections.

    With a target, ``slowdown`` or ``delay_ms``, the policy controls the price so that its estimated delay
    meets the target (:class:`~psm_sim.policies.helpers.delay_control.DelayControl`).

    With ``p`` a reply never takes more than (1 + p) times as long as without power saving. The
    policy then dozes only where the rule of :class:`~psm_sim.policies.bsd.Bsd` with the same p allows it.
    """

    name: ClassVar[str] = "anticipate"

    price: float | None = parameter(
        None,
        "price of a second of delay, relative to a second awake instead of asleep "
        f"(none: {_PRICE:g}, unless price_w or a target is given)",
        at_least=0,
        at_most=MAX_WEIGHT,
    )
    price_w: float | None = parameter(
        None, "price of a second of delay in joules", unit="W", at_least=0, at_most=MAX_WEIGHT
    )
    slowdown: float | None = parameter(None, "target of the mean slowdown of pages", above=1, at_most=10)
    delay_ms: float | None = parameter(
        None,
        "target of the mean delay added to a page",
        unit="ms",
        above=0,
        at_most=10_000,
    )
    max_ms: float = parameter(1200.0, "longest doze", unit="ms", above=0, at_most=10_000, expert=True)
    share: float = parameter(
        0.25,
        "exponent s of the price, which is divided by n**s for n waiting connections",
        at_least=0,
        at_most=1,
        expert=True,
    )
    awake: bool = parameter(True, "whether the radio may wait awake for a reply", expert=True)
    p: float | None = parameter(
        None,
        "bound on the slowdown of a reply, minus 1 (none: no bound)",
        above=0,
        at_most=MAX_WEIGHT,
        expert=True,
    )

    def __post_init__(self) -> None:
        check_all(self, "policy anticipate")
        choices = {name: getattr(self, name) for name in ("price", "price_w", "slowdown", "delay_ms")}
        targets = [f"{name}={value:g}" for name, value in choices.items() if value is not None]
        if len(targets) > 1:
            raise InputError(
                "policy anticipate: expected one of price, price_w, slowdown and delay_ms, got "
                f"{' and '.join(targets)}."
            )
        if not targets:
            self.price = _PRICE
        self._reset()

    def start(self, beacon_s: float) -> None:
        """Start without any observation."""
        super().start(beacon_s)
        self._reset()

    def _reset(self) -> None:
        self.models = WaitingTimeModels()
        self._flows = OutstandingRequests()
        self._gaps = FrameGaps(self._flows, self._learn)
        has_target = self.slowdown or self.delay_ms
        self._control = DelayControl(self.slowdown, (self.delay_ms or 0) / 1000) if has_target else None
        self._max_beacons = longest_doze(self.max_ms, self.beacon_s)
        self._horizon_beacons = max(_MIN_HORIZON, 2 * self._max_beacons)
        self._cached_plan: tuple[int, dict[int, int]] = (-1, {})

    def sent(self, now_s: float, frame: Frame) -> None:
        """Handle a frame sent."""
        self._observe(self._gaps.sent, now_s, frame)

    def received(self, now_s: float, frame: Frame) -> None:
        """Handle a frame received, and learn its waiting time. Group addressed frames are ignored."""
        if not frame.group:
            self._observe(self._gaps.received, now_s, frame)

    def _observe(self, handle: Callable[[float, Frame], None], now_s: float, frame: Frame) -> None:
        waited = bool(self._flows.waiting)
        handle(now_s, frame)
        if self._control is not None and is_useful(frame):
            self._control.frame(now_s, waited=waited, waits=bool(self._flows.waiting))

    def interrupted(self, poll: Poll) -> None:
        """Handle an interrupted doze, and learn from the buffered frames."""
        self._gaps.interrupted(poll)

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Return the sleep decision with the lowest expected cost."""
        if self._control is not None:
            self._control.rests()
        if self._flows.waiting or self.p is not None or self._gaps.asks(now_s):
            rest = self._wait(now_s, since_uplink_s)
        else:
            rest = self._idle(now_s)
        dozes_s = now_s + rest.awake_s
        wakes = self.beacon_grid.after(dozes_s) + rest.beacons - 1
        self._gaps.rests(dozes_s, self.beacon_grid.time(wakes))
        return rest

    def report(self) -> dict[str, float]:
        """Return the final price and the estimated mean slowdown or delay; empty without a target."""
        control = self._control
        if control is None:
            return {}
        mean = control.excess / max(1, control.pages)
        estimate = {"slowdown_estimated": 1 + mean} if self.slowdown else {"delay_estimated_ms": 1000 * mean}
        return {"price": control.price, **estimate}

    def _learn(self, context: str, after_s: float, by_s: float) -> None:
        model = self.models[context]
        if context == "syn" and by_s < inf and not self.models["request"].rounds:
            self.models["request"].observe(after_s, by_s)  # a reply takes at least the round trip
        if self._control is not None and context != "idle" and ON_AIR_S + TOLERANCE_S < by_s - after_s < inf:
            self._control.arrived(_mean_wait_s(model, after_s, by_s), self._flows.waiting)
        model.observe(after_s, by_s)

    def _longest(self, now_s: float) -> int:
        """Return the maximum length of a doze while no reply is awaited, in beacons.

        If frames arrive at a rate h, dozes of T seconds cost e / T + price h T / 2 joules per second, where e
        is the energy of a beacon. The minimum is at T^2 = 2 e / (price h). After t seconds without an
        unsolicited frame, h is assumed to be ``_UNSOLICITED / (_QUIET_S + t)``.
        """
        hazard_w = self._price_of_delay_w * _UNSOLICITED / (_QUIET_S + max(0.0, self._gaps.idle_s(now_s)))
        if not hazard_w:
            return self._max_beacons
        beacons = sqrt(2 * self.power.beacon_j / hazard_w) / self.beacon_s
        return max(1, min(round(beacons), self._max_beacons))

    def _wait(self, now_s: float, since_uplink_s: float) -> Rest:
        """Return the best time awake and the best doze."""
        bound = None if self.p is None else ReplyBound(self.p, now_s - since_uplink_s, self.beacon_grid)
        start_s = now_s if bound is None else bound.first_s(now_s)
        beacons_s = self._beacons_s(start_s, self._horizon_beacons + self._max_beacons)
        decision_times: list[FloatArray] = [
            np.array([start_s]),
            start_s + _FINE_S,
            beacons_s[: self._horizon_beacons],
        ]
        if bound is not None:
            decision_times.append(bound.legal_s(beacons_s[: self._horizon_beacons + 1]))
        times_s = np.sort(np.concatenate(decision_times))
        times_s = times_s[(times_s >= start_s) & (times_s < beacons_s[self._horizon_beacons])]
        grid = DecisionGrid(
            times_s, beacons_s, np.searchsorted(beacons_s, times_s + TOLERANCE_S, side="right")
        )
        allowed = None if bound is None else bound.allows(grid, self._max_beacons)
        # with a bound, the radio waits awake until it may doze
        costs = self._costs(bound is not None or self.awake, self._max_beacons)
        decisions = solve_rest(self._arrival_model, grid, costs, allowed)
        best = int(np.argmax(decisions > 0))
        return Rest(float(times_s[best]) - now_s, int(decisions[best]))

    def _idle(self, now_s: float) -> Rest:
        """Return the best doze while no reply is awaited.

        The waiting-time model covers gaps of at most 60.6 s. In a longer gap, the longest doze is returned.
        """
        if now_s - self._gaps.idle.opened_s > EDGES_S[-1]:
            return Rest(0.0, self._longest(now_s))
        number = self.beacon_grid.after(now_s) - 1
        cached_gap, plan = self._cached_plan
        if cached_gap != self._gaps.number or number not in plan or not self.beacon_grid.on(now_s):
            plan = self._plan(now_s, number)
            self._cached_plan = (self._gaps.number, plan)
        return Rest(0.0, plan[number])

    def _plan(self, now_s: float, number: int) -> dict[int, int]:
        """Return the best doze after each beacon from *number* on, in beacons.

        The plan assumes that beacon *number* is sent at *now_s*.
        """
        max_beacons = self._longest(now_s)
        rows, costs = _CACHED_BEACONS + max(_MIN_HORIZON, 2 * max_beacons), self._costs(False, max_beacons)
        numbers = range(number, number + _CACHED_BEACONS)
        if longest_doze_is_best(
            self._arrival_model, now_s, now_s + rows * self.beacon_s, costs, self.beacon_s
        ):
            return dict.fromkeys(numbers, max_beacons)
        beacons_s = self._beacons_s(now_s, rows - 1 + max_beacons)
        times_s = np.concatenate(([now_s], beacons_s[: rows - 1]))
        decisions = solve_rest(self._arrival_model, DecisionGrid(times_s, beacons_s, np.arange(rows)), costs)
        return dict(zip(numbers, decisions[:_CACHED_BEACONS].tolist(), strict=True))

    def _arrival_model(self, times_s: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the distribution of the next frame's arrival, see :data:`ArrivalModel`."""
        return self._gaps.at(self.models, times_s)

    def _beacons_s(self, time_s: float, count: int) -> FloatArray:
        first = self.beacon_grid.after(time_s)
        return np.arange(first, first + count, dtype=np.float64) * self.beacon_s

    def _costs(self, can_wait_awake: bool, max_beacons: int) -> RestCosts:
        """Return the costs at the current price; *max_beacons* is the longest doze."""
        price_w = self._price_of_delay_w / max(1, self._flows.waiting) ** self.share
        awake_w = self._awake_w if can_wait_awake else inf
        return RestCosts(price_w, awake_w, self.power.beacon_j, max_beacons)

    @property
    def _awake_w(self) -> float:
        """Power of staying awake instead of dozing, in watts."""
        return max(0.0, self.power.awake_w - self.power.asleep_w)

    @property
    def _price_of_delay_w(self) -> float:
        """Price of a second of delay, in joules."""
        if self.price_w is not None:
            return self.price_w
        price = self.price if self._control is None else self._control.price
        assert price is not None  # noqa: S101 (if neither price_w nor a target is given, price is)
        return price * self._awake_w


def _mean_wait_s(model: WaitingTimeModel, after_s: float, by_s: float) -> float:
    """Return the mean time from a frame's arrival until *by_s*, if it arrived after *after_s*, in seconds."""
    (before, by), (integral, integral_by) = model.at(np.array([after_s, by_s]))
    if by - before < _MIN_PROBABILITY:
        return (by_s - after_s) / 2
    return float(integral_by - integral - before * (by_s - after_s)) / float(by - before)

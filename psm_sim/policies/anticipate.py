"""Policy that learns reply times and minimises energy plus a price of delay."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from psm_sim.beacons import TOLERANCE_S
from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_S, MAX_WEIGHT
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
from psm_sim.policies.helpers.frame_gaps import IDLE, ON_AIR_S, FrameGaps, WaitingTimeModels
from psm_sim.policies.helpers.outstanding_requests import OutstandingRequests, is_useful, longest_doze
from psm_sim.poll import Poll

_PRICE_W = 7.0
"""Default price of delay, chosen on seeds 1 to 10 of ``ucb``."""

_MAX_TRUSTED_MS = 5000.0
"""Longest idle doze due to ``trust``, in ms. With 10 s a page of ``ucb`` needs 0.4 mJ less."""

_FINE_S: FloatArray = np.concatenate(([0.001, 0.002, 0.004, 0.006, 0.008], 0.01 * np.arange(1, 40)))
"""Offsets in seconds, up to 0.39 s, until which the radio can wait awake. Later decisions are at beacons
only.
"""
_MIN_PROBABILITY = 1e-9
"""Probability of an arrival in a doze below which it is taken to be uniform over the doze."""
_MIN_HORIZON = 24
"""Minimum horizon of a schedule, in beacons.

The horizon is at least twice the longest doze. With 36 beacons, the runs of two traces did not change.
"""
_CACHED_BEACONS = 60
"""Number of beacons for which an idle schedule is cached.

Nothing is learnt until a frame is sent or received.
"""


@dataclass
class Anticipate(Policy):
    """Policy that minimises expected energy plus a price of delay.

    The time from one frame to the next has a distribution that is learnt for each of six contexts
    (:class:`~psm_sim.policies.helpers.frame_gaps.FrameGaps`, :class:`~psm_sim.learning.WaitingTimeModel`).
    Dynamic programming (:mod:`psm_sim.policies.helpers.doze_schedule`) then finds the schedule with the
    lowest expected cost. The cost is the energy plus the price for each second that a frame is buffered.
    While no reply is awaited, the radio never waits awake.

    The schedule is for the first frame of any waiting connection. The price per connection decreases if
    several wait at the same time, see ``share``. With ``trust`` an idle doze may exceed ``max_ms``. An
    unsolicited frame then waits at most this share of the idle time since the last such frame, and at most
    5 s.

    With the targets ``slowdown`` or ``delay_ms`` the price is controlled so that the delay that the policy
    estimates to cause meets the target (:class:`~psm_sim.policies.helpers.delay_control.DelayControl`).

    With ``p`` a reply never takes more than (1 + p) times as long as without power saving. A doze is then
    allowed only if :class:`~psm_sim.policies.bsd.Bsd` with the same p and longest doze would allow it.
    """

    name: ClassVar[str] = "anticipate"

    price: float | None = parameter(
        None,
        f"price of delay while a reply is awaited (none: {_PRICE_W:g}, or controlled to meet a target)",
        unit="W",
        at_least=0,
        at_most=MAX_WEIGHT,
    )
    slowdown: float | None = parameter(None, "target of the mean slowdown of pages", above=1, at_most=10)
    delay_ms: float | None = parameter(
        None,
        "target of the mean delay added to a page",
        unit="ms",
        above=0,
        at_most=10_000,
    )
    idle_price: float = parameter(
        0.1,
        "price of delay while no reply is awaited",
        unit="W",
        at_least=0,
        at_most=MAX_WEIGHT,
        expert=True,
    )
    max_ms: float = parameter(
        1200.0, "longest doze, see trust", unit="ms", above=0, at_most=10_000, expert=True
    )
    trust: float = parameter(
        0.01,
        "ratio of the longest idle doze, which is then at most 5 s, to the idle time since an unsolicited "
        "frame",
        at_least=0,
        at_most=1,
        expert=True,
        requires="p=none",
    )
    share: float = parameter(
        0.25,
        "exponent s of the price, which is divided by n**s for n waiting connections",
        at_least=0,
        at_most=1,
        expert=True,
    )
    awake: bool = parameter(True, "whether the radio may wait awake for a reply", expert=True)
    split_s: float = parameter(
        10.0,
        "largest spacing of two useful frames after which an idle gap counts as busy",
        unit="s",
        above=0,
        at_most=MAX_S,
        expert=True,
    )
    p: float | None = parameter(
        None,
        "bound on the slowdown of a reply, minus 1 (none: no bound)",
        above=0,
        at_most=MAX_WEIGHT,
        expert=True,
    )

    def __post_init__(self) -> None:
        check_all(self, "policy anticipate")
        choices = {"price": self.price, "slowdown": self.slowdown, "delay_ms": self.delay_ms}
        given = [f"{name}={value:g}" for name, value in choices.items() if value is not None]
        if len(given) > 1:
            raise InputError(
                f"policy anticipate: expected one of price, slowdown and delay_ms, got {' and '.join(given)}."
            )
        if not given:
            self.price = _PRICE_W
        self._reset()

    def start(self, beacon_s: float) -> None:
        """Start without any observation."""
        super().start(beacon_s)
        self._reset()

    def _reset(self) -> None:
        self.models = WaitingTimeModels()
        self._flows = OutstandingRequests()
        self._gaps = FrameGaps(self._flows, self.split_s, self._learn)
        delay_s = None if self.delay_ms is None else self.delay_ms / 1000
        self._control = None
        if self.slowdown is not None or delay_s is not None:
            self._control = DelayControl(self.slowdown, delay_s)
        self._max_beacons = longest_doze(self.max_ms, self.beacon_s)
        self._horizon_beacons = max(_MIN_HORIZON, 2 * self._max_beacons)
        self._cached_plan: tuple[int, dict[int, int]] = (-1, {})

    def sent(self, now_s: float, frame: Frame) -> None:
        """Handle a frame sent."""
        waited = bool(self._flows.waiting)
        self._gaps.sent(now_s, frame)
        self._observe(now_s, frame, waited)

    def received(self, now_s: float, frame: Frame) -> None:
        """Handle a frame received, and learn its waiting time. Group addressed frames are ignored."""
        if not frame.group:
            waited = bool(self._flows.waiting)
            self._gaps.received(now_s, frame)
            self._observe(now_s, frame, waited)

    def _observe(self, now_s: float, frame: Frame, waited: bool) -> None:
        if self._control is not None and is_useful(frame):
            self._control.frame(now_s, waited=waited, waits=bool(self._flows.waiting))

    def interrupted(self, poll: Poll) -> None:
        """Handle an interrupted doze, and learn from the buffered frames."""
        self._gaps.interrupted(poll)

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Return the first rest of the schedule with the lowest expected cost."""
        if self._control is not None:
            self._control.rests()
        if self._flows.waiting or self.p is not None:
            rest = self._wait(now_s, since_uplink_s)
        else:
            rest = self._idle(now_s)
        dozes_s = now_s + rest.awake_s
        wakes = self.beacon_grid.after(dozes_s) + rest.beacons - 1
        self._gaps.rests(dozes_s, self.beacon_grid.time(wakes))
        return rest

    def report(self) -> dict[str, float]:
        """Return the price at the end and the estimated mean slowdown or delay, if there is a target."""
        control = self._control
        if control is None:
            return {}
        mean = control.excess / max(1, control.pages)
        estimate = {"slowdown_estimated": 1 + mean} if self.slowdown else {"delay_estimated_ms": 1000 * mean}
        return {"price_w": control.price_w, **estimate}

    def model(self, context: str) -> WaitingTimeModel:
        """Return the waiting-time model of *context*, and create it if necessary."""
        return self.models[context]

    def _learn(self, context: str, after_s: float, by_s: float) -> None:
        model = self.model(context)
        if (
            self._control is not None
            and context not in IDLE
            and ON_AIR_S + TOLERANCE_S < by_s - after_s < inf
        ):
            self._control.arrived(_mean_wait_s(model, after_s, by_s), self._flows.waiting)
        model.observe(after_s, by_s)

    def _longest(self, now_s: float) -> int:
        """Return the longest doze while no reply is awaited, in beacons."""
        trusted_ms = min(1000 * self.trust * self._gaps.idle_s(now_s), _MAX_TRUSTED_MS)
        return max(self._max_beacons, longest_doze(trusted_ms, self.beacon_s))

    def _wait(self, now_s: float, since_uplink_s: float) -> Rest:
        """Return the best rest while a reply is awaited, or with a bound."""
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
        decisions = solve_rest(
            self._arrival_model, grid, self._costs(bound is not None, self._max_beacons), allowed
        )
        best = int(np.argmax(decisions > 0))
        return Rest(float(times_s[best]) - now_s, int(decisions[best]))

    def _idle(self, now_s: float) -> Rest:
        """Return the best doze while no reply is awaited.

        Beyond the last bin of the waiting-time model this is always the longest doze.
        """
        if now_s - self._gaps.idle.opened_s > EDGES_S[-1]:
            return Rest(0.0, self._longest(now_s), repeat=not self.trust)
        number = self.beacon_grid.after(now_s) - 1
        cached_gap, plan = self._cached_plan
        if cached_gap != self._gaps.number or number not in plan or not self.beacon_grid.on(now_s):
            plan = self._plan(now_s, number)
            self._cached_plan = (self._gaps.number, plan)
        return Rest(0.0, plan[number])

    def _plan(self, now_s: float, number: int) -> dict[int, int]:
        """Return the best dozes from *now_s*, which counts as beacon *number*, and from later beacons."""
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
        """Return the distribution of the end of the current gap at absolute times."""
        return self._gaps.at(self.model, times_s)

    def _beacons_s(self, time_s: float, count: int) -> FloatArray:
        first = self.beacon_grid.after(time_s)
        return np.arange(first, first + count, dtype=np.float64) * self.beacon_s

    def _costs(self, has_bound: bool, max_beacons: int) -> RestCosts:
        """Return the costs of a rest of at most *max_beacons* beacons.

        If *has_bound* is true, the radio must be able to wait awake so that it can keep the bound.
        """
        power, waiting = self.power, self._flows.waiting
        if self._control is None:
            assert self.price is not None  # noqa: S101 (without a target there is a price)
            price_w = self.price
        else:
            price_w = self._control.price_w
        price_w = price_w / waiting**self.share if waiting else self.idle_price
        may_wait_awake = has_bound or (waiting and self.awake)
        awake_w = max(0.0, power.awake_w - power.asleep_w) if may_wait_awake else inf
        return RestCosts(price_w, awake_w, power.beacon_j, max_beacons)


def _mean_wait_s(model: WaitingTimeModel, after_s: float, by_s: float) -> float:
    """Return the expected time from an arrival to *by_s*, if it is after *after_s* and not later."""
    (before, by), (integral, integral_by) = model.at(np.array([after_s, by_s]))
    if by - before < _MIN_PROBABILITY:
        return (by_s - after_s) / 2
    return float(integral_by - integral - before * (by_s - after_s)) / float(by - before)

"""Smart PSM of Qiao and Shin (INFOCOM 2005)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.input_limits import MAX_MS
from psm_sim.common.parameters import check_all, parameter
from psm_sim.learning import WaitingTimeModel
from psm_sim.policies.base import Frame, Policy, Rest
from psm_sim.policies.helpers.frame_gaps import ON_AIR_S
from psm_sim.policies.helpers.outstanding_requests import is_useful, longest_doze
from psm_sim.poll import Poll


@dataclass
class Smart(Policy):
    """Policy that needs the least energy under a penalty on late replies (Smart PSM).

    The policy follows Qiao and Shin (INFOCOM 2005). A dynamic programme over the next beacons chooses where
    to doze and where to stay awake, from the distribution of the time until the first reply to the last frame
    sent. A reply is late if it takes more than 1 + p times as long as without power saving, the bound of
    ``bsd``. The penalty is the same for every late reply, however late it is.

    The distribution is a :class:`~psm_sim.learning.WaitingTimeModel`. The original may estimate the
    distribution in another way.
    """

    name: ClassVar[str] = "smart"

    p: float = parameter(
        1.0, "bound on the slowdown of a reply, minus 1; a slower reply is late", at_least=0.05, at_most=1e6
    )
    penalty_ms: float = parameter(
        1000.0,
        "cost of a late reply, as a time awake instead of asleep",
        unit="ms",
        at_least=0,
        at_most=MAX_MS,
    )
    max_sleep_ms: float = parameter(900.0, "longest doze", unit="ms", above=0, at_most=10_000)

    def __post_init__(self) -> None:
        check_all(self, "policy smart")
        self.start(self.beacon_s)

    def start(self, beacon_s: float) -> None:
        """Start without any recorded reply."""
        super().start(beacon_s)
        self._model = WaitingTimeModel()
        self._uplink_s, self._awaits, self._rested = 0.0, False, False
        self._doze_s = (inf, inf)

    def sent(self, now_s: float, frame: Frame) -> None:
        """Await a reply to the frame. If another reply is awaited, learn that it has not arrived by now."""
        self._learn(max(0.0, now_s - self._uplink_s), inf)
        self._uplink_s, self._awaits, self._doze_s = now_s, True, (inf, inf)

    def received(self, now_s: float, frame: Frame) -> None:
        """Learn the time of the first useful frame since the last frame sent."""
        if is_useful(frame) and not frame.group:
            after_s, by_s = (max(0.0, time_s - self._uplink_s) for time_s in self._arrival(now_s))
            self._learn(after_s, by_s)

    def _arrival(self, now_s: float) -> tuple[float, float]:
        """Return the interval in which a frame received at *now_s* arrived at the access point."""
        dozed_s, woke_s = self._doze_s
        if now_s < woke_s:
            return now_s - ON_AIR_S, now_s
        # A repeated doze began later than the first doze.
        woke_s = max(woke_s, self.beacon_grid.time(self.beacon_grid.after(now_s) - 1))
        longest_s = longest_doze(self.max_sleep_ms, self.beacon_s) * self.beacon_s
        return max(dozed_s, woke_s - longest_s), woke_s

    def _learn(self, after_s: float, by_s: float) -> None:
        if self._awaits and self._rested:
            self._model.observe(after_s, by_s)
        self._awaits = self._rested = False

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Follow the schedule with the least expected cost."""
        longest = longest_doze(self.max_sleep_ms, self.beacon_s)
        first = self.beacon_grid.after(now_s)
        # After these steps, no doze makes a reply late.
        steps = int(max(0.0, longest / self.p - since_uplink_s / self.beacon_s)) + 1
        wakes_s = self.beacon_s * (first + np.arange(steps + longest))
        times_s: FloatArray = since_uplink_s + np.concatenate(([0.0], wakes_s - now_s))
        doze = self._schedule(times_s, steps, longest)
        begin = next((step for step in range(steps) if doze[step]), steps)
        beacons = doze[begin] if begin < steps else longest
        wait_s = float(times_s[begin] - times_s[0])
        is_constant = since_uplink_s * self.p >= longest * self.beacon_s and not wait_s
        self._rested = True
        self._doze_s = (now_s + wait_s, self.beacon_grid.time(first + begin + beacons - 1))
        return Rest(wait_s, beacons, repeat=is_constant)

    def _schedule(self, times_s: FloatArray, steps: int, longest: int) -> list[int]:
        """Return the best doze at each of the first *steps* times, in beacons; 0 to stay awake."""
        power = self.power
        awake_w = power.awake_w - power.asleep_w
        arrived, integral = self._model.at(times_s)
        in_time, _ = self._model.at(times_s / (1 + self.p))
        stay_j = awake_w * (np.diff(times_s) - np.diff(integral))
        left_j = power.beacon_j * (1 - arrived) * np.arange(times_s.size, 0, -1) / longest
        doze = [0] * steps
        for step in reversed(range(steps)):
            ends = slice(step + 1, step + 1 + longest)
            late = np.maximum(in_time[ends] - arrived[step], 0.0)
            costs_j = awake_w * self.penalty_ms / 1000 * late + left_j[ends]
            best = longest - 1 - int(costs_j[::-1].argmin())
            doze_j = power.beacon_j * (1 - arrived[step]) + costs_j[best]
            awake_j = stay_j[step] + left_j[step + 1]
            doze[step] = 0 if awake_j < doze_j else best + 1
            left_j[step] = min(awake_j, doze_j)
        return doze

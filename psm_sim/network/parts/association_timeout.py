"""Association that expires if the station is idle, and timer of keep-alive and poll frames."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from simpy import Environment

from psm_sim.network.segment import Segment, is_null
from psm_sim.network.timers import Alarm


class Association:
    """Association of one station.

    Attributes
    ----------
    sent_s : float
        Time of the station's last frame, in seconds.
    renewals : int
        Number of times the station had to associate again.
    """

    def __init__(self, env: Environment, limit_s: float | None, takes_s: float) -> None:
        self._env, self._limit_s, self._takes_s = env, limit_s, takes_s
        self._lost, self._back_s = False, 0.0
        self.sent_s = 0.0
        self.renewals = 0

    @property
    def lapses_s(self) -> float:
        """Time in seconds at which the association expires unless the station transmits."""
        return inf if self._limit_s is None else self.sent_s + self._limit_s

    @property
    def lapsed(self) -> bool:
        """Whether the association has expired or was lost."""
        idle = self._limit_s is not None and self._env.now - self.sent_s > self._limit_s
        return idle or self._lost

    def lose(self, back_s: float) -> None:
        """Lose the association because the access point restarts until *back_s*, in seconds."""
        self._lost, self._back_s = True, back_s

    def sends(self) -> float:
        """Record that the station transmits. Return the duration of a new association in seconds, or 0."""
        lapsed, self.sent_s = self.lapsed, self._env.now
        if self._lost and self.sent_s < self._back_s:
            return 0.0
        self._lost = False
        self.renewals += lapsed
        return self._takes_s if lapsed else 0.0

    def answer_polls(self, deliver: Callable[[Segment], None]) -> Callable[[Segment], None]:
        """Return a wrapper of *deliver* that answers polls (null data frames) instead of delivering them."""

        def receive(segment: Segment) -> None:
            if is_null(segment):
                self.sent_s = self._env.now
            else:
                deliver(segment)

        return receive


POLL_GRACE_S = 3.0
"""Time in seconds for the ACK of a poll, after which the association expires.

The access point polls an idle station by a null data frame (AP_DISASSOC_DELAY of hostapd).
"""


class IdleTimer:
    """Timer that calls *action* each time the station has been idle for *limit_s* seconds."""

    def __init__(
        self, env: Environment, association: Association, limit_s: float, action: Callable[[], None]
    ) -> None:
        self._env, self._association, self._limit_s, self._action = env, association, limit_s, action
        self._alarm = Alarm(env, self._check)
        self._alarm.at(limit_s)

    def _check(self) -> None:
        due_s = self._association.sent_s + self._limit_s
        # 1e-12: the alarm may fire a rounding error before the limit.
        if self._env.now >= due_s * (1 - 1e-12):
            self._action()
            due_s = self._env.now + self._limit_s
        self._alarm.at(due_s)

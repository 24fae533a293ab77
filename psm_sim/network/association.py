"""Association: how long the access point remembers a silent station, and the null frames that keep it."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from simpy import Environment

from psm_sim.network.segment import NULL, Segment
from psm_sim.network.timers import Alarm

NULL_BYTES = 28
"""Size of a null data frame (IEEE 802.11-2020, 9.3.2.1: header and frame check)."""


class Association:
    """Association of one station: it lapses when nothing was sent for *limit_s* seconds; None: never.

    ``renewals`` counts how often the station had to associate anew.
    """

    def __init__(self, env: Environment, limit_s: float | None, takes_s: float) -> None:
        self._env, self._limit_s, self._takes_s = env, limit_s, takes_s
        self._lost, self._back_s = False, 0.0
        self.sent_s = 0.0
        self.renewals = 0

    @property
    def lapses_s(self) -> float:
        """When the access point forgets the station unless it sends, in seconds."""
        return inf if self._limit_s is None else self.sent_s + self._limit_s

    @property
    def lapsed(self) -> bool:
        """Whether the access point has forgotten the station."""
        silent = self._limit_s is not None and self._env.now - self.sent_s > self._limit_s
        return silent or self._lost

    def lose(self, back_s: float) -> None:
        """Forget the station, for the access point starts anew; it answers again at *back_s* seconds."""
        self._lost, self._back_s = True, back_s

    def sends(self) -> float:
        """Take note that the station sends; return the seconds that it needs to associate before."""
        lapsed, self.sent_s = self.lapsed, self._env.now
        if self._lost and self.sent_s < self._back_s:
            return 0.0
        self._lost = False
        self.renewals += lapsed
        return self._takes_s if lapsed else 0.0


class KeepAlive:
    """Keep-alive: sends a null frame when nothing was sent for *every_s* seconds.

    Parameters
    ----------
    env, association
        The clock, and what knows when the last frame was sent.
    every_s
        The longest time without a frame sent, in seconds.
    send
        Sends a null frame.
    """

    def __init__(
        self, env: Environment, association: Association, every_s: float, send: Callable[[], None]
    ) -> None:
        self._env, self._association, self._every_s, self._send = env, association, every_s, send
        self._alarm = Alarm(env, self._look)
        self._alarm.at(every_s)

    def _look(self) -> None:
        if self._env.now - self._association.sent_s >= self._every_s * (1 - 1e-12):
            self._send()
        self._alarm.at(self._association.sent_s + self._every_s)


def null_frame() -> Segment:
    """Return a null data frame, which says no more than that the station is there."""
    return Segment(NULL, 0, 0, 0, False, False, NULL_BYTES)


def is_null(segment: Segment) -> bool:
    """Say whether a frame is a null frame, which ends at the access point."""
    return segment.connection is NULL

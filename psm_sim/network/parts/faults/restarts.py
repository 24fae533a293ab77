"""Restarts of the access point."""

from __future__ import annotations

from collections.abc import Callable

from numpy.random import Generator
from simpy import Environment

from psm_sim.network.timers import Alarm


class Restarts:
    """Restarts of one access point; ``number`` counts them.

    During a restart the access point forwards no frames in either direction. The beacon times do not change,
    and a dozing station still spends energy on the beacons for which it wakes. The station associates again
    as soon as the access point is back, like a driver that has noticed missing beacons.

    Parameters
    ----------
    env, random
        The clock, and the source of the exponential times between restarts.
    times_s
        Mean time from the end of a restart to the next one, and length of a restart, in seconds.
    forget
        Called with the end of the restart in seconds, to discard the association and the buffered frames.
        Returns the number of frames on the downlink.
    on_return
        Called when the access point is back.
    """

    def __init__(
        self,
        env: Environment,
        random: Generator,
        times_s: tuple[float, float],
        forget: Callable[[float], int],
        on_return: Callable[[], None],
    ) -> None:
        self._random, (self._every_s, self._lasts_s) = random, times_s
        self._forget, self._on_return = forget, on_return
        self._down_alarm, self._up_alarm = Alarm(env, self._go_down), Alarm(env, self._come_up)
        self._doomed, self._down, self._ends_s = 0, False, 0.0
        self.number = 0
        self._plan()

    def takes_uplink(self) -> bool:
        """Return whether an uplink frame that reaches the access point now is lost."""
        return self._down

    def takes_downlink(self) -> bool:
        """Return whether a downlink frame that arrives now is lost: it was queued when the restart began."""
        doomed = self._doomed > 0
        self._doomed -= doomed
        return doomed

    def _plan(self) -> None:
        begins_s = self._ends_s + float(self._random.exponential(self._every_s))
        self._ends_s = begins_s + self._lasts_s
        self._down_alarm.at(begins_s)

    def _go_down(self) -> None:
        self.number += 1
        self._down, self._doomed = True, self._forget(self._ends_s)
        self._up_alarm.at(self._ends_s)

    def _come_up(self) -> None:
        self._down = False
        self._plan()
        self._on_return()

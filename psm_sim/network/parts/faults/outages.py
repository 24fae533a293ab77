"""Random outages: their times, and the restarts of the access point that they cause."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from simpy import Environment

from psm_sim.common.random_streams import random_stream
from psm_sim.network.timers import Alarm


class OutageSchedule:
    """Sequence of outages of fixed length, separated by exponential times.

    Parameters
    ----------
    seed, name
        The seed, and the name of the random stream.
    every_s
        Mean time from the end of an outage to the next one, in seconds.
    lasts_s
        Length of an outage in seconds.

    Attributes
    ----------
    begins_s, ends_s : float
        Begin and end of the current or next outage, in seconds.
    number : int
        Number of this outage, from 1.
    """

    def __init__(self, seed: int, name: str, every_s: float, lasts_s: float) -> None:
        self._random, self._every_s, self._lasts_s = random_stream(seed, name), every_s, lasts_s
        self.begins_s = self.ends_s = 0.0
        self.number = 0
        self.next()

    def next(self) -> None:
        """Advance to the next outage."""
        self.begins_s = self.ends_s + float(self._random.exponential(self._every_s))
        self.ends_s = self.begins_s + self._lasts_s
        self.number += 1

    def begun(self, now_s: float) -> int:
        """Return the number of outages begun at *now_s*, which must not decrease between calls."""
        return self.number if self.left_s(now_s) > 0 else self.number - 1

    def left_s(self, now_s: float) -> float:
        """Return the rest of the current outage in seconds, or 0. *now_s* must not decrease between calls."""
        while now_s >= self.ends_s:
            self.next()
        return self.ends_s - now_s if now_s >= self.begins_s else 0.0


class ForgetfulHop(Protocol):
    """Wireless hop whose access point can restart."""

    def forget(self, back_s: float) -> int:
        """Discard association and buffered frames. Return the number of frames on the downlink.

        The access point is back at *back_s* seconds.
        """


class Restarts:
    """Restarts of one access point; ``number`` counts them.

    During a restart the access point forwards no frames in either direction. The beacon times do not change,
    and a dozing station still spends energy on the beacons for which it wakes.

    Parameters
    ----------
    env, outages
        The clock, and the times of the restarts.
    hop
        Wireless hop whose state is lost.
    on_return
        Called when the access point is back.
    """

    def __init__(
        self,
        env: Environment,
        outages: OutageSchedule,
        hop: ForgetfulHop,
        on_return: Callable[[], None],
    ) -> None:
        self._outages, self._hop, self._on_return = outages, hop, on_return
        self._down_alarm, self._up_alarm = Alarm(env, self._go_down), Alarm(env, self._come_up)
        self._doomed = 0
        self._down = False
        self.number = 0
        self._down_alarm.at(outages.begins_s)

    def takes_uplink(self) -> bool:
        """Return whether an uplink frame that reaches the access point now is lost."""
        return self._down

    def takes_downlink(self) -> bool:
        """Return whether a downlink frame that would reach the station now was lost in the queue."""
        doomed = self._doomed > 0
        self._doomed -= doomed
        return doomed

    def _go_down(self) -> None:
        self.number += 1
        self._down, self._doomed = True, self._hop.forget(self._outages.ends_s)
        self._up_alarm.at(self._outages.ends_s)

    def _come_up(self) -> None:
        self._down = False
        self._outages.next()
        self._down_alarm.at(self._outages.begins_s)
        self._on_return()

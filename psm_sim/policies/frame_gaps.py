"""Gaps: the silences between frames, as intervals from which a waiting law can learn."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.learning.waiting_time import WaitingTimeModel
from psm_sim.policies.base import Frame
from psm_sim.policies.outstanding_requests import OutstandingRequests, is_useful
from psm_sim.poll import Poll

CONTEXTS = ("syn", "request", "ack", "received", "idle", "idle-busy")
"""Contexts of a gap: while a reply is awaited its opening frame, else whether there is much traffic."""

IDLE = ("idle", "idle-busy")
"""Those of them in which no reply is awaited."""

ON_AIR_S = 0.004
"""A frame received while awake came at most this much earlier: the time of a full frame at 3 Mbit/s."""

_NEVER, _IDLE_MEAN_S = 99.0, 600.0
"""Odds, before anything was seen, that nothing unasked comes within a minute, and the mean time until it
does; else those of a waiting law."""


class WaitingTimeModels(dict[str, WaitingTimeModel]):
    """Laws of silences by context; one that has learnt nothing where there was none."""

    def __missing__(self, context: str) -> WaitingTimeModel:
        self[context] = law = (
            WaitingTimeModel(_NEVER, _IDLE_MEAN_S) if context in IDLE else WaitingTimeModel()
        )
        return law


class FrameGaps:
    """Gaps between the frames of one station.

    A gap opens at every frame sent, and at every useful frame received. It ends at the next such frame, or
    when the last reply is complete. Only a gap in which the radio was asked to rest is learnt from: frames
    of one burst do not wait. Its end is known as closely as the radio could see it:

    ========================================  ====================================
    event                                     interval
    ========================================  ====================================
    a frame received while awake              the last 4 ms
    a frame fetched at a beacon               the doze, since the last empty beacon
    its own packet, frames were held          the doze
    its own packet, nothing held              not before now
    the last reply is complete without data   not before now
    ========================================  ====================================

    Parameters
    ----------
    flows
        Told of every frame here; says whether a reply is awaited.
    split_s
        If the last two useful frames are less than so many seconds apart, an idle gap is a busy one.
    tell
        Called with the context of a gap, and after what time and by what time since it opened, in seconds,
        a frame came to the access point; ``inf`` if none had come.
    """

    def __init__(
        self, flows: OutstandingRequests, split_s: float, tell: Callable[[str, float, float], None]
    ) -> None:
        self._flows, self._split_s, self._tell = flows, split_s, tell
        self.opened_s, self.context = 0.0, "idle"
        self.number = 0
        self._asked = False
        self._lull_s = 0.0
        self._dozes_s = self._wakes_s = 0.0
        self._useful_s = (-inf, -inf)

    @property
    def is_idle(self) -> bool:
        """Whether no reply is awaited in this gap."""
        return self.context in IDLE

    def lull_s(self, now_s: float) -> float:
        """Return the seconds without any reply awaited since the last frame that nobody asked for."""
        return self._lull_s + (now_s - self.opened_s if self.is_idle else 0.0)

    def rests(self, dozes_s: float, wakes_s: float) -> None:
        """Take note that the radio will doze from *dozes_s* until the beacon at *wakes_s*, in seconds."""
        self._asked = True
        self._dozes_s, self._wakes_s = dozes_s, wakes_s

    def interrupted(self, poll: Poll) -> None:
        """Take note of a doze cut short: if frames were held, they came during the doze."""
        if poll.buffered_frames:
            self._close(self._dozes_s, self._dozes_s + poll.slept_ms / 1000)

    def sent(self, now_s: float, frame: Frame) -> None:
        """End the gap with a frame of the station's own, and open the next."""
        self._close(now_s, inf)
        self._flows.sent(frame)
        self._open(now_s, context_of(frame), is_useful(frame))

    def received(self, now_s: float, frame: Frame) -> None:
        """End the gap with a frame from the access point, if it is useful or completes the last reply."""
        waited = self._flows.waiting
        self._flows.received(frame)
        useful = is_useful(frame)
        if useful:
            self._close(*self._arrival(now_s))
        elif waited and not self._flows.waiting:
            self._close(now_s, inf)
        else:
            return
        self._open(now_s, "received", useful)

    def at(
        self, law: Callable[[str], WaitingTimeModel], times_s: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the probability that a frame has come by some times, and its integral.

        Parameters
        ----------
        law
            Gives the law of a context.
        times_s : ndarray, shape (n,)
            In seconds, the first one the earliest.
        """
        return law(self.context).at(np.maximum(times_s - self.opened_s, 0.0))

    def _arrival(self, now_s: float) -> tuple[float, float]:
        fetched = self._asked and now_s >= self._wakes_s
        return (self._dozes_s, self._wakes_s) if fetched else (now_s - ON_AIR_S, now_s)

    def _close(self, after_s: float, by_s: float) -> None:
        if self._asked:
            self._asked = False
            after_s, by_s = max(0.0, after_s - self.opened_s), max(0.0, by_s - self.opened_s)
            if self.is_idle:
                self._lull_s = self._lull_s + after_s if by_s == inf else 0.0
            self._tell(self.context, after_s, by_s)

    def _open(self, now_s: float, kind: str, useful: bool) -> None:
        if useful:
            self._useful_s = (self._useful_s[1], now_s)
        busy = self._useful_s[1] - self._useful_s[0] < self._split_s
        self.opened_s, self._asked = now_s, False
        self.context = kind if self._flows.waiting else "idle-busy" if busy else "idle"
        self.number += 1


def context_of(frame: Frame) -> str:
    """Return the context of a gap that a frame sent opens while its reply is awaited."""
    return "syn" if frame.syn else "request" if frame.payload else "ack"

"""Gaps between frames, as intervals from which a waiting-time model can learn."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.learning.waiting_time_model import WaitingTimeModel
from psm_sim.policies.base import Frame
from psm_sim.policies.helpers.outstanding_requests import OutstandingRequests, is_useful
from psm_sim.poll import Poll

CONTEXTS = ("syn", "request", "ack", "received", "idle", "idle-busy")
"""Contexts of a gap: the frame that opened it while a reply is awaited, else the traffic intensity."""

IDLE = ("idle", "idle-busy")
"""Contexts in which no reply is awaited."""

ON_AIR_S = 0.004
"""Maximum age of a frame that is received while awake: the air time of a full frame at 3 Mbit/s."""

_IDLE_ODDS, _IDLE_MEAN_S = 99.0, 600.0
"""Priors of the idle contexts.

They are the odds that no unsolicited frame arrives within a minute, and the mean time until one arrives, in
seconds. The other contexts use the priors of :class:`~psm_sim.learning.WaitingTimeModel`.
"""


class WaitingTimeModels(dict[str, WaitingTimeModel]):
    """Waiting-time models by context, created when first used."""

    def __missing__(self, context: str) -> WaitingTimeModel:
        self[context] = model = (
            WaitingTimeModel(_IDLE_ODDS, _IDLE_MEAN_S) if context in IDLE else WaitingTimeModel()
        )
        return model


class FrameGaps:
    """Gaps between the frames of one station.

    A gap opens at every frame sent and at every useful frame received. It ends at the next such frame, or
    when the last reply is complete. Only gaps in which the policy returned a rest are learnt from, because
    the frames of one burst do not wait. The arrival that ends a gap is known only up to an interval:

    =========================================  ========================================
    event                                      interval
    =========================================  ========================================
    frame received while awake                 the last 4 ms
    frame retrieved at a beacon                the doze, since the last empty beacon
    uplink packet, buffered frames retrieved   the doze
    uplink packet, no buffered frame           not before now
    last reply complete without data           not before now
    =========================================  ========================================

    Parameters
    ----------
    flows : OutstandingRequests
        Outstanding requests. It receives all frames of this object.
    split_s : float
        An idle gap has the context ``"idle-busy"`` if the last two useful frames were closer than this, in
        seconds.
    on_gap : callable
        Called at the end of a gap with its context and the bounds of the arrival, in seconds since the gap
        opened. The upper bound is ``inf`` if no frame has arrived.

    Attributes
    ----------
    opened_s : float
        Time at which the current gap opened, in seconds.
    context : str
        Context of the current gap, one of :data:`CONTEXTS`.
    number : int
        Number of gaps opened so far.
    """

    def __init__(
        self, flows: OutstandingRequests, split_s: float, on_gap: Callable[[str, float, float], None]
    ) -> None:
        self._flows, self._split_s, self._on_gap = flows, split_s, on_gap
        self.opened_s, self.context = 0.0, "idle"
        self.number = 0
        self._rested = False
        self._idle_s = 0.0
        self._dozes_s = self._wakes_s = 0.0
        self._useful_s = (-inf, -inf)

    @property
    def is_idle(self) -> bool:
        """Whether no reply is awaited in this gap."""
        return self.context in IDLE

    def idle_s(self, now_s: float) -> float:
        """Return the time without an awaited reply since the last unsolicited frame, in seconds."""
        return self._idle_s + (now_s - self.opened_s if self.is_idle else 0.0)

    def rests(self, dozes_s: float, wakes_s: float) -> None:
        """Handle a doze from *dozes_s* until the beacon at *wakes_s*, in seconds."""
        self._rested = True
        self._dozes_s, self._wakes_s = dozes_s, wakes_s

    def interrupted(self, poll: Poll) -> None:
        """Handle an interrupted doze. Buffered frames arrived during the doze."""
        if poll.buffered_frames:
            self._close(self._dozes_s, self._dozes_s + poll.slept_ms / 1000)

    def sent(self, now_s: float, frame: Frame) -> None:
        """End the gap with a frame sent at *now_s*, and open the next gap."""
        self._close(now_s, inf)
        self._flows.sent(frame)
        self._open(now_s, context_of(frame), is_useful(frame))

    def received(self, now_s: float, frame: Frame) -> None:
        """Handle a frame received at *now_s*.

        The gap ends if the frame is useful or completes the last reply.
        """
        was_waiting = self._flows.waiting
        self._flows.received(frame)
        useful = is_useful(frame)
        if useful:
            self._close(*self._arrival_interval(now_s))
        elif was_waiting and not self._flows.waiting:
            self._close(now_s, inf)
        else:
            return
        self._open(now_s, "received", useful)

    def at(
        self, model_of: Callable[[str], WaitingTimeModel], times_s: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the probability that a frame has arrived by each time, and its integral.

        Parameters
        ----------
        model_of : callable
            Returns the waiting-time model of a context.
        times_s : ndarray, shape (n,)
            Times in seconds; the first one is the earliest.

        Returns
        -------
        tuple of ndarray, shape (n,) each
            See :data:`~psm_sim.policies.helpers.doze_schedule.ArrivalModel`.
        """
        return model_of(self.context).at(np.maximum(times_s - self.opened_s, 0.0))

    def _arrival_interval(self, now_s: float) -> tuple[float, float]:
        was_buffered = self._rested and now_s >= self._wakes_s
        return (self._dozes_s, self._wakes_s) if was_buffered else (now_s - ON_AIR_S, now_s)

    def _close(self, after_s: float, by_s: float) -> None:
        if self._rested:
            self._rested = False
            after_s, by_s = max(0.0, after_s - self.opened_s), max(0.0, by_s - self.opened_s)
            if self.is_idle:
                self._idle_s = self._idle_s + after_s if by_s == inf else 0.0
            self._on_gap(self.context, after_s, by_s)

    def _open(self, now_s: float, reply_context: str, useful: bool) -> None:
        if useful:
            self._useful_s = (self._useful_s[1], now_s)
        busy = self._useful_s[1] - self._useful_s[0] < self._split_s
        self.opened_s, self._rested = now_s, False
        self.context = reply_context if self._flows.waiting else "idle-busy" if busy else "idle"
        self.number += 1


def context_of(frame: Frame) -> str:
    """Return the context of the gap that a frame sent opens while its reply is awaited."""
    return "syn" if frame.syn else "request" if frame.payload else "ack"

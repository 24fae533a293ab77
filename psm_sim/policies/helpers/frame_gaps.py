"""Gaps between frames. The waiting-time models learn from their lengths, which are known as intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import inf

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.learning.waiting_time_model import WaitingTimeModel
from psm_sim.policies.base import Frame
from psm_sim.policies.helpers.doze_schedule import ArrivalModel
from psm_sim.policies.helpers.outstanding_requests import OutstandingRequests, is_useful
from psm_sim.poll import Poll

CONTEXTS = ("syn", "request", "ack", "received", "asked", "idle")
"""Contexts of a gap.

While a connection waits, the context is the kind of the frame that opened the gap. Otherwise it is "asked" if
this frame was a datagram sent, else "idle".
"""

ASKED_S = 2.0
"""Time for which the reply to a datagram is awaited, in seconds.

It limits the computation. With 0.5 or 5 s, no energy changes by more than 0.4 %
(``benchmarks/anticipate_constants.py``, as for the other constants).
"""

ON_AIR_S = 0.004
"""Maximum age of a frame that is received while awake: the air time of a full frame at 3 Mbit/s.

With 20 ms, ``ping`` on the nRF7002 needs 26 % more energy.
"""

_STEPS_S: FloatArray = np.concatenate((np.arange(0.0, 0.4, 0.005), np.arange(0.4, 30.0, 0.025)))
"""Additional integration times of :func:`first_event_model`, in seconds after the first time."""
_MIN_PROBABILITY = 1e-12
"""Lower limit of the probability that an event is still pending, to avoid a division by 0."""

_IDLE_ODDS, _IDLE_MEAN_S = 99.0, 600.0
"""Priors of the idle context.

The first is the odds that no unsolicited frame arrives within a minute, the second the mean time until one
arrives, in seconds. The other contexts use the priors of :class:`~psm_sim.learning.WaitingTimeModel`. If the
idle context also used their odds, ``mqtt`` on the nRF7002 would need 13 % more energy at a price of 10.
"""


class WaitingTimeModels(dict[str, WaitingTimeModel]):
    """Waiting-time models by context, created when first used."""

    def __missing__(self, context: str) -> WaitingTimeModel:
        self[context] = model = (
            WaitingTimeModel(_IDLE_ODDS, _IDLE_MEAN_S) if context == "idle" else WaitingTimeModel()
        )
        return model


@dataclass
class Gap:
    """Gap of one connection, or of the station while no connection waits.

    Attributes
    ----------
    opened_s : float
        Time at which the gap opened, in seconds.
    context : str
        Context of the gap, one of :data:`CONTEXTS`.
    rested : bool
        Whether the policy has returned a :class:`Rest` since the gap opened.
    """

    opened_s: float
    context: str
    rested: bool = False


class FrameGaps:
    """Gaps between the frames of one station, separately for each connection that waits for a reply.

    A connection's gap opens at each of its frames. The gap ends at the connection's next frame, except a
    received pure ACK, or when the reply is complete. While no connection waits there is a single gap, the
    idle gap. The idle gap ends at every frame sent and at every useful frame received. A datagram sent may be
    a question, so the gap after it has a context of its own.

    The models learn only from gaps in which the policy returned a rest, because the frames of one burst do
    not wait. The arrival that ends a gap is known only up to an interval:

    =========================================  ========================================
    event                                      interval
    =========================================  ========================================
    frame received while awake                 the last 4 ms
    frame retrieved at a beacon                the doze, since the last empty beacon
    uplink packet, buffered frames retrieved   the doze
    uplink packet, no buffered frame           not before now
    reply complete without data                not before now
    =========================================  ========================================

    The first frame received after a wake-up is assumed to have been buffered, and so is each frame that
    follows a buffered one within 4 ms.

    Parameters
    ----------
    flows : OutstandingRequests
        Outstanding requests. This object updates them with each frame.
    on_gap : callable
        Called as ``on_gap(context, after_s, by_s)`` at the end of a gap if ``rested`` is true. A frame
        arrived from ``after_s`` to ``by_s`` seconds after the gap opened. If no frame arrived, ``by_s`` is
        ``inf``.

    Attributes
    ----------
    idle : Gap
        The idle gap. It is valid only while no connection waits.
    waiting : dict of int to Gap
        Gaps of the connections that wait for a reply, by number.
    number : int
        Number of idle gaps opened so far.
    """

    def __init__(self, flows: OutstandingRequests, on_gap: Callable[[str, float, float], None]) -> None:
        self._flows, self._on_gap = flows, on_gap
        self.idle, self.waiting, self.number = Gap(0.0, "idle"), dict[int, Gap](), 0
        self._idle_s = 0.0
        self._doze_s, self._burst_s = (0.0, inf), inf

    def idle_s(self, now_s: float) -> float:
        """Return the idle time since the last unsolicited frame, in seconds.

        The time during which a connection waits for a reply is not counted. Call this only if no connection
        waits at *now_s*.
        """
        return self._idle_s + now_s - self.idle.opened_s

    def asks(self, now_s: float) -> bool:
        """Return whether the station awaits the reply to a datagram at *now_s*."""
        return self.idle.context == "asked" and now_s - self.idle.opened_s < ASKED_S

    def rests(self, dozes_s: float, wakes_s: float) -> None:
        """Handle the decision to doze from *dozes_s* until the beacon at *wakes_s*, in seconds."""
        self._doze_s, self._burst_s = (dozes_s, wakes_s), inf
        for gap in self._open_gaps:
            gap.rested = True

    def interrupted(self, poll: Poll) -> None:
        """Handle an interrupted doze. Frames buffered during the doze are received after this call."""
        dozes_s, woke_s = self._doze_s[0], self._doze_s[0] + poll.slept_ms / 1000
        if poll.buffered_frames and not self.waiting:
            self._end_idle(dozes_s, woke_s)
        self._doze_s, self._burst_s = (dozes_s, woke_s if poll.buffered_frames else inf), inf

    def sent(self, now_s: float, frame: Frame) -> None:
        """Handle a frame sent: end the gap of its connection, and open a new gap if the connection waits."""
        if not self.waiting:
            self._end_idle(now_s, inf)
        self._flows.sent(frame)
        self._replace(frame.flow, now_s, inf, Gap(now_s, context_of(frame)))
        self._open_idle(now_s, "asked" if frame.flow < 0 and frame.payload else "idle")

    def received(self, now_s: float, frame: Frame) -> None:
        """Handle a frame received at *now_s*.

        The gap of its connection ends if the frame is useful or completes the reply.
        """
        useful, was_waiting = is_useful(frame), bool(self.waiting)
        arrival_s = self._arrival_interval(now_s) if useful else (now_s, inf)
        if useful and not was_waiting:
            self._end_idle(*arrival_s)
        self._flows.received(frame)
        if useful or not self._flows.waits(frame.flow):
            self._replace(frame.flow, *arrival_s, Gap(now_s, "received"))
        if useful or (was_waiting and not self.waiting):
            self._open_idle(now_s, "idle")

    def at(
        self, models: Mapping[str, WaitingTimeModel], times_s: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the distribution of the time at which the first of the open gaps ends.

        ``times_s[0]`` must be the minimum. See :data:`~psm_sim.policies.helpers.doze_schedule.ArrivalModel`
        for the two arrays.
        """
        events = [(models[gap.context].at, gap.opened_s) for gap in self._open_gaps]
        if len(events) > 1:
            return first_event_model(events, times_s)
        model, opened_s = events[0]
        return model(np.maximum(times_s - opened_s, 0.0))

    @property
    def _open_gaps(self) -> Iterable[Gap]:
        return self.waiting.values() or (self.idle,)

    def _arrival_interval(self, now_s: float) -> tuple[float, float]:
        """Return the interval in which a frame received at *now_s* arrived at the access point."""
        if self._doze_s[1] <= now_s <= self._burst_s + ON_AIR_S:
            self._burst_s = now_s
            return self._doze_s
        return now_s - ON_AIR_S, now_s

    def _replace(self, flow: int, after_s: float, by_s: float, gap: Gap) -> None:
        """End the gap of a connection, and open the next *gap* if the connection waits."""
        ended = self.waiting.pop(flow, None)
        if ended is not None:
            self._end(ended, after_s, by_s)
        if self._flows.waits(flow):
            self.waiting[flow] = gap

    def _end(self, gap: Gap, after_s: float, by_s: float) -> None:
        if gap.rested:
            self._on_gap(gap.context, max(0.0, after_s - gap.opened_s), max(0.0, by_s - gap.opened_s))

    def _end_idle(self, after_s: float, by_s: float) -> None:
        gap = self.idle
        if gap.rested:
            self._idle_s = self._idle_s + max(0.0, after_s - gap.opened_s) if by_s == inf else 0.0
        self._end(gap, after_s, by_s)
        gap.rested = False

    def _open_idle(self, now_s: float, context: str) -> None:
        self.idle = Gap(now_s, context)
        self.number += 1


def context_of(frame: Frame) -> str:
    """Return the context of the gap that opens when a connection sends *frame*."""
    return "syn" if frame.syn else "request" if frame.payload else "ack"


def first_event_model(
    models: Iterable[tuple[ArrivalModel, float]], times_s: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the distribution of the first of several independent events.

    Parameters
    ----------
    models : iterable of (callable, float)
        For each event, the distribution of its waiting time, and the time in seconds at which the wait
        begins.
    times_s : ndarray, shape (n,)
        Times in seconds. The model assumes no event before ``times_s[0]``, which must be the minimum.

    Returns
    -------
    tuple of ndarray, shape (n,) each
        Probability that an event has occurred, and its integral from the first time on by the trapezoidal
        rule.
    """
    first_s, last_s = times_s[0], times_s.max()
    steps_s = first_s + _STEPS_S
    grid_s = np.unique(np.concatenate((times_s, steps_s[steps_s < last_s])))
    pending = np.ones_like(grid_s)
    for model, opened_s in models:
        occurred, _ = model(np.maximum(grid_s - opened_s, 0.0))
        pending *= (1.0 - occurred) / max(1.0 - float(occurred[0]), _MIN_PROBABILITY)
    occurred = 1.0 - np.minimum(pending, 1.0)
    integral = np.concatenate(([0.0], np.cumsum(np.diff(grid_s) * (occurred[1:] + occurred[:-1]) / 2)))
    index = np.searchsorted(grid_s, times_s)
    return occurred[index], integral[index]

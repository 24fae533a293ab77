"""Gaps between the frames of each connection that waits for a reply."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.learning.waiting_time_model import WaitingTimeModel
from psm_sim.policies.base import Frame
from psm_sim.policies.helpers.doze_schedule import ArrivalModel
from psm_sim.policies.helpers.frame_gaps import ON_AIR_S, FrameGaps, context_of
from psm_sim.policies.helpers.outstanding_requests import OutstandingRequests, is_useful
from psm_sim.poll import Poll

_STEPS_S: FloatArray = np.concatenate((np.arange(0.0, 0.4, 0.005), np.arange(0.4, 30.0, 0.025)))
"""Additional integration times of :func:`first_event_model`, in seconds after the first time."""
_MIN_PROBABILITY = 1e-12
"""Lower limit of the probability that an event is still pending, to avoid a division by 0."""


@dataclass
class FlowGap:
    """Gap of one connection.

    Attributes
    ----------
    opened_s : float
        Time at which the gap opened, in seconds.
    context : str
        Context of the gap.
    rested : bool
        Whether the policy returned a rest in the gap.
    """

    opened_s: float
    context: str
    rested: bool = False


class FlowGaps(FrameGaps):
    """Separate gaps of all connections that wait for a reply, in :attr:`waiting` by number.

    A connection's gap opens at each of its frames. It ends at the next one, or when its reply is complete
    (see :class:`~psm_sim.policies.helpers.frame_gaps.FrameGaps`). Frames of other connections do not end it.
    The first frame after a wake-up was buffered, as were the frames that follow within 4 ms of each other.
    While no connection waits there is a single gap.

    Parameters
    ----------
    flows, split_s, on_gap
        See :class:`~psm_sim.policies.helpers.frame_gaps.FrameGaps`.
    """

    def __init__(
        self, flows: OutstandingRequests, split_s: float, on_gap: Callable[[str, float, float], None]
    ) -> None:
        super().__init__(flows, split_s, on_gap)
        self.waiting: dict[int, FlowGap] = {}
        self._doze_s, self._burst_s = (0.0, inf), inf

    def rests(self, dozes_s: float, wakes_s: float) -> None:
        """Handle a doze from *dozes_s* until the beacon at *wakes_s*, in seconds."""
        super().rests(dozes_s, wakes_s)
        self._doze_s, self._burst_s = (dozes_s, wakes_s), inf
        for gap in self.waiting.values():
            gap.rested = True

    def interrupted(self, poll: Poll) -> None:
        """Handle an interrupted doze. Buffered frames are received next."""
        super().interrupted(poll)
        woke_s = self._dozes_s + poll.slept_ms / 1000
        self._doze_s, self._burst_s = (self._dozes_s, woke_s if poll.buffered_frames else inf), inf

    def sent(self, now_s: float, frame: Frame) -> None:
        """End the gap of the frame's connection, and open the next one if it waits."""
        self._end(frame.flow, now_s, inf)
        super().sent(now_s, frame)
        self._begin(frame.flow, now_s, context_of(frame))

    def received(self, now_s: float, frame: Frame) -> None:
        """End the gap of the frame's connection if the frame is useful or completes the reply."""
        useful = is_useful(frame)
        interval_s = self._arrival_interval_of_flow(now_s) if useful else (now_s, inf)
        super().received(now_s, frame)
        if useful or not self._flows.waits(frame.flow):
            self._end(frame.flow, *interval_s)
            self._begin(frame.flow, now_s, "received")

    def at(
        self, model_of: Callable[[str], WaitingTimeModel], times_s: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the distribution of the first frame of any connection.

        Arguments as for :meth:`FrameGaps.at`.
        """
        if not self.waiting:
            return super().at(model_of, times_s)
        models = [(model_of(gap.context).at, gap.opened_s) for gap in self.waiting.values()]
        if len(models) > 1:
            return first_event_model(models, times_s)
        return models[0][0](np.maximum(times_s - models[0][1], 0.0))

    def _arrival_interval_of_flow(self, now_s: float) -> tuple[float, float]:
        """Return the interval in which a frame received at *now_s* arrived at the access point."""
        if self._doze_s[1] <= now_s <= self._burst_s + ON_AIR_S:
            self._burst_s = now_s
            return self._doze_s
        return now_s - ON_AIR_S, now_s

    def _close(self, after_s: float, by_s: float) -> None:
        """End the single gap, which counts only while no connection waits."""
        self._rested = self._rested and self.is_idle
        super()._close(after_s, by_s)

    def _begin(self, flow: int, now_s: float, context: str) -> None:
        if self._flows.waits(flow):
            self.waiting[flow] = FlowGap(now_s, context)

    def _end(self, flow: int, after_s: float, by_s: float) -> None:
        gap = self.waiting.pop(flow, None)
        if gap is not None and gap.rested:
            self._on_gap(gap.context, max(0.0, after_s - gap.opened_s), max(0.0, by_s - gap.opened_s))


def first_event_model(
    models: Iterable[tuple[ArrivalModel, float]], times_s: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the distribution of the first of several independent events.

    Parameters
    ----------
    models : iterable of (callable, float)
        Distribution of each event, and the time in seconds at which its waiting began.
    times_s : ndarray, shape (n,)
        Times in seconds; the first one is the earliest. No event has occurred before it.

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

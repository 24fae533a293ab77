"""Gaps of each connection: how long every one that waits has waited, and one gap for all while none does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.learning.waiting_time import WaitingTimeModel
from psm_sim.policies.base import Frame
from psm_sim.policies.frame_gaps import ON_AIR_S, FrameGaps, context_of
from psm_sim.policies.optimal_rest import Law
from psm_sim.policies.outstanding_requests import OutstandingRequests, is_useful
from psm_sim.poll import Poll

_STEPS_S: FloatArray = np.concatenate((np.arange(0.0, 0.4, 0.005), np.arange(0.4, 30.0, 0.025)))
"""Steps at which the law of the first of several frames is integrated, besides the times asked for."""
_MIN_PROBABILITY = 1e-12
"""Probability that an event has not come yet below which its law tells no more."""


@dataclass
class FlowGap:
    """Gap of one connection: opened when, in seconds, in what context, and whether the radio rested in it."""

    opened_s: float
    context: str
    asked: bool = False


class FlowGaps(FrameGaps):
    """Gaps of each connection that waits for a reply; :attr:`waiting` has them by number.

    A connection's gap opens at each of its frames and ends at the next one, or when its reply is complete, as
    in :class:`~psm_sim.policies.frame_gaps.FrameGaps`; frames of other connections do not end it. The first
    frame after the radio woke was held, as were those that follow within 4 ms of each other. While no
    connection waits there is one gap.
    """

    def __init__(
        self, flows: OutstandingRequests, split_s: float, tell: Callable[[str, float, float], None]
    ) -> None:
        super().__init__(flows, split_s, tell)
        self.waiting: dict[int, FlowGap] = {}
        self._doze_s, self._burst_s = (0.0, inf), inf

    def rests(self, dozes_s: float, wakes_s: float) -> None:
        """Take note that the radio will doze from *dozes_s* until the beacon at *wakes_s*, in seconds."""
        super().rests(dozes_s, wakes_s)
        self._doze_s, self._burst_s = (dozes_s, wakes_s), inf
        for gap in self.waiting.values():
            gap.asked = True

    def interrupted(self, poll: Poll) -> None:
        """Take note of a doze cut short: what was held comes now."""
        super().interrupted(poll)
        woke_s = self._dozes_s + poll.slept_ms / 1000
        self._doze_s, self._burst_s = (self._dozes_s, woke_s if poll.buffered_frames else inf), inf

    def sent(self, now_s: float, frame: Frame) -> None:
        """End the gap of a connection with a frame sent, and open the next if it waits."""
        self._end(frame.flow, now_s, inf)
        super().sent(now_s, frame)
        self._begin(frame.flow, now_s, context_of(frame))

    def received(self, now_s: float, frame: Frame) -> None:
        """End the gap of a connection with a useful frame, or if its reply is complete."""
        useful = is_useful(frame)
        came_s = self._came(now_s) if useful else (now_s, inf)
        super().received(now_s, frame)
        if useful or not self._flows.waits(frame.flow):
            self._end(frame.flow, *came_s)
            self._begin(frame.flow, now_s, "received")

    def at(
        self, law: Callable[[str], WaitingTimeModel], times_s: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the law of the first frame of any connection; *law* and *times_s* as for all gaps."""
        if not self.waiting:
            return super().at(law, times_s)
        laws = [(law(gap.context).at, gap.opened_s) for gap in self.waiting.values()]
        if len(laws) > 1:
            return first_event_model(laws, times_s)
        return laws[0][0](np.maximum(times_s - laws[0][1], 0.0))

    def _came(self, now_s: float) -> tuple[float, float]:
        """Return between what times a frame that is received now came to the access point."""
        if self._doze_s[1] <= now_s <= self._burst_s + ON_AIR_S:
            self._burst_s = now_s
            return self._doze_s
        return now_s - ON_AIR_S, now_s

    def _close(self, after_s: float, by_s: float) -> None:
        """End the one gap, which counts while no connection waits."""
        self._asked = self._asked and self.is_idle
        super()._close(after_s, by_s)

    def _begin(self, flow: int, now_s: float, kind: str) -> None:
        if self._flows.waits(flow):
            self.waiting[flow] = FlowGap(now_s, kind)

    def _end(self, flow: int, after_s: float, by_s: float) -> None:
        gap = self.waiting.pop(flow, None)
        if gap is not None and gap.asked:
            self._tell(gap.context, max(0.0, after_s - gap.opened_s), max(0.0, by_s - gap.opened_s))


def first_event_model(
    laws: Iterable[tuple[Law, float]], times_s: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the law of the first of several events that do not depend on each other.

    Parameters
    ----------
    laws : iterable of (callable, float)
        The waiting law of each, and when its waiting began, in seconds.
    times_s : ndarray, shape (n,)
        Times in seconds, the earliest one first. Until then none has come, whatever the laws say.

    Returns
    -------
    tuple of ndarray, shape (n,) each
        The probability that one has come, and its integral from the first time on, by trapezoids.
    """
    first_s, last_s = times_s[0], times_s.max()
    steps_s = first_s + _STEPS_S
    grid_s = np.unique(np.concatenate((times_s, steps_s[steps_s < last_s])))
    still = np.ones_like(grid_s)
    for law, opened_s in laws:
        risen, _ = law(np.maximum(grid_s - opened_s, 0.0))
        still *= (1.0 - risen) / max(1.0 - float(risen[0]), _MIN_PROBABILITY)
    risen = 1.0 - np.minimum(still, 1.0)
    area = np.concatenate(([0.0], np.cumsum(np.diff(grid_s) * (risen[1:] + risen[:-1]) / 2)))
    place = np.searchsorted(grid_s, times_s)
    return risen[place], area[place]

"""Estimates of the delay that each polling time would have added to a page."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from psm_sim.beacons import Beacons
from psm_sim.common.array_types import FloatArray
from psm_sim.policies.base import Frame
from psm_sim.policies.helpers.delay_control import MIN_LOAD_S, PAUSE_S
from psm_sim.policies.helpers.outstanding_requests import OutstandingRequests, is_useful
from psm_sim.poll import Poll

_ROUNDING = 1e-9
"""Share of a polling time by which an arrival may miss its beacon through rounding."""


class ActivityPeriod(NamedTuple):
    """Period of activity and the idle time after it.

    Attributes
    ----------
    waiting : Poll
        Time slept while a connection waited, and all retrieved frames, without arrival times.
    idle_ms : float
        Time slept while no connection waited, in ms.
    delays_ms : ndarray, shape (n,)
        Delay that each polling time would have added, in ms.
    elapsed_ms : float
        Estimated time of the period without power saving, in ms.
    """

    waiting: Poll
    idle_ms: float
    delays_ms: FloatArray
    elapsed_ms: float


class PageDelays:
    """Estimator of the delay that each polling time would have added to a page.

    A driver does not see pages. A period of activity counts as a page. It begins with a request while no
    connection waits, and its last useful frame precedes a pause of 0.3 s.

    When a connection has sent a frame and the radio has then dozed, the connection's next useful frame
    received is its reply. After a poll at beacon b, a station with polling time T wakes at b + T, b + 2 T and
    so on. After any other uplink packet it wakes at the next beacon B, and then at B + T, B + 2 T and so on.
    The reply waits until the first of these beacons. The estimate assumes that the time from b or B to the
    reply's arrival is the same for every T, because every exchange but the first begins at a beacon. A
    buffered reply waits at most until an uplink packet that interrupts the doze. The wait of a reply is
    divided by the number of waiting connections, because parallel connections share a delay.
    """

    def __init__(self, times_ms: FloatArray, beacons: Beacons) -> None:
        self._times_s: FloatArray = times_ms / 1000
        self._beacons = beacons
        self._flows = OutstandingRequests()
        self._sent: set[int] = set()  # connections that have sent since the last rest
        self._starts_s: dict[int, float] = {}  # b or B of each connection whose reply has not arrived
        self._received: list[tuple[float, int, int]] = []  # since the last rest: time, connection, waiting
        self._interrupted: Poll | None = None
        self._rest_s, self._wake_s = 0.0, 0.0
        self._begin_s = self._last_s = -inf
        self._start_page()

    def _start_page(self) -> None:
        self._waiting_s, self._idle_s, self._bytes, self._frames = 0.0, 0.0, 0, 0
        self._delays_s: FloatArray = np.zeros(self._times_s.size)
        self._added_s = 0.0

    def sent(self, now_s: float, frame: Frame) -> ActivityPeriod | None:
        """Handle a *frame* sent at *now_s*, in seconds. Return the previous page if it begins a new one."""
        self._wake(now_s)
        waited = self._flows.waiting > 0
        self._flows.sent(frame)
        if frame.flow >= 0:
            self._sent.add(frame.flow)
        return self._page_before(now_s, waited) if is_useful(frame) else None

    def received(self, now_s: float, frame: Frame) -> None:
        """Handle a *frame* received at *now_s*, in seconds."""
        self._wake(self._beacons.time(self._beacons.after(now_s) - 1))
        if frame.group:
            return
        waiting = self._flows.waiting
        self._flows.received(frame)
        if is_useful(frame):
            self._page_before(now_s, waiting > 0)
        self._received.append((now_s, frame.flow if is_useful(frame) else -1, max(1, waiting)))

    def interrupted(self, poll: Poll) -> None:
        """Handle an interrupted doze."""
        self._interrupted = poll

    def rest(self, now_s: float, poll: Poll | None) -> None:
        """Handle a sleep decision at *now_s*, in seconds, after the observation *poll*."""
        self._wake(now_s)
        self._add_delays(poll or self._interrupted, self._wake_s if poll is None else inf)
        start_s = self._beacons.time(self._beacons.after(now_s) - (poll is not None))
        self._starts_s.update(dict.fromkeys(self._sent, start_s))
        self._sent.clear()
        self._received.clear()
        self._interrupted, self._rest_s, self._wake_s = None, now_s, inf

    def _wake(self, time_s: float) -> None:
        if self._wake_s == inf:
            self._wake_s = max(time_s, self._rest_s)
            if self._flows.waiting:
                self._waiting_s += self._wake_s - self._rest_s
            else:
                self._idle_s += self._wake_s - self._rest_s

    def _page_before(self, now_s: float, waited: bool) -> ActivityPeriod | None:
        """Handle a useful frame. Return the previous page if the frame begins a new one."""
        if waited or now_s - self._last_s <= PAUSE_S:
            self._last_s = now_s
            return None
        if not self._flows.waiting:
            return None
        took_s = self._last_s - self._begin_s
        page = None
        if self._begin_s > -inf:
            elapsed_s = max(took_s - self._added_s, MIN_LOAD_S)
            waiting = Poll(1000 * self._waiting_s, self._bytes, self._frames)
            page = ActivityPeriod(waiting, 1000 * self._idle_s, 1000 * self._delays_s, 1000 * elapsed_s)
            self._start_page()
        self._begin_s = self._last_s = now_s
        return page

    def _add_delays(self, poll: Poll | None, until_s: float) -> None:
        """Add the delays of the replies since the last decision.

        The wait of a buffered reply ends at *until_s* at the latest.
        """
        arrivals_s: list[float] = []
        if poll is not None:
            doze_s = self._wake_s - poll.slept_ms / 1000
            arrivals_s = [doze_s + offset_ms / 1000 for offset_ms, _ in poll.arrivals]
            self._bytes += poll.buffered_bytes
            self._frames += poll.buffered_frames
        for number, (received_s, flow, waiting) in enumerate(self._received):
            start_s = self._starts_s.pop(flow, None)
            if start_s is None:
                continue
            # Frames are received in the order of their arrival, the buffered ones first.
            is_buffered = number < len(arrivals_s)
            arrived_s = arrivals_s[number] if is_buffered else received_s
            polls = np.ceil((arrived_s - start_s) / self._times_s - _ROUNDING)
            wakes_s = start_s + np.maximum(polls, 0) * self._times_s
            if is_buffered:
                wakes_s = np.minimum(wakes_s, until_s)
                self._added_s += max(0.0, self._wake_s - arrived_s) / waiting
            self._delays_s += np.maximum(wakes_s - arrived_s, 0) / waiting

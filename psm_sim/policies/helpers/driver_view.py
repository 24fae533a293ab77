"""Base class of policies that observe a vector of numbers, all of which a driver knows."""

from __future__ import annotations

from typing import NamedTuple

from psm_sim.policies.base import Frame, Policy
from psm_sim.policies.helpers.outstanding_requests import OutstandingRequests, is_useful
from psm_sim.poll import Poll


class ObservationComponent(NamedTuple):
    """Component of an observation.

    Attributes
    ----------
    name : str
        Name. The names of times end with the unit, such as ``since_sent_s``.
    high : float
        Maximum, to which the environment clips the value. The minimum is 0.
    description : str
        Meaning.
    """

    name: str
    high: float
    description: str


AWAKE_MS = (0.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0)
"""Times awake among which an action of the environment chooses, in ms."""

MAX_BEACONS = 12
"""Longest doze of an action of the environment, in beacons."""

_MAX_S = 3600.0  # one hour; a longer time has the same meaning

OBSERVATION = (
    ObservationComponent(
        "since_sent_s", _MAX_S, "time since the last frame was sent, or since the start of the run"
    ),
    ObservationComponent(
        "since_request_s", _MAX_S, "time since the last SYN or payload was sent, or since the start"
    ),
    ObservationComponent(
        "since_received_s", _MAX_S, "time since the last frame was received, or since the start"
    ),
    ObservationComponent("to_beacon_s", _MAX_S, "time until the next beacon"),
    ObservationComponent("waiting", 1000.0, "number of TCP connections that wait for a reply"),
    ObservationComponent("beacon", 1.0, "1 if the radio has woken up for a beacon, else 0"),
    ObservationComponent(
        "slept_s", _MAX_S, "length of the doze that ended since the last decision; 0 if none ended"
    ),
    ObservationComponent("buffered_frames", 1e5, "frames that were buffered at the end of this doze"),
    ObservationComponent("buffered_bytes", 1e8, "bytes that were buffered at the end of this doze"),
    ObservationComponent("sent_frames", 1e5, "frames sent since the last decision"),
    ObservationComponent("received_frames", 1e5, "frames received since the last decision"),
    ObservationComponent("received_bytes", 1e8, "bytes received since the last decision"),
)
"""Components of :meth:`ObservingPolicy.observe`, in order."""


class ObservingPolicy(Policy):
    """Policy that records the frames that a driver sees, their headers, and its dozes.

    Group addressed frames are ignored, because they do not answer any frame of the station.
    """

    def start(self, beacon_s: float) -> None:
        """Start without any observation."""
        super().start(beacon_s)
        self._requests = OutstandingRequests()
        self._sent_s = self._request_s = self._received_s = 0.0
        self._sent_frames = self._received_frames = self._received_bytes = 0
        self._interrupted: Poll | None = None

    def sent(self, now_s: float, frame: Frame) -> None:
        """Handle a frame sent."""
        self._sent_s = now_s
        self._sent_frames += 1
        if is_useful(frame):
            self._request_s = now_s
        self._requests.sent(frame)

    def received(self, now_s: float, frame: Frame) -> None:
        """Handle a frame received."""
        if frame.group:
            return
        self._received_s = now_s
        self._received_frames += 1
        self._received_bytes += frame.bytes
        self._requests.received(frame)

    def interrupted(self, poll: Poll) -> None:
        """Handle a doze that an uplink packet interrupted."""
        self._interrupted = poll

    def observe(self, now_s: float, poll: Poll | None) -> list[float]:
        """Return the values of :data:`OBSERVATION`, and reset the counts since the last decision."""
        beacons, doze = self.beacon_grid, poll or self._interrupted
        values = [
            now_s - self._sent_s,
            now_s - self._request_s,
            now_s - self._received_s,
            beacons.time(beacons.after(now_s)) - now_s,
            self._requests.waiting,
            0.0 if poll is None else 1.0,
            *((doze.slept_ms / 1000, doze.buffered_frames, doze.buffered_bytes) if doze else (0.0, 0.0, 0.0)),
            self._sent_frames,
            self._received_frames,
            self._received_bytes,
        ]
        self._sent_frames = self._received_frames = self._received_bytes = 0
        self._interrupted = None
        return values

"""Port of the access point, which sends or buffers the frames for one station."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from typing import Any

from simpy import Environment

from psm_sim.network.link import Link
from psm_sim.network.segment import BufferedFrame, Segment
from psm_sim.network.topology_sections import AccessPointParameters


class Port:
    """Queue of the access point for one station, and the station's TIM bit.

    Frames for an awake station are forwarded at once. Frames for a dozing station are buffered in order. The
    capacity limits the total number of frames that are buffered or in transmission. A frame beyond the
    capacity is dropped.

    Attributes
    ----------
    downlink : Link
        Link to the station.
    radio : Radio
        Radio of the station; must be set before the first frame arrives.
    on_buffered : sequence of callables
        Called with the arguments of :meth:`Observer.buffered <psm_sim.network.observers.Observer.buffered>`.
    dropped_frames, dropped_bytes : int
        Numbers of frames and bytes dropped so far; the bytes include headers.
    """

    def __init__(self, env: Environment, parameters: AccessPointParameters, downlink: Link) -> None:
        self._env, self.downlink = env, downlink
        self._flying: Sized = downlink.flying
        self._capacity = parameters.buffer_frames
        self.release_on_uplink = parameters.release_on_uplink
        self.late_frames_wait = parameters.late_frames == "wait"
        self._last: Segment  # last segment sent to the station
        self._buffered: list[BufferedFrame] = []
        self.radio: Any
        self.on_buffered: Sequence[Callable[[float, int, int], None]] = ()
        self.dropped_frames = 0
        self.dropped_bytes = 0

    @property
    def tim_bit(self) -> bool:
        """Whether the station's bit in the traffic indication map (TIM) is set: frames are buffered."""
        return bool(self._buffered)

    @property
    def buffered_bytes(self) -> int:
        """Number of buffered bytes, including headers."""
        return sum(segment.wire_bytes for _, segment in self._buffered)

    def forward(self, segment: Segment) -> None:
        """Forward, buffer or drop one frame for the station."""
        if len(self._buffered) + len(self._flying) >= self._capacity:
            self._drop(segment)
        elif self.radio.offer():
            self._last = segment
            self.downlink.send(segment)
        else:
            self._buffer(segment)

    def release(self) -> list[BufferedFrame]:
        """Send all buffered frames to the station and return them. PS-Polls are not simulated."""
        buffered, self._buffered = self._buffered, []
        if buffered:
            if self.on_buffered:
                self._notify(self._env.now, len(buffered))
            for _, segment in buffered:
                self.downlink.send(segment)
            self._last = buffered[-1][1]
        return buffered

    @property
    def sending_last_frame(self) -> bool:
        """Whether the transmission of the last queued frame has begun (More Data = 0)."""
        return self._env.now >= self.downlink.free_at - self.downlink.air_time_s(self._last)

    def _buffer(self, segment: Segment) -> None:
        buffered, now_s = self._buffered, self._env.now
        buffered.append((now_s, segment))
        if self.on_buffered:
            self._notify(now_s)
        if len(buffered) == 1:
            self.radio.announced()

    def _drop(self, segment: Segment) -> None:
        self.dropped_frames += 1
        self.dropped_bytes += segment.wire_bytes

    def _notify(self, time_s: float, retrieved: int = 0) -> None:
        for callback in self.on_buffered:
            callback(time_s, len(self._buffered), retrieved)

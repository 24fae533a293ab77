"""Access point: forwards frames, and holds those for dozing stations."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from typing import Protocol

from simpy import Environment

from psm_sim.network.link import Link
from psm_sim.network.segment import BufferedFrame, Segment
from psm_sim.network.topology_sections import AccessPointParameters


class PortListener(Protocol):
    """Listener of a port: what the port asks, and tells, its station's radio."""

    def offer(self) -> bool:
        """Say whether the radio takes a frame at once; if so it waits awake for it."""

    def announced(self) -> None:
        """Take note that from now on the TIM names the station."""


class Port:
    """Port of one station at the access point: its bounded queue, and its bit of the TIM.

    Frames for a listening station pass at once, those for a dozing one are held in order. The queue, held
    frames and those not yet delivered, is bounded; a frame that finds it full is dropped. ``dropped_bytes``
    counts them, headers included. ``radio`` must be set before the first frame comes. ``on_buffered`` are
    called as :class:`~psm_sim.network.observers.Observer` says of ``held``.
    """

    def __init__(self, env: Environment, parameters: AccessPointParameters, downlink: Link) -> None:
        self._env, self._downlink = env, downlink
        self._flying: Sized = downlink.flying
        self._capacity = parameters.buffer_frames
        self.release_on_uplink = parameters.release_on_uplink
        self.late_frames_wait = parameters.late_frames == "wait"
        self._last: Segment  # sent to the station
        self._buffered: list[BufferedFrame] = []
        self.radio: PortListener
        self.on_buffered: Sequence[Callable[[float, int, int], None]] = ()
        self.dropped_frames = 0
        self.dropped_bytes = 0

    @property
    def tim_bit(self) -> bool:
        """Whether the beacon's traffic indication map (TIM) names the station: frames are held for it."""
        return bool(self._buffered)

    @property
    def buffered_bytes(self) -> int:
        """Bytes held, headers included."""
        return sum(segment.wire_bytes for _, segment in self._buffered)

    def forward(self, segment: Segment) -> None:
        """Take one frame for the station: drop it, pass it on, or hold it."""
        if len(self._buffered) + len(self._flying) >= self._capacity:
            self.dropped_frames += 1
            self.dropped_bytes += segment.wire_bytes
        elif self.radio.offer():
            self._last = segment
            self._downlink.send(segment)
        else:
            self._buffer(segment)

    def release(self) -> list[BufferedFrame]:
        """Send all that is held, as PS-Polls fetch it, and return it."""
        buffered, self._buffered = self._buffered, []
        if buffered:
            if self.on_buffered:
                self._notify(self._env.now, len(buffered))
            self._downlink.send_all(buffered)
            self._last = buffered[-1][1]
        return buffered

    @property
    def sending_last_frame(self) -> bool:
        """Whether no frame for the station waits behind one on the air, which said More Data = 0."""
        return self._env.now >= self._downlink.free_at - self._downlink.air_time_s(self._last)

    def _buffer(self, segment: Segment) -> None:
        buffered, now_s = self._buffered, self._env.now
        buffered.append((now_s, segment))
        if self.on_buffered:
            self._notify(now_s)
        if len(buffered) == 1:
            self.radio.announced()

    def _notify(self, time_s: float, retrieved: int = 0) -> None:
        for notify in self.on_buffered:
            notify(time_s, len(self._buffered), retrieved)


class AccessPoint:
    """Access point: one port for each associated station, all with the same parameters."""

    def __init__(self, env: Environment, parameters: AccessPointParameters) -> None:
        self._env, self._parameters = env, parameters
        self.ports: list[Port] = []

    def associate(self, downlink: Link) -> Port:
        """Return a new port, for the station at the other end of *downlink*."""
        self.ports.append(Port(self._env, self._parameters, downlink))
        return self.ports[-1]

    @property
    def buffered_bytes(self) -> int:
        """Bytes held for all stations, headers included."""
        return sum(port.buffered_bytes for port in self.ports)

    @property
    def dropped_frames(self) -> int:
        """Frames dropped at all ports."""
        return sum(port.dropped_frames for port in self.ports)

    @property
    def dropped_bytes(self) -> int:
        """Their bytes, headers included."""
        return sum(port.dropped_bytes for port in self.ports)

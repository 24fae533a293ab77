"""Access-point port that delivers frames in service periods only."""

from __future__ import annotations

from math import inf
from typing import Any, Protocol

from psm_sim.network.parts.device.port import DevicePort
from psm_sim.network.segment import BufferedFrame, Segment
from psm_sim.policies.service_period_rules import ServicePeriod


class ServiceListener(Protocol):
    """Interface of the radio of a station with service periods."""

    def offer(self) -> bool:
        """As for :class:`~psm_sim.network.access_point.PortListener`."""

    def announced(self) -> None:
        """As for :class:`~psm_sim.network.access_point.PortListener`."""

    def refuses(self) -> bool:
        """Handle the arrival of a frame. Return whether it must be buffered in any case."""


class ServicePeriodPort(DevicePort):
    """Port that transmits a frame only if it ends before ``ends_s``, the end of the service period.

    Parameters
    ----------
    service
        Service periods of the station.
    arguments
        Arguments of :class:`~psm_sim.network.parts.device.port.DevicePort`.
    """

    radio: ServiceListener

    def __init__(self, service: ServicePeriod, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.release_on_uplink = self.late_frames_wait = False
        self._max_frames = service.frames or inf
        self.ends_s = inf if service.interval_s is None else -inf

    def forward(self, segment: Segment) -> None:
        """Forward one frame if it fits into the current period, else buffer it."""
        self._drop_old()
        if self.radio.refuses() or self._buffered or not self._fits(segment):
            self._buffer_or_drop(segment)
        else:
            super().forward(segment)

    def release(self) -> list[BufferedFrame]:
        """Send and return the buffered frames that fit into the current period."""
        self._drop_old()
        sent: list[BufferedFrame] = []
        while self._buffered and len(sent) < self._max_frames and self._fits(self._buffered[0][1]):
            sent.append(self._buffered.pop(0))
            if self.on_buffered:
                self._notify(self._env.now, 1)
            self._deliver(sent[-1][1])
        return sent

    def _fits(self, segment: Segment) -> bool:
        begins_s = max(self._env.now, self._downlink.free_at) + self._poll_s
        return begins_s + self._downlink.air_time_s(segment) <= self.ends_s

    def _buffer_or_drop(self, segment: Segment) -> None:
        """Buffer a frame, or drop it if the buffer is full or the association has expired."""
        if self._association.lapsed or len(self._buffered) + self._downlink.in_flight >= self._capacity:
            self._drop(segment)
            return
        self._buffer(segment)

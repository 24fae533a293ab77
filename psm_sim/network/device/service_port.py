"""Port of a station with service periods: it delivers in these only, and never more than was negotiated."""

from __future__ import annotations

from math import inf
from typing import Any, Protocol

from psm_sim.network.device.port import DevicePort
from psm_sim.network.segment import BufferedFrame, Segment
from psm_sim.policies.service_period import ServicePeriod


class ServiceListener(Protocol):
    """Served: the radio of such a station."""

    def offer(self) -> bool:
        """As for :class:`~psm_sim.network.access_point.PortListener`."""

    def announced(self) -> None:
        """As for :class:`~psm_sim.network.access_point.PortListener`."""

    def refuses(self) -> bool:
        """Take note that a frame comes; say whether it must wait whatever the time."""


class ServicePort(DevicePort):
    """Port that sends a frame only if it is sent before ``ends_s``, the end of the service period.

    Parameters
    ----------
    service
        The rule of the periods.
    arguments
        As for :class:`~psm_sim.network.device.port.DevicePort`.
    """

    radio: ServiceListener

    def __init__(self, service: ServicePeriod, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.release_on_uplink = self.late_frames_wait = False
        self._most = service.frames or inf
        self.ends_s = inf if service.interval_s is None else -inf

    def forward(self, segment: Segment) -> None:
        """Take one frame for the station: pass it on if a period has room for it, else hold it."""
        self._drop_old()
        if self.radio.refuses() or self._buffered or not self._fits(segment):
            self._keep(segment)
        else:
            super().forward(segment)

    def release(self) -> list[BufferedFrame]:
        """Send what the period has room for; nothing while another one is under way."""
        self._drop_old()
        taken: list[BufferedFrame] = []
        while self._buffered and len(taken) < self._most and self._fits(self._buffered[0][1]):
            taken.append(self._buffered.pop(0))
            if self.on_buffered:
                self._notify(self._env.now, 1)
            self._deliver(taken[-1][1])
        return taken

    def _fits(self, segment: Segment) -> bool:
        begins_s = max(self._env.now, self._downlink.free_at) + self._poll_s
        return begins_s + self._downlink.air_time_s(segment) <= self.ends_s

    def _keep(self, segment: Segment) -> None:
        """Hold a frame behind those held, or drop it if there is no room or the station is forgotten."""
        if self._association.lapsed or len(self._buffered) + self._downlink.in_flight >= self._capacity:
            self._drop(segment)
            return
        self._buffer(segment)

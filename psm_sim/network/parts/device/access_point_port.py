"""Access-point port with ageing of frames, and expiry of associations."""

from __future__ import annotations

from math import inf

from simpy import Environment

from psm_sim.network.access_point import Port
from psm_sim.network.link import Link
from psm_sim.network.parts.association_timeout import Association
from psm_sim.network.segment import BufferedFrame, Segment, is_null
from psm_sim.network.topology_sections import AccessPointParameters


class DevicePort(Port):
    """Port that drops buffered frames when they age out, or when the association has expired."""

    def __init__(
        self,
        env: Environment,
        parameters: AccessPointParameters,
        downlink: Link,
        association: Association,
    ) -> None:
        super().__init__(env, parameters, downlink)
        self._ageing_s, self._association = parameters.ageing_s, association

    @property
    def tim_bit(self) -> bool:
        """Whether any buffered frame has not aged out."""
        self._drop_old()
        return bool(self._buffered)

    def forward(self, segment: Segment) -> None:
        """Forward, buffer or drop one frame. It is dropped if the association has expired."""
        self._drop_old()
        if self._association.lapsed:
            self._drop(segment)
        else:
            super().forward(segment)

    def release(self) -> list[BufferedFrame]:
        """Send and return the buffered frames that have not aged out."""
        self._drop_old()
        return super().release()

    def empty(self) -> None:
        """Drop all buffered frames."""
        while self._buffered:
            self._drop(self._buffered.pop(0)[1])
            if self.on_buffered:
                self._notify(self._env.now)

    def _drop_old(self) -> None:
        """Drop frames that have aged out. This is evaluated lazily, so that ageing causes no events."""
        buffered = self._buffered
        oldest_s = -1.0 if self._ageing_s is None else self._env.now - self._ageing_s
        while buffered and (buffered[0][0] < oldest_s or self._association.lapsed):
            arrived_s, segment = buffered.pop(0)
            self._drop(segment)
            if self.on_buffered:
                self._notify(self._dropped_s(arrived_s))

    def _dropped_s(self, arrived_s: float) -> float:
        """Return the earliest of three times: the frame ages out, the association expires, now."""
        aged_s = inf if self._ageing_s is None else arrived_s + self._ageing_s
        return min(aged_s, self._association.lapses_s, self._env.now)

    def _drop(self, segment: Segment) -> None:
        if not is_null(segment):  # a poll of the access point, which no host has sent
            super()._drop(segment)

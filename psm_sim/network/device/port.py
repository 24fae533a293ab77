"""Port of a device: held frames grow old, a forgotten station gets none, and each fetch takes time."""

from __future__ import annotations

from math import inf

from simpy import Environment

from psm_sim.network.access_point import Port
from psm_sim.network.association import Association
from psm_sim.network.link import Link
from psm_sim.network.segment import BufferedFrame, Segment
from psm_sim.network.topology_sections import AccessPointParameters


class DevicePort(Port):
    """Port whose held frames are dropped once they are too old, or the station is forgotten.

    Parameters
    ----------
    env, parameters, downlink
        As for a :class:`~psm_sim.network.access_point.Port`.
    association
        Whether the access point still knows the station.
    poll_s
        Time on the air to fetch one held frame, in seconds.
    """

    def __init__(
        self,
        env: Environment,
        parameters: AccessPointParameters,
        downlink: Link,
        association: Association,
        poll_s: float,
    ) -> None:
        super().__init__(env, parameters, downlink)
        self._ageing_s, self._association, self._poll_s = parameters.ageing_s, association, poll_s

    @property
    def tim_bit(self) -> bool:
        """Whether frames are held that are not too old."""
        self._drop_old()
        return bool(self._buffered)

    def forward(self, segment: Segment) -> None:
        """Take one frame for the station; a forgotten station's is dropped."""
        self._drop_old()
        if self._association.lapsed:
            self._drop(segment)
        else:
            super().forward(segment)

    def release(self) -> list[BufferedFrame]:
        """Send all that is held and not too old, each after a PS-Poll."""
        self._drop_old()
        buffered, self._buffered = self._buffered, []
        if buffered and self.on_buffered:
            self._notify(self._env.now, len(buffered))
        for _, segment in buffered:
            self._deliver(segment)
        return buffered

    def empty(self) -> None:
        """Drop all that is held."""
        while self._buffered:
            self._drop(self._buffered.pop(0)[1])
            if self.on_buffered:
                self._notify(self._env.now)

    def _deliver(self, segment: Segment) -> None:
        if self._poll_s:
            self._downlink.hold_until(max(self._env.now, self._downlink.free_at) + self._poll_s)
        self._last = segment
        self._downlink.send(segment)

    def _drop_old(self) -> None:
        """Drop what is too old: looked at only where it matters, so that ageing costs no event."""
        buffered = self._buffered
        oldest_s = -1.0 if self._ageing_s is None else self._env.now - self._ageing_s
        while buffered and (buffered[0][0] < oldest_s or self._association.lapsed):
            arrived_s, segment = buffered.pop(0)
            self._drop(segment)
            if self.on_buffered:
                self._notify(self._dropped_s(arrived_s))

    def _dropped_s(self, arrived_s: float) -> float:
        """Return when a frame that came at *arrived_s* was dropped, though it is noticed only now."""
        aged_s = inf if self._ageing_s is None else arrived_s + self._ageing_s
        return min(aged_s, self._association.lapses_s, self._env.now)

    def _drop(self, segment: Segment) -> None:
        self.dropped_frames += 1
        self.dropped_bytes += segment.wire_bytes

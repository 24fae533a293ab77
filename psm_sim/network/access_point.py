"""The access point: forwards, and holds what is for a dozing station."""

from __future__ import annotations

from typing import Protocol

from simpy import Environment

from psm_sim.network.link import Link
from psm_sim.network.segment import Segment
from psm_sim.network.topology import AccessPointParameters


class ListeningStation(Protocol):
    """What the access point needs to know of its station."""

    def listens(self) -> bool:
        """Whether the station is awake to receive; if so, it awaits one frame more."""

    def announce(self) -> None:
        """The TIM of the next beacon will name the station."""


class AccessPoint:
    """Forwards frames at once to a listening station, and holds them in order for a dozing one.

    The station's queue, held frames and those not yet delivered, is bounded; a frame that finds it full
    is dropped. ``dropped_bytes`` counts them, headers included.
    """

    def __init__(
        self, env: Environment, parameters: AccessPointParameters, downlink: Link, station: ListeningStation
    ) -> None:
        self._env, self._downlink, self._station = env, downlink, station
        self._capacity = parameters.buffer_frames
        self._held: list[tuple[float, Segment]] = []
        self.dropped_frames = 0
        self.dropped_bytes = 0

    @property
    def tim(self) -> bool:
        """Whether the beacon's traffic indication map names the station: frames are held for it."""
        return bool(self._held)

    @property
    def held_bytes(self) -> int:
        """Bytes held, headers included."""
        return sum(segment.wire_bytes for _, segment in self._held)

    def forward(self, segment: Segment) -> None:
        """Take one frame for the station."""
        if len(self._held) + self._downlink.in_flight >= self._capacity:
            self.dropped_frames += 1
            self.dropped_bytes += segment.wire_bytes
        elif self._station.listens():
            self._downlink.send(segment)
        else:
            self._held.append((self._env.now, segment))
            if len(self._held) == 1:
                self._station.announce()

    def release(self) -> list[tuple[float, int]]:
        """Send all that is held, as PS-Polls fetch it; return time of arrival and bytes of each frame."""
        held, self._held = self._held, []
        for _, segment in held:
            self._downlink.send(segment)
        return [(arrived_s, segment.wire_bytes) for arrived_s, segment in held]

"""Wireless link that reports its frames to sniffers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from simpy import Environment

from psm_sim.network.air_frame import AirCallback, AirFrame, FrameKind
from psm_sim.network.link import Link, LinkName, Uplink
from psm_sim.network.segment import GROUP, NULL, Segment
from psm_sim.network.topology_sections import LinkParameters

OnFrame = Callable[[Link, float, float, Segment], None]


class SniffedLink(Link):
    """Link that reports each frame as it is queued.

    Parameters
    ----------
    env, name, parameters, on_frame
        As for :class:`~psm_sim.network.link.Link`.
    on_air
        Called like :meth:`Observer.air <psm_sim.network.observers.Observer.air>`.
    """

    def __init__(
        self,
        env: Environment,
        name: LinkName,
        parameters: LinkParameters,
        on_frame: Sequence[OnFrame],
        on_air: Sequence[AirCallback],
    ) -> None:
        super().__init__(env, name, parameters, on_frame)
        self._on_air, self._up = on_air, name == "wireless up"

    def send(self, segment: Segment, queued_s: float | None = None) -> None:
        """Queue one segment and report it; arguments as for :class:`~psm_sim.network.link.Link`."""
        queued_s = self._env.now if queued_s is None else queued_s
        arrives_s = self.carry(segment, queued_s)
        if not self.flying:
            self.arrival.arm(arrives_s)
        self.flying.append((arrives_s, segment))
        self._notify(segment, queued_s, arrives_s)

    def carry(self, segment: Segment, queued_s: float) -> float:
        """Transmit and report a segment queued at *queued_s* seconds. Return its arrival time."""
        starts_s = max(self.free_at, queued_s)
        self.free_at = starts_s + self.air_time_s(segment)
        self._report(segment, queued_s, starts_s)
        return self.free_at + self.latency_s

    def report_unreceived(self, segment: Segment, count: int) -> None:
        """Report *count* consecutive frames that no station receives. The link does not carry them."""
        queued_s, air_s = self._env.now, self.air_time_s(segment)
        starts_s = max(queued_s, self.free_at)
        for number in range(count):
            self._report(segment, queued_s, starts_s + number * air_s)

    def _report(self, segment: Segment, queued_s: float, starts_s: float) -> None:
        connection, air_s = segment.connection, self.air_time_s(segment)
        kind: FrameKind = "null" if connection is NULL else "group" if connection is GROUP else "data"
        heard_s = starts_s + air_s if self._up else starts_s + air_s + self.latency_s
        frame = AirFrame(kind, self._up, queued_s, starts_s, air_s, heard_s, segment)
        for on_air in self._on_air:
            on_air(frame)


class SniffedUplink(Uplink):
    """Uplink whose first link reports its frames."""

    transmitter: SniffedLink

    def send(self, segment: Segment) -> None:
        """Queue one segment and report it."""
        self._second.send(segment, self.transmitter.carry(segment, self._env.now))

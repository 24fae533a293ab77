"""Air link: one direction of the air between the access point and one station, as a link with a queue."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from simpy import Environment

from psm_sim.network.air_frame import AirCallback
from psm_sim.network.frame_timing import FrameTiming
from psm_sim.network.link import Link, LinkName
from psm_sim.network.mac.sniffer_tap import SnifferTap
from psm_sim.network.segment import BufferedFrame, Segment
from psm_sim.network.topology import Topology


class AirLink(Link):
    """Link whose frames wait for the air: ``waits`` has them in order, each after its time of arrival.

    ``ask`` is called when one more waits; set it before the first one is sent. Frames that were tried too
    often are counted in ``lost_bytes``, headers included. ``teller`` is there if anybody listens to the air.

    Parameters
    ----------
    env, name, on_frame
        As for :class:`~psm_sim.network.link.Link`; observers are told of a frame when it arrives.
    topology
        The scenario in numbers.
    on_air
        As for :class:`~psm_sim.network.monitored_link.SniffedLink`.
    """

    def __init__(
        self,
        env: Environment,
        name: LinkName,
        topology: Topology,
        on_frame: Sequence[Callable[[Link, float, float, Segment], None]] = (),
        on_air: Sequence[AirCallback] = (),
    ) -> None:
        super().__init__(env, name, topology.wireless, on_frame)
        self._timing = FrameTiming(topology.mac)
        self.waits: deque[tuple[float, Any]] = deque()
        self.ask: Callable[[], None]
        self.lost_bytes = 0
        self.teller = SnifferTap(name == "wireless up", on_air, self._timing) if on_air else None

    def send(self, segment: Segment, queued_s: float | None = None) -> None:
        """Queue one segment behind those not yet sent."""
        self.waits.append((self._env.now, segment))
        self.ask()

    def send_all(self, buffered: Sequence[BufferedFrame]) -> None:
        """Queue segments that were held, each by :meth:`send`."""
        for _, segment in buffered:
            self.send(segment)

    def wait(self, item: Any, first: bool = False) -> None:
        """Queue a frame without data behind those not yet sent, or before them."""
        entry = (self._env.now, item)
        if first:
            self.waits.appendleft(entry)
        else:
            self.waits.append(entry)

    def collided(self) -> None:
        """Take note that the first frame that waits was on the air in vain."""
        if self.teller is not None:
            self.teller.tried.add(self.waits[0][1])

    def take_back(self, entry: tuple[float, Any]) -> Any:
        """Remove a frame that waits, and return it; that it was tried is forgotten."""
        self.waits.remove(entry)
        if self.teller is not None:
            self.teller.tried.discard(entry[1])
        return entry[1]

    def air_time_s(self, segment: Segment) -> float:
        """Return how long it takes to send a segment, in seconds."""
        return self._timing.data_s(segment.wire_bytes)

    def arrived(self, segment: Segment, start_s: float) -> None:
        """Tell observers of a segment that has arrived now, and whose transmission began at *start_s*."""
        now_s = self.free_at = self._env.now
        for notify in self._on_frame:
            notify(self, start_s, now_s, segment)

    @property
    def in_flight(self) -> int:
        """The number of segments that wait or are on the air."""
        return len(self.waits)

    @property
    def in_flight_bytes(self) -> int:
        """Their bytes, headers included."""
        return sum(item.wire_bytes for _, item in self.waits if isinstance(item, Segment))

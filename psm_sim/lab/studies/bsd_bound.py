"""Measurement of the Bounded Slowdown guarantee on replies that the access point buffers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from psm_sim.campaign.task_runner import Row
from psm_sim.common.hashing import digest_of
from psm_sim.network import Observer
from psm_sim.network.link import Link
from psm_sim.network.segment import Segment
from psm_sim.policies import Poll, Rest
from psm_sim.simulation.run import prepare
from psm_sim.simulation.scenario import DigestCache, Scenario

HOLDING_MS = 1500
"""Server delay longer than the time for which BSD stays awake, which is at most 1 s for the paper's p."""


class BoundObserver(Observer):
    """Observer that measures the stretch of every buffered reply.

    The stretch is a ratio of two times since the last uplink packet: the delivery of a buffered frame over
    its arrival at the access point. ``stretches`` has one value for each doze that ended with buffered
    frames, for the first frame, because it waited longest. A reply that finds the station awake is not
    buffered and has no stretch.
    """

    def __init__(self) -> None:
        self.stretches: list[float] = []
        self._uplink_s = 0.0  # time of the last uplink packet
        self._after_uplink_s = 0.0  # from the last uplink packet to the last received beacon

    def frame(self, link: Link, queued_s: float, arrives_s: float, segment: Segment) -> None:
        """Record when the station sends; arguments as for :class:`~psm_sim.network.Observer`."""
        if link.name == "wireless up":
            self._uplink_s = queued_s

    def beacons(self, first_s: float, count: int, every_s: float) -> None:
        """Record when a buffered frame would be delivered.

        Parameters
        ----------
        first_s : float
            Time of the first received beacon, in seconds.
        count : int
            Number of received beacons.
        every_s : float
            Time between two received beacons, in seconds.
        """
        self._after_uplink_s = first_s + (count - 1) * every_s - self._uplink_s

    def rest(self, time_s: float, poll: Poll | None, rest: Rest) -> None:
        """Measure the stretch of the first retrieved frame.

        Parameters
        ----------
        time_s : float
            Time in seconds.
        poll : Poll or None
            Frames that the station retrieved when it woke; None after an uplink packet.
        rest : Rest
            Sleep decision of the policy.
        """
        if poll is not None and poll.arrivals:
            waited_s = (poll.slept_ms - poll.arrivals[0][0]) / 1000
            self.stretches.append(self._after_uplink_s / (self._after_uplink_s - waited_s))


@dataclass(frozen=True)
class BoundTask:
    """Task that runs BSD with a bound p and measures the stretch of every buffered reply.

    The row has the number of buffered replies as ``held`` and the largest stretch as a share of 1 + p as
    ``bound``. ``bound`` is None if no reply was buffered.
    """

    kind: ClassVar[str] = "bound"

    p: float
    scenario: Scenario
    labels: Mapping[str, Any] = field(default_factory=dict)

    @property
    def weight(self) -> int:
        """Number of pages."""
        return self.scenario.pages

    def key(self, cache: DigestCache | None = None) -> str:
        """Return a hash of everything that determines the row."""
        return digest_of([self.kind, self.p, self.scenario.key(cache=cache)])

    def run(self) -> list[Row]:
        """Run BSD and return the row."""
        observer = BoundObserver()
        run = prepare(f"bsd:p={self.p:g}", self.scenario.resolve_topology(), [observer])
        run.execute(self.scenario.workload().pages)
        bound = max(observer.stretches) / (1 + self.p) if observer.stretches else None
        return [{"p": self.p, "bound": bound, "held": len(observer.stretches)}]

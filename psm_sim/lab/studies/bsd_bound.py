"""Bound of Bounded Slowdown, measured where replies are held: the largest stretch, and how many were."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from psm_sim.campaign.task_runner import Row
from psm_sim.hashing import digest_of
from psm_sim.network import Observer
from psm_sim.network.link import Link
from psm_sim.network.segment import Segment
from psm_sim.policies import Poll, Rest
from psm_sim.simulation.run import prepare
from psm_sim.simulation.scenario import Scenario
from psm_sim.simulation.scenario_key import DigestCache

HOLDING_MS = 1500
"""A server delay that outlasts the time for which BSD stays awake at each p of the paper, at most 1 s."""


class BoundObserver(Observer):
    """Watch over the bound: the stretch of every reply that was held.

    The stretch is the time from the last uplink packet to the delivery of a held frame over the time
    from that packet to the frame's arrival at the access point; ``stretches`` has one for each doze that
    ended with held frames, that of the first of them, which waited longest. A reply that finds the station
    awake is not held, and has none.
    """

    def __init__(self) -> None:
        self.stretches: list[float] = []
        self._uplink_s = 0.0  # time of the last uplink packet
        self._after_uplink_s = 0.0  # from there to the last beacon that the station woke for

    def frame(self, link: Link, queued_s: float, arrives_s: float, segment: Segment) -> None:
        """Note when the station sends; arguments as for :class:`~psm_sim.network.Observer`."""
        if link.name == "wireless up":
            self._uplink_s = queued_s

    def beacons(self, first_s: float, count: int, every_s: float) -> None:
        """Note when a held frame would be delivered.

        Parameters
        ----------
        first_s
            The time of the first beacon heard, in seconds.
        count
            The number of beacons heard.
        every_s
            The time from one to the next, in seconds.
        """
        self._after_uplink_s = first_s + (count - 1) * every_s - self._uplink_s

    def rest(self, time_s: float, poll: Poll | None, rest: Rest) -> None:
        """Measure the first of the frames just fetched.

        Parameters
        ----------
        time_s
            The time in seconds.
        poll
            The frames that the station saw when it woke; None after an uplink packet.
        rest
            The answer of the policy.
        """
        if poll is not None and poll.arrivals:
            waited_s = (poll.slept_ms - poll.arrivals[0][0]) / 1000
            self.stretches.append(self._after_uplink_s / (self._after_uplink_s - waited_s))


@dataclass(frozen=True)
class BoundTask:
    """One run of BSD with a bound p that measures the stretch of every held reply.

    Its row has the largest as a share of 1 + p, None if none was held, and the number of those held.
    """

    kind: ClassVar[str] = "bound"

    p: float
    scenario: Scenario
    labels: Mapping[str, Any] = field(default_factory=dict)

    @property
    def weight(self) -> int:
        """Its pages."""
        return self.scenario.pages

    def key(self, cache: DigestCache | None = None) -> str:
        """Return a hash of everything that decides the row."""
        return digest_of([self.kind, self.p, self.scenario.key(cache=cache)])

    def run(self) -> list[Row]:
        """Return the row."""
        watch = BoundObserver()
        run = prepare(f"bsd:p={self.p:g}", self.scenario.resolve_topology(), [watch])
        run.execute(self.scenario.workload().pages)
        bound = max(watch.stretches) / (1 + self.p) if watch.stretches else None
        return [{"p": self.p, "bound": bound, "held": len(watch.stretches)}]

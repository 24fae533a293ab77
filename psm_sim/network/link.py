"""One direction of a hop: a bit rate, a delay, and frames in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from simpy import Environment

from psm_sim.network.segment import Segment
from psm_sim.network.timer import Pulse
from psm_sim.network.topology import LinkParameters


class Link:
    """Sends segments one after the other and delivers each after the propagation delay.

    ``free_at`` is the time in seconds at which the transmitter has sent all it was given. Each of
    ``observers`` is told of a segment as it is queued: the time, the time at which it will have arrived,
    and the segment.
    """

    def __init__(
        self, env: Environment, parameters: LinkParameters, deliver: Callable[[Segment], None]
    ) -> None:
        self._env = env
        self._s_per_byte = 8e-6 / parameters.rate_mbps
        self._latency_s = parameters.latency_ms / 1000
        self._deliver = deliver
        self._flying: deque[tuple[float, Segment]] = deque()
        self._arrival = Pulse(env, self._arrive)
        self.free_at = 0.0
        self.observers: list[Callable[[float, float, Segment], None]] = []

    def send(self, segment: Segment) -> None:
        """Queue one segment behind those not yet sent."""
        now = self._env.now
        start = self.free_at if self.free_at > now else now
        self.free_at = sent = start + segment.wire_bytes * self._s_per_byte
        arrival = sent + self._latency_s
        self._flying.append((arrival, segment))
        if len(self._flying) == 1:
            self._arrival.arm(arrival)
        for observer in self.observers:
            observer(now, arrival, segment)

    @property
    def in_flight(self) -> int:
        """The number of segments queued, in transmission, or on the way."""
        return len(self._flying)

    @property
    def in_flight_bytes(self) -> int:
        """Their bytes, headers included."""
        return sum(segment.wire_bytes for _, segment in self._flying)

    def _arrive(self) -> None:
        flying = self._flying
        _, segment = flying.popleft()
        if flying:
            self._arrival.arm(flying[0][0])
        self._deliver(segment)

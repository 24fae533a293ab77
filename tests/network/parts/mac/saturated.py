"""Saturated stations, simulated and by Bianchi's model (IEEE JSAC 18(3), 2000).

In the model each station sends in a slot with the same probability tau. Each transmission collides with the
same probability p, independently of the past. Both follow from a fixed-point equation.
"""

from __future__ import annotations

from typing import NamedTuple

from simpy import Environment

from psm_sim.beacons import Beacons
from psm_sim.network.parts.frame_timing import CW_MAX, RETRY_LIMIT, FrameTiming
from psm_sim.network.parts.mac.channel import Channel, Exchange
from psm_sim.network.topology_sections import MacParameters

_NEVER_S = 1e9


class SaturatedSource:
    """Saturated station that sends frames of one size and counts those that arrive."""

    def __init__(self, channel: Channel, timing: FrameTiming, packet_bytes: int) -> None:
        self._exchange = Exchange(
            timing.data_s(packet_bytes), timing.data_s(packet_bytes), timing.answer_s, self._count_arrival
        )
        self.arrived = self.dropped = 0
        channel.request(channel.join(self))

    def exchange(self, start_s: float) -> Exchange:
        """Return the exchange of one frame."""
        return self._exchange

    def waiting(self) -> bool:
        """Return True, because there is always another frame."""
        return True

    def collided(self, first_s: float) -> None:
        """Do nothing, because the frame is sent again."""

    def lost(self) -> None:
        """Count a frame that exceeded the retry limit."""
        self.dropped += 1

    def _count_arrival(self) -> None:
        self.arrived += 1


class SaturationResult(NamedTuple):
    """Throughput in Mbit/s, arrived frames of each station, dropped frames and collisions."""

    mbps: float
    arrived: tuple[int, ...]
    dropped: int
    collisions: int


def run_saturated(
    stations: int, mac: MacParameters, packet_bytes: int, seconds: float, retry_limit: int = RETRY_LIMIT
) -> SaturationResult:
    """Simulate saturated stations without beacons, and return their throughput."""
    env, timing = Environment(), FrameTiming(mac)
    channel = Channel(env, timing, Beacons(_NEVER_S), retry_limit, seed=1)
    sources = [SaturatedSource(channel, timing, packet_bytes) for _ in range(stations)]
    env.run(until=seconds)
    arrived = tuple(source.arrived for source in sources)
    mbps = 8e-6 * packet_bytes * sum(arrived) / seconds
    return SaturationResult(mbps, arrived, sum(source.dropped for source in sources), channel.collisions)


def attempt_rate(stations: int, timing: FrameTiming) -> float:
    """Return the probability that a station sends in a slot (Bianchi, equations 7 and 9)."""
    low, high = 0.0, 1.0
    for _ in range(60):
        tau = (low + high) / 2
        collides = 1 - (1 - tau) ** (stations - 1)
        low, high = (tau, high) if _tau_of(collides, timing) > tau else (low, tau)
    return (low + high) / 2


def _tau_of(collides: float, timing: FrameTiming) -> float:
    """Return tau for a collision probability, by Bianchi's equation (7) written as a sum."""
    slots, stages = timing.cw_min + 1, 0
    while slots << stages < CW_MAX + 1:
        stages += 1
    doubled = sum((2 * collides) ** stage for stage in range(stages))
    return 2 / (1 + slots + collides * slots * doubled)


def saturation_mbps(stations: int, timing: FrameTiming, packet_bytes: int) -> float:
    """Return the saturation throughput in Mbit/s, without the headers below IP."""
    tau, frame_s = attempt_rate(stations, timing), timing.data_s(packet_bytes)
    difs_s = timing.sifs_s + timing.first_slots * timing.slot_s
    busy = 1 - (1 - tau) ** stations
    success = stations * tau * (1 - tau) ** (stations - 1)
    idle_s = (1 - busy) * timing.slot_s
    used_s = success * (frame_s + timing.answer_s) + (busy - success) * (frame_s + timing.timeout_s)
    return 8e-6 * packet_bytes * success / (idle_s + used_s + busy * difs_s)

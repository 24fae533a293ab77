"""Stations that always have a frame to send, alone on a channel."""

from __future__ import annotations

from typing import NamedTuple

from simpy import Environment

from psm_sim.beacons import Beacons
from psm_sim.network.parts.frame_timing import FrameTiming
from psm_sim.network.parts.mac.channel import Channel
from psm_sim.network.parts.mac.channel_contenders import Exchange
from psm_sim.network.parts.mac.random_backoffs import RandomBackoffs
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


def run_saturated(stations: int, mac: MacParameters, packet_bytes: int, seconds: float) -> SaturationResult:
    """Simulate saturated stations without beacons, and return their throughput.

    Parameters
    ----------
    stations
        Number of saturated stations, at least 1.
    mac
        Rates, contention windows and the seed.
    packet_bytes
        Size of every packet, in bytes.
    seconds
        Simulated time, in seconds.
    """
    env, timing = Environment(), FrameTiming(mac)
    channel = Channel(env, timing, Beacons(_NEVER_S), mac.retry_limit, RandomBackoffs(mac.seed))
    sources = [SaturatedSource(channel, timing, packet_bytes) for _ in range(stations)]
    env.run(until=seconds)
    arrived = tuple(source.arrived for source in sources)
    mbps = 8e-6 * packet_bytes * sum(arrived) / seconds
    return SaturationResult(mbps, arrived, sum(source.dropped for source in sources), channel.collisions)

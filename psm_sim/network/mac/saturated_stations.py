"""Saturation: stations that always have a frame to send, on the air alone."""

from __future__ import annotations

from typing import NamedTuple

from simpy import Environment

from psm_sim.beacons import Beacons
from psm_sim.network.frame_timing import FrameTiming
from psm_sim.network.mac.channel import Channel
from psm_sim.network.mac.channel_access import Exchange
from psm_sim.network.mac.random_backoffs import RandomBackoffs
from psm_sim.network.topology_mac import MacParameters

_NEVER_S = 1e9


class SaturatedSource:
    """Greedy station: sends frames of one size for ever, and counts those that arrive."""

    def __init__(self, air: Channel, timing: FrameTiming, packet_bytes: int) -> None:
        self._exchange = Exchange(
            timing.data_s(packet_bytes), timing.data_s(packet_bytes), timing.answer_s, self._arrived
        )
        self.arrived = self.dropped = 0
        air.ask(air.join(self))

    def exchange(self, start_s: float) -> Exchange:
        """Return the exchange of one frame."""
        return self._exchange

    def waiting(self) -> bool:
        """Say that there is always one more."""
        return True

    def collided(self, first_s: float) -> None:
        """Do nothing: the frame is sent again."""

    def lost(self) -> None:
        """Count a frame that was tried too often."""
        self.dropped += 1

    def _arrived(self) -> None:
        self.arrived += 1


class SaturationResult(NamedTuple):
    """Outcome of a saturated air: throughput in Mbit/s, frames that arrived and were lost, collisions."""

    mbps: float
    arrived: tuple[int, ...]
    dropped: int
    collisions: int


def run_saturated(stations: int, mac: MacParameters, packet_bytes: int, seconds: float) -> SaturationResult:
    """Let stations send for some time, without beacons, and return what arrived.

    Parameters
    ----------
    stations
        How many always have a frame to send, at least 1.
    mac
        Rates, windows and the seed.
    packet_bytes
        Size of every packet, in bytes.
    seconds
        Simulated time.
    """
    env, timing = Environment(), FrameTiming(mac)
    air = Channel(env, timing, Beacons(_NEVER_S), mac.retry_limit, RandomBackoffs(mac.seed))
    greedy = [SaturatedSource(air, timing, packet_bytes) for _ in range(stations)]
    env.run(until=seconds)
    arrived = tuple(source.arrived for source in greedy)
    mbps = 8e-6 * packet_bytes * sum(arrived) / seconds
    return SaturationResult(mbps, arrived, sum(source.dropped for source in greedy), air.collisions)

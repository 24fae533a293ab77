"""Saturation: stations that always have a frame to send, on the air alone."""

from __future__ import annotations

from typing import NamedTuple

from simpy import Environment

from psm_sim.beacons import Beacons
from psm_sim.network.air_timing import Timing
from psm_sim.network.mac.air import Air
from psm_sim.network.mac.backoffs import Backoffs
from psm_sim.network.mac.contender import Exchange
from psm_sim.network.topology_mac import MacParameters

_NEVER_S = 1e9


class SaturatedSource:
    """Greedy station: sends frames of one size for ever, and counts those that arrive."""

    def __init__(self, air: Air, timing: Timing, packet_bytes: int) -> None:
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


class Saturated(NamedTuple):
    """Outcome of a saturated air: throughput in Mbit/s, frames that arrived and were lost, collisions."""

    mbps: float
    arrived: tuple[int, ...]
    dropped: int
    collisions: int


def saturate(stations: int, mac: MacParameters, packet_bytes: int, seconds: float) -> Saturated:
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
    env, timing = Environment(), Timing(mac)
    air = Air(env, timing, Beacons(_NEVER_S), mac.retry_limit, Backoffs(mac.seed))
    greedy = [SaturatedSource(air, timing, packet_bytes) for _ in range(stations)]
    env.run(until=seconds)
    arrived = tuple(source.arrived for source in greedy)
    mbps = 8e-6 * packet_bytes * sum(arrived) / seconds
    return Saturated(mbps, arrived, sum(source.dropped for source in greedy), air.collisions)

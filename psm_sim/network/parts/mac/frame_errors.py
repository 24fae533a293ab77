"""Frame errors on the channel of one station, and its reception of beacons."""

from __future__ import annotations

from psm_sim.common.random_streams import random_stream, stream_name
from psm_sim.network.parts.beacon_loss import BeaconReception
from psm_sim.network.parts.gilbert import GilbertLosses, uniform_numbers
from psm_sim.network.topology import Topology


class FrameErrors(GilbertLosses):
    """Frame errors between the access point and one station, equally likely in both directions.

    Errors are independent, or occur in runs (Gilbert model). Stations have independent errors.
    """

    def __init__(self, topology: Topology) -> None:
        mac, name = topology.mac, stream_name("network.frame errors", topology.station_name)
        numbers = uniform_numbers(random_stream(topology.seed, name))
        super().__init__(numbers.__next__, mac.frame_error_rate, mac.loss_run)

    def first(self, frames: int) -> int:
        """Return which of *frames* frames is the first with errors (1, 2, ...), or 0 if there is none."""
        return next((position for position in range(1, frames + 1) if self.lost()), 0)


class AirBeaconReception(BeaconReception):
    """Beacon reception that also depends on frame errors, which are drawn separately for beacons."""

    def __init__(self, topology: Topology) -> None:
        random = random_stream(topology.seed, stream_name("network.beacon errors", topology.station_name))
        super().__init__(topology.mac.frame_error_rate, topology.mac.loss_run, random)
        self._others = BeaconReception.of(topology)

    def lost(self, number: int) -> bool:
        """Return whether beacon *number* is lost. Numbers must not decrease between calls."""
        return super().lost(number) or self._others.lost(number)

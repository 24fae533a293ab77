"""Frame errors on the channel of one station, and its reception of beacons."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.random_streams import random_stream, stream_name
from psm_sim.network.parts.beacon_loss import BLOCK, BeaconReception
from psm_sim.network.parts.gilbert_elliott import GilbertElliott
from psm_sim.network.topology import Topology
from psm_sim.network.topology_sections import MacParameters

_DRAWS = 1024


class FrameErrors:
    """Frame errors between the access point and one station, equally likely in both directions.

    Errors are independent. With a bad state, the channel of the station alternates between two error rates
    (Gilbert-Elliott model).

    Parameters
    ----------
    mac
        Error rates.
    seed
        Seed of the errors.
    station
        Index of the station at its access point, from 0. Stations have independent errors.
    """

    def __init__(self, mac: MacParameters, seed: int, station: int) -> None:
        self._mac, self._drawn = mac, list[float]()
        self._random = random_stream(seed, stream_name("network.frame errors", station))
        self._bad: GilbertElliott | None = None
        if mac.bad_frame_error_rate:
            name = stream_name("network.channel state", station)
            self._bad = GilbertElliott(seed, name, mac.good_s, mac.bad_s)

    def rate(self, time_s: float) -> float:
        """Return the probability of an error in a frame that begins at *time_s* seconds."""
        bad = self._bad is not None and self._bad.at(time_s)
        return self._mac.bad_frame_error_rate if bad else self._mac.frame_error_rate

    def first(self, time_s: float, frames: int) -> int:
        """Return the position of the first frame with an error in an exchange, from 1; 0 if there is none.

        Parameters
        ----------
        time_s
            Start of the exchange, in seconds.
        frames
            Number of frames in the exchange.
        """
        rate = self.rate(time_s)
        for position in range(1, frames + 1):
            if not self._drawn:
                self._drawn = self._random.random(_DRAWS).tolist()
            if self._drawn.pop() < rate:
                return position
        return 0


class AirBeaconReception(BeaconReception):
    """Beacon reception that also depends on the frame errors of the station's channel.

    Parameters
    ----------
    topology
        The topology.
    station
        As for :class:`~psm_sim.network.parts.beacon_loss.BeaconReception`.
    errors : FrameErrors
        Frame errors of the station.
    """

    def __init__(self, topology: Topology, station: int, errors: FrameErrors) -> None:
        super().__init__(topology.beacon, topology.seed, station)
        self._interval_s, self._errors, self.lossless = topology.beacon.interval_s, errors, False
        self._beacon_errors = random_stream(topology.seed, stream_name("network.beacon errors", station))

    def _draw(self) -> NDArray[np.bool_]:
        times_s = ((self._first + number) * self._interval_s for number in range(BLOCK))
        rates = np.fromiter((self._errors.rate(time_s) for time_s in times_s), dtype=float, count=BLOCK)
        return super()._draw() | (self._beacon_errors.random(BLOCK) < rates)

"""Reception: which beacons a dozing station wakes for and does not hear."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from psm_sim.network.topology_sections import BeaconParameters
from psm_sim.random_streams import random_stream, stream_name

_BLOCK = 4096


class BeaconReception:
    """Reception of beacons by their numbers, which must never decrease from one question to the next.

    A share ``loss`` is lost: each on its own, or in runs whose lengths, and those of the beacons heard
    between, are geometric (Gilbert's model of 1960), with a mean of ``loss_run`` lost ones. Which are lost
    depends on the numbers and the seed alone, so that all policies lose the same ones.

    Parameters
    ----------
    parameters
        The share, and the runs.
    station
        Its place on the access point, from 0: each loses others.
    """

    def __init__(self, parameters: BeaconParameters, station: int = 0) -> None:
        self._parameters = parameters
        self.lossless = parameters.loss == 0
        self._random = random_stream(parameters.loss_seed, stream_name("network.beacon loss", station))
        self._first, self._lost = 0, np.zeros(0, dtype=bool)
        self._in_loss, self._left = True, 0

    def lost(self, number: int) -> bool:
        """Say whether the beacon of that number is lost."""
        if self.lossless:
            return False
        while number >= self._first + self._lost.size:
            self._first += self._lost.size
            self._lost = self._draw()
        return bool(self._lost[number - self._first])

    def _draw(self) -> NDArray[np.bool_]:
        parameters = self._parameters
        if parameters.loss_run is None:
            return self._random.random(_BLOCK) < parameters.loss
        found = np.zeros(_BLOCK, dtype=bool)
        place = 0
        while place < _BLOCK:
            if not self._left:
                self._next_run(parameters.loss, parameters.loss_run)
            count = min(self._left, _BLOCK - place)
            found[place : place + count] = self._in_loss
            place, self._left = place + count, self._left - count
        return found

    def _next_run(self, loss: float, loss_run: float) -> None:
        self._in_loss = not self._in_loss
        mean = loss_run if self._in_loss else loss_run * (1 - loss) / loss
        self._left = int(self._random.geometric(1 / mean))

"""Random loss of the beacons for which a dozing station wakes, and a radio that misses them."""

from __future__ import annotations

from math import inf, nextafter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.random_streams import random_stream, stream_name
from psm_sim.network.energy_ledger import EnergyLedger
from psm_sim.network.radio import BUSY, DOZING, Radio, State
from psm_sim.network.topology import Topology
from psm_sim.network.topology_sections import StationParameters

BLOCK_BEACONS = 4096
"""Number of beacons whose losses are sampled at a time."""
_LISTEN_S = 0.005
"""Time for which a station listens for a missing beacon, as in ns-3."""


class BeaconReception:
    """Beacon reception at one station.

    A share of the beacons is lost, either independently or in runs. The numbers of successive lost and of
    successive received beacons are geometric (Gilbert 1960). The losses depend only on the beacon numbers and
    the random stream, so all policies lose the same beacons.

    Parameters
    ----------
    loss
        Share of the beacons that are lost.
    loss_run : float or None
        Mean number of consecutive lost beacons; None for independent losses.
    random
        Source of random numbers. Stations have independent losses.
    """

    def __init__(self, loss: float, loss_run: float | None, random: np.random.Generator) -> None:
        self._loss, self._loss_run, self._random = loss, loss_run, random
        self.lossless = loss == 0
        self._first, self._lost = 0, np.zeros(0, dtype=bool)
        self._in_loss, self._left = True, 0

    @classmethod
    def of(cls, topology: Topology) -> BeaconReception:
        """Return the reception at the station of *topology*."""
        random = random_stream(topology.seed, stream_name("network.beacon loss", topology.station_name))
        return cls(topology.beacon.loss, topology.beacon.loss_run, random)

    def lost(self, number: int) -> bool:
        """Return whether beacon *number* is lost. Numbers must not decrease between calls."""
        if self.lossless:
            return False
        while number >= self._first + self._lost.size:
            self._first += self._lost.size
            self._lost = self._draw()
        return bool(self._lost[number - self._first])

    def _draw(self) -> NDArray[np.bool_]:
        loss, loss_run = self._loss, self._loss_run
        if loss_run is None or not loss:
            return self._random.random(BLOCK_BEACONS) < loss
        lost = np.zeros(BLOCK_BEACONS, dtype=bool)
        start = 0
        while start < BLOCK_BEACONS:
            if not self._left:
                self._in_loss = not self._in_loss
                mean = loss_run if self._in_loss else loss_run * (1 - loss) / loss
                self._left = int(self._random.geometric(min(1.0, 1 / mean)))
            count = min(self._left, BLOCK_BEACONS - start)
            lost[start : start + count] = self._in_loss
            start, self._left = start + count, self._left - count
        return lost


class LossyBeaconRadio(Radio):
    """Radio that can miss beacons; ``beacons_missed`` counts them.

    After a missed beacon, the radio wakes for every beacon until it receives one. With
    ``station.missed_beacon=stay-awake`` it listens until the next beacon or transmission. The state of a
    listening radio is DOZING, because the access point still considers it dozing.
    """

    def __init__(
        self, reception: BeaconReception, station: StationParameters, ledger: EnergyLedger, *arguments: Any
    ) -> None:
        super().__init__(*arguments)
        self._reception, self._station, self._ledger = reception, station, ledger
        self._stays_awake = station.missed_beacon == "stay-awake"
        self.beacons_missed = 0
        self._missed_beacon = False
        self._listening = False  # true from a missed beacon until the next received beacon or transmission

    def _receive_beacons(self, now_s: float) -> None:
        if self._reception.lossless:
            super()._receive_beacons(now_s)
        elif self._reception.lost(self._doze.number):
            self._miss()
        elif self._missed_beacon:
            # The extended doze may end between the beacons of a repeated rest, so the policy decides again.
            first_s, self._missed_beacon = self._doze.wakes_s, False
            self._enter(DOZING, first_s)
            self._record_unannounced(first_s, 1)
            self._last_poll = self._doze.end(first_s)
            self._begin_rest(first_s)
        else:
            super()._receive_beacons(
                nextafter(self._doze.wakes_s, inf)
            )  # one beacon at a time, since each may be lost

    def _miss(self) -> None:
        """Handle the loss of the beacon for which the radio has woken."""
        first_s = self._doze.wakes_s
        self.beacons_missed += 1
        self._record_beacons(first_s, 1)
        self._missed_beacon = True
        self._doze.miss()
        if self._stays_awake:
            self._listen(first_s)
        else:
            self._ledger.listen(_LISTEN_S)

    def _listen(self, time_s: float) -> None:
        """Start to listen, and notify observers that the radio is awake. Do nothing if it listens already."""
        if not self._listening:
            self._listening = True
            for on_radio in self._on_radio:
                on_radio(time_s, True)

    def _enter(self, state: State, time_s: float) -> None:
        """Change the state, and stop listening for a beacon."""
        if self._listening:
            self._listening, self._state = False, BUSY
        super()._enter(state, time_s)

"""Misses: a radio that does not hear some of the beacons for which it wakes."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nextafter

from psm_sim.network.beacon_reception import BeaconReception
from psm_sim.network.radio import Radio
from psm_sim.network.topology_device import PowerParameters, StationParameters


class LossyBeaconRadio(Radio):
    """Radio that can miss beacons; ``beacons_missed`` counts them.

    It listens in vain, and then wakes for every beacon until it hears one, or rests as if the beacon had
    named nobody.
    """

    beacons_missed = 0
    _missed_beacon = False

    def configure_reception(
        self,
        reception: BeaconReception,
        station: StationParameters,
        power: PowerParameters,
        spend: Callable[[float], None],
    ) -> None:
        """Take note of what can be missed, before the clock starts.

        Parameters
        ----------
        reception
            Says which beacons are lost.
        station, power
            What the station does then, and what it costs to listen.
        spend
            Takes joules of no state.
        """
        self._reception, self._spend = reception, spend
        self._miss_j, self._after_miss = power.awake_w * station.miss_ms / 1000, station.after_miss

    def _hear(self, now_s: float) -> None:
        if self._reception.lossless:
            super()._hear(now_s)
        elif self._reception.lost(self._doze.number):
            self._miss()
        elif self._missed_beacon:
            # The rest that it repeats may have ended between beacons of its own: the policy is asked anew.
            first_s, self._missed_beacon = self._doze.wakes_s, False
            self._heard(first_s, 1)
            self._last_poll = self._doze.end(first_s)
            self._ask(first_s)
        else:
            super()._hear(nextafter(self._doze.wakes_s, inf))  # one at a time: each can be lost

    def _miss(self) -> None:
        """Miss the beacon for which it has woken."""
        first_s = self._doze.wakes_s
        self.beacons_missed += 1
        self._heard(first_s, 1)
        self._spend(self._miss_j)
        if self._after_miss == "next":
            self._missed_beacon = True
            self._doze.miss()
        else:
            self._last_poll = self._doze.end(first_s)
            self._ask(first_s)

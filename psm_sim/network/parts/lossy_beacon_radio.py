"""Radio that misses beacons with a configured probability."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nextafter

from psm_sim.network.parts.random_beacon_loss import BeaconReception
from psm_sim.network.radio import Radio
from psm_sim.network.topology_sections import PowerParameters, StationParameters


class LossyBeaconRadio(Radio):
    """Radio that can miss beacons; ``beacons_missed`` counts them.

    After a missed beacon it wakes for every beacon until it receives one, or it behaves as if its TIM bit had
    not been set.
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
        """Configure the beacon losses before the clock starts.

        Parameters
        ----------
        reception
            Model of the lost beacons.
        station, power
            Behaviour of the station after a missed beacon, and its power draw.
        spend
            Function that charges an energy in joules.
        """
        self._reception, self._spend = reception, spend
        self._miss_j, self._after_miss = power.awake_w * station.miss_ms / 1000, station.after_miss

    def _receive_beacons(self, now_s: float) -> None:
        if self._reception.lossless:
            super()._receive_beacons(now_s)
        elif self._reception.lost(self._doze.number):
            self._miss()
        elif self._missed_beacon:
            # The extended doze may end between the beacons of a repeated rest, so the policy decides again.
            first_s, self._missed_beacon = self._doze.wakes_s, False
            self._record_beacons(first_s, 1)
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
        self._spend(self._miss_j)
        if self._after_miss == "next":
            self._missed_beacon = True
            self._doze.miss()
        else:
            self._last_poll = self._doze.end(first_s)
            self._begin_rest(first_s)

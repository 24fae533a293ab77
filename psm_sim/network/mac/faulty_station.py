"""Faulty station on the air: it misses beacons, and its access point starts anew and forgets it."""

from __future__ import annotations

from typing import Any

from psm_sim.network.association import Association, is_null
from psm_sim.network.beacon_reception import BeaconReception
from psm_sim.network.mac.ap_queue import MacPort
from psm_sim.network.mac.power_management import RadioContext
from psm_sim.network.mac.radio import MacRadio
from psm_sim.network.mac.station_queue import WAKES
from psm_sim.network.missed_beacons import LossyBeaconRadio
from psm_sim.network.radio_state import BUSY, DOZING
from psm_sim.network.segment import Segment
from psm_sim.policies import Poll


class FaultyPort(MacPort):
    """Port as :class:`MacPort`, which drops what comes for a station that the access point has forgotten.

    Parameters
    ----------
    association
        Whether the access point still knows the station.
    arguments
        As for :class:`MacPort`.
    """

    def __init__(self, association: Association, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._association = association

    def forward(self, segment: Segment) -> None:
        """Take one frame for the station."""
        if self._association.lapsed:
            self._drop(segment)
        else:
            super().forward(segment)

    def empty(self) -> int:
        """Drop all that waits or is held; return how many frames were to be sent without being fetched."""
        waiting = self.retain()
        buffered, self._buffered = self._buffered, []
        for _, segment in buffered:
            self._drop(segment)
        if buffered and self.on_buffered:
            self._notify(self._env.now)
        return waiting

    def _drop(self, segment: Segment) -> None:
        self.dropped_frames += 1
        self.dropped_bytes += segment.wire_bytes


class FaultyRadio(LossyBeaconRadio, MacRadio):
    """Radio as :class:`MacRadio`, which can miss beacons, and associates anew.

    Parameters
    ----------
    association, reception
        Whether the access point knows the station, and which beacons are lost.
    place
        Where it is.
    arguments, more
        As for :class:`~psm_sim.network.radio.Radio`.
    """

    def __init__(
        self,
        association: Association,
        reception: BeaconReception,
        place: RadioContext,
        *arguments: Any,
        **more: Any,
    ) -> None:
        super().__init__(place, *arguments, **more)
        self._association = association
        self.configure_reception(reception, place.topology.station, place.topology.power, place.spend)

    def wake_to_send(self, now_s: float) -> Poll | None:
        """Be awake to send, after the time that this and a new association take."""
        delay_s, dozed = self._association.sends(), self._state is DOZING
        seen = super().wake_to_send(now_s)
        self._missed_beacon = self._missed_beacon and not dozed
        if delay_s:
            contender = self._outbox.contender
            contender.from_s = max(contender.from_s, now_s) + delay_s
        return seen

    def send(self, segment: Segment) -> None:
        """Send one segment, or say by a null frame that the station is awake."""
        if is_null(segment):
            self._state = BUSY
            self._push(WAKES)
        else:
            super().send(segment)

    def emptied(self, waiting: int) -> None:
        """Take note that nothing is held any more, nor sent of the frames that were *waiting*."""
        self._beacon_alarm.cancel()
        self._awaited -= waiting
        self._settle()

    def _wake_for_beacon(self) -> None:
        if self._hears or not self._at.tim_bit:
            return
        grid = self._place.beacons
        number = self._doze.number if self._state is DOZING else grid.after(self._env.now) - 1
        if not self._reception.lost(number):
            self._missed_beacon = False
            super()._wake_for_beacon()
        elif self._state is DOZING:
            self._miss()
            if self._state is DOZING:
                self.announced()
        else:
            self.beacons_missed += 1
            self.announced()

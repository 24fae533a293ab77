"""Radio of a device: needs time to wake, loses beacons, has a clock that drifts, and hears group frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from psm_sim.network.association import Association
from psm_sim.network.beacon_reception import BeaconReception
from psm_sim.network.link import Link
from psm_sim.network.missed_beacons import LossyBeaconRadio
from psm_sim.network.radio_state import AWAKE, BUSY, DOZING, SEND_ONLY, State
from psm_sim.network.segment import Segment
from psm_sim.network.topology_device import PowerParameters, StationParameters
from psm_sim.policies import Poll


class RadioTraits(NamedTuple):
    """Traits of a device's radio: how its clock and driver behave, what it draws, and what it hears.

    ``spend`` takes joules that belong to no state; ``uplink`` and ``downlink`` are its wireless links.
    """

    station: StationParameters
    power: PowerParameters
    reception: BeaconReception
    association: Association
    uplink: Link
    downlink: Link
    spend: Callable[[float], None]


class DeviceRadio(LossyBeaconRadio):
    """Radio as :class:`~psm_sim.network.radio.Radio`, and with what the papers' model leaves out.

    Parameters
    ----------
    traits
        How it differs.
    arguments, more
        As for :class:`~psm_sim.network.radio.Radio`.
    """

    def __init__(self, traits: RadioTraits, *arguments: Any, **more: Any) -> None:
        self._traits = traits
        station, awake_w = traits.station, traits.power.awake_w
        self._guard_j = awake_w * station.guard_ms / 1000
        self._drift_w = awake_w * station.drift_ppm * 1e-6
        self.configure_reception(traits.reception, station, traits.power, traits.spend)
        self._synchronized_s, self._last_s, self._woken = 0.0, 0.0, 0
        self.on_group: Callable[[Segment], None] = lambda _: None
        super().__init__(*arguments, **more)

    def wake_to_send(self, now_s: float) -> Poll | None:
        """Be awake to send, after the time that this takes."""
        self.advance(now_s)
        traits = self._traits
        delay_s = traits.association.sends()
        if self._state is DOZING:
            delay_s += traits.station.wake_ms / 1000
            traits.spend(traits.power.wake_j)
            self._missed_beacon = False
        if delay_s:
            traits.uplink.hold_until(now_s + delay_s)
            traits.downlink.hold_until(now_s + delay_s)
        return super().wake_to_send(now_s)

    def hears_group(self, number: int, frames: int) -> bool:
        """Say whether it is awake for group frames after the DTIM beacon of that number; if so it waits.

        Parameters
        ----------
        number
            The number of the beacon, which is sent now.
        frames
            How many group frames follow it.
        """
        self.advance(self._env.now)
        if self._state is DOZING and not self._hears_dtim(number):
            return False
        self._awaited += frames
        self._state = BUSY if self._state is AWAKE else self._state
        return True

    def receive_group(self, segment: Segment) -> None:
        """Take one group frame; those held meanwhile, for a radio awake only to send, go on waiting."""
        self._awaited -= 1
        self._last_frame_s = self._env.now
        self.on_group(segment)
        if self._state is SEND_ONLY and self._port.tim_bit:
            self.announced()

    def unannounced(self) -> None:
        """Take note that nothing is held any more: no plan to fetch it is left."""
        self._beacon_alarm.cancel()
        self._idle_alarm.cancel()

    def _hears_dtim(self, number: int) -> bool:
        if self._doze.number != number or self._reception.lost(number):
            return False
        self._missed_beacon = False
        if self._port.tim_bit:
            self._beacon_alarm.cancel()
            super()._wake_for_beacon()
        else:
            now_s = self._doze.wakes_s
            self._heard(now_s, 1)
            self._last_poll = self._doze.end(now_s)
            self._enter(BUSY, now_s)
        return True

    def _wake_for_beacon(self) -> None:
        if not self._port.tim_bit:
            return
        if self._reception.lost(self._doze.number):
            self._miss()
            if self._state is DOZING:
                self._beacon_alarm.at(self._doze.wakes_s)
        else:
            self._missed_beacon = False
            super()._wake_for_beacon()

    def _heard(self, first_s: float, count: int) -> None:
        self._last_s = first_s + (count - 1) * self._doze.every_s
        self._woken += count
        super()._heard(first_s, count)

    def _fall_asleep(self, since_s: float) -> None:
        if self._state is not DOZING:
            self._synchronized_s, self._last_s, self._woken = since_s, since_s, 0
        super()._fall_asleep(since_s)

    def _enter(self, state: State, time_s: float) -> None:
        """Change the state; at the end of a sleep its guard times are added up."""
        # Only here, since where every beacon is an event they are told one by one, and sums must be the same.
        if self._state is DOZING and state is not DOZING:
            asleep_s = self._last_s - self._synchronized_s
            self._traits.spend(self._woken * self._guard_j + asleep_s * self._drift_w)
        super()._enter(state, time_s)

"""Radio of a station with service periods: agreed ones (TWT), or those that it asks for (U-APSD)."""

from __future__ import annotations

from math import inf, nextafter
from typing import Any

from psm_sim.beacons import Beacons
from psm_sim.network.association import null_frame
from psm_sim.network.device.radio import DeviceRadio, RadioTraits
from psm_sim.network.device.service_port import ServicePort
from psm_sim.network.radio_state import AWAKE, BUSY, DOZING, SEND_ONLY
from psm_sim.network.segment import BufferedFrame, Segment
from psm_sim.policies import Poll
from psm_sim.policies.service_period import ServicePeriod


class ServiceRadio(DeviceRadio):
    """Radio that gets frames in service periods only; awake at other times, it is deaf.

    Parameters
    ----------
    service, traits
        The rule of the periods, and the rest of what differs.
    beacons
        The agreed periods, if there are any; else the beacons of the access point.
    port, arguments
        The port, and the other arguments as for :class:`~psm_sim.network.radio.Radio`.
    """

    def __init__(
        self,
        service: ServicePeriod,
        traits: RadioTraits,
        beacons: Beacons,
        port: ServicePort,
        *arguments: Any,
    ) -> None:
        self._service, self._periods, self._grid = service, port, beacons
        self._agreed = service.interval_s is not None
        self._more = self._asked = False
        env, doze, *others = arguments
        super().__init__(traits, env, doze, port, *others)

    def wake_to_send(self, now_s: float) -> Poll | None:
        """Be awake to send; a station that sends in agreed periods only dozes on."""
        if not self._service.uplink_waits:
            return super().wake_to_send(now_s)
        self.advance(now_s)
        self._traits.association.sends()
        self._state = BUSY if self._state is AWAKE else self._state
        return None

    def refuses(self) -> bool:
        """Take note that a frame comes; say whether it must wait: for a trigger, or since the radio dozes."""
        self.advance(self._env.now)
        outside = not self._agreed or self._env.now >= self._periods.ends_s
        if outside and self._state in (BUSY, AWAKE):
            self._state = SEND_ONLY
        return outside or self._state is DOZING

    def hears_group(self, number: int, frames: int) -> bool:
        """Say whether it hears group frames; with agreed periods it hears none.

        Parameters
        ----------
        number, frames
            As for :class:`~psm_sim.network.device.radio.DeviceRadio`.
        """
        return not self._agreed and super().hears_group(number, frames)

    def announced(self) -> None:
        """Plan to get what is held: in the next period, or once the radio has nothing more to send."""
        if self._state is AWAKE:
            self._idle_alarm.at(max(self._env.now, self._awake_until_s))
        elif self._state is BUSY:
            self._idle_alarm.at(max(self._env.now, self._idle_s()))
        else:
            super().announced()

    def receive(self, segment: Segment) -> None:
        """Take one frame; after the last one of a period trigger the next if more is held."""
        super().receive(segment)
        if not self._awaited and self._port.tim_bit:
            if not self._agreed and self._more:
                self._trigger()
            else:
                self.announced()

    def send(self, segment: Segment) -> None:
        """Send one segment: in an agreed period if it must wait for one; else it begins a period."""
        if self._service.uplink_waits:
            self._wait_for_period()
        super().send(segment)
        if not self._agreed:
            self._serve()

    def _trigger(self) -> None:
        self._uplink.send(null_frame())
        self._serve()

    def _serve(self) -> None:
        """Begin a period once what is being sent has been sent, unless one is under way."""
        if self._awaited or not self._port.tim_bit:
            return
        self._traits.downlink.hold_until(self._transmitter.free_at)
        self._asked = True
        self._retrieve()
        self._asked = False
        self._state, self._more = SEND_ONLY, self._port.tim_bit

    def _wait_for_period(self) -> None:
        """Let the uplink wait for the next agreed period, unless it is one, or something waits already."""
        now_s = self._env.now
        if self._transmitter.free_at <= now_s and now_s >= self._periods.ends_s:
            self._traits.uplink.hold_until(self._grid.time(self._grid.after(now_s)))

    def _hear(self, now_s: float) -> None:
        first_s = self._doze.wakes_s
        if self._transmitter.free_at <= first_s:
            super()._hear(now_s)
            return
        # What waited for this period is being sent.
        self._heard(first_s, 1)
        self._last_poll = self._doze.end(first_s)
        self._enter(BUSY, first_s)

    def _heard(self, first_s: float, count: int) -> None:
        super()._heard(first_s, count)
        if self._agreed:
            self._periods.ends_s = self._last_s + self._service.duration_s

    def _retrieve(self) -> list[BufferedFrame]:
        """Have frames sent, if need be after a null frame that asks for them."""
        if self._service.asks and not self._asked and self._port.tim_bit:
            self._uplink.send(null_frame())
            self._traits.downlink.hold_until(self._transmitter.free_at)
        return super()._retrieve()

    def _wake_for_beacon(self) -> None:
        super()._wake_for_beacon()
        if self._state is not BUSY:
            return
        if not self._agreed:
            self._state, self._more = SEND_ONLY, self._port.tim_bit
        elif not self._awaited and self._port.tim_bit:
            self.announced()

    def _wait(self, now_s: float, until_s: float) -> None:
        super()._wait(now_s, until_s)
        if self._state is AWAKE and self._port.tim_bit:
            self.announced()

    def _idle_while_send_only(self) -> None:
        """Ask for a rest once the link is idle and no period under way, since held frames wait for it."""
        now_s = self._env.now
        if self._state is AWAKE:
            self.advance(nextafter(now_s, inf))
        elif self._state is not DOZING and not self._awaited:
            if self._idle_s() > now_s:
                self._idle_alarm.at(self._idle_s())
            else:
                self._ask(now_s)

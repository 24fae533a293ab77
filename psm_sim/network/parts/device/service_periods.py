"""Port and radio of a station with service periods, negotiated (TWT) or triggered (U-APSD)."""

from __future__ import annotations

from math import inf, nextafter
from typing import Any

from psm_sim.beacons import Beacons
from psm_sim.common.errors import InputError
from psm_sim.network.energy_ledger import EnergyLedger
from psm_sim.network.parts.device.access_point_port import DevicePort
from psm_sim.network.parts.device.radio import DeviceRadio
from psm_sim.network.radio import AWAKE, BUSY, DOZING, SEND_ONLY
from psm_sim.network.segment import NULL_BYTES, BufferedFrame, Segment, null_frame
from psm_sim.network.topology import Topology
from psm_sim.network.topology_sections import PowerParameters
from psm_sim.policies import Poll
from psm_sim.policies.base import ServicePeriod


def check_service_period(topology: Topology, service: ServicePeriod | None) -> None:
    """Raise an error if the service periods are too short for a full frame."""
    tcp, hop = topology.tcp, topology.wireless
    air_s = 8e-6 * (tcp.segment_bytes + tcp.header_bytes + NULL_BYTES) / hop.rate_mbps
    if service is not None and air_s > service.duration_s:
        raise InputError(
            f"policy: service periods must be at least as long as a full frame ({air_s:g} s), got"
            f" {service.duration_s:g} s; increase their duration or links.wireless.rate_mbps, or reduce"
            " tcp.segment_bytes."
        )


class ServicePeriodLedger(EnergyLedger):
    """Energy ledger of a station with TWT, which is awake for *overhead_s* around each service period."""

    def __init__(self, power: PowerParameters, overhead_s: float) -> None:
        super().__init__(power)
        self._overhead_s, self._periods = overhead_s, 0

    def radio(self, time_s: float, awake: bool) -> None:
        """Count the time since the last change as time in the previous state."""
        super().radio(time_s, awake)
        self._periods = 0

    def beacons(self, first_s: float, count: int, every_s: float) -> None:
        """Count periods, each of which adds its overhead to the time awake."""
        self._periods += count

    def _listening_s(self) -> float:
        return super()._listening_s() + self._periods * self._overhead_s


class ServicePeriodPort(DevicePort):
    """Port that transmits a frame only if it ends before ``ends_s``, the end of the service period."""

    radio: ServicePeriodRadio

    def __init__(self, service: ServicePeriod, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.release_on_uplink = self.late_frames_wait = False
        self._max_frames = service.frames or inf
        self.ends_s = inf if service.interval_s is None else -inf

    def forward(self, segment: Segment) -> None:
        """Forward one frame if it fits into the current period, else buffer it."""
        self._drop_old()
        if self.radio.refuses() or self._buffered or not self._fits(segment):
            self._buffer_or_drop(segment)
        else:
            super().forward(segment)

    def release(self) -> list[BufferedFrame]:
        """Send and return the buffered frames that fit into the current period."""
        self._drop_old()
        sent: list[BufferedFrame] = []
        while self._buffered and len(sent) < self._max_frames and self._fits(self._buffered[0][1]):
            sent.append(self._buffered.pop(0))
            if self.on_buffered:
                self._notify(self._env.now, 1)
            self._last = sent[-1][1]
            self.downlink.send(self._last)
        return sent

    def _fits(self, segment: Segment) -> bool:
        begins_s = max(self._env.now, self.downlink.free_at)
        return begins_s + self.downlink.air_time_s(segment) <= self.ends_s

    def _buffer_or_drop(self, segment: Segment) -> None:
        """Buffer a frame, or drop it if the buffer is full or the association has expired."""
        if self._association.lapsed or len(self._buffered) + len(self._flying) >= self._capacity:
            self._drop(segment)
            return
        self._buffer(segment)


class ServicePeriodRadio(DeviceRadio):
    """Radio that receives frames in service periods only. Between periods, its port buffers them."""

    _port: ServicePeriodPort

    def __init__(self, service: ServicePeriod, grid: Beacons, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._service, self._grid = service, grid
        self._agreed = service.interval_s is not None  # whether there is a TWT agreement
        self._more = self._triggered = False

    def wake_to_send(self, now_s: float) -> Poll | None:
        """Wake up to transmit. A station that transmits only in TWT periods continues to doze."""
        if not self._service.uplink_waits:
            return super().wake_to_send(now_s)
        self.advance(now_s)
        self._association.sends()
        self._state = BUSY if self._state is AWAKE else self._state
        return None

    def refuses(self) -> bool:
        """Handle a frame that reaches the port. Return whether the frame must wait."""
        self.advance(self._env.now)
        outside = not self._agreed or self._env.now >= self._port.ends_s
        if outside and self._state in (BUSY, AWAKE):
            self._state = SEND_ONLY
        return outside or self._state is DOZING

    def accepts_group(self, number: int, frames: int) -> bool:
        """Return whether the radio receives group addressed frames. With TWT it receives none."""
        return not self._agreed and super().accepts_group(number, frames)

    def announced(self) -> None:
        """Handle buffered frames: wake at the end of the doze, or get a decision once the link is idle."""
        if self._state is AWAKE:
            self._idle_alarm.at(max(self._env.now, self._awake_until_s))
        elif self._state is BUSY:
            self._idle_alarm.at(max(self._env.now, self._idle_s()))
        else:
            super().announced()

    def receive(self, segment: Segment) -> None:
        """Receive a frame. After the last frame of a period, trigger the next period if necessary."""
        super().receive(segment)
        if not self._awaited and self._port.tim_bit:
            if not self._agreed and self._more:
                self._trigger()
            else:
                self.announced()

    def send(self, segment: Segment) -> None:
        """Transmit one segment, which waits for a TWT period or triggers a U-APSD period."""
        if self._service.uplink_waits:
            self._wait_for_period()
        super().send(segment)
        if not self._agreed:
            self._serve()

    def _trigger(self) -> None:
        self._uplink.send(null_frame())
        self._serve()

    def _serve(self) -> None:
        """Begin a period after the current transmission, unless a period is in progress."""
        if self._awaited or not self._port.tim_bit:
            return
        self._port.downlink.hold_until(self._transmitter.free_at)
        self._triggered = True
        self._retrieve()
        self._triggered = False
        self._state, self._more = SEND_ONLY, self._port.tim_bit

    def _wait_for_period(self) -> None:
        """Delay frames of an idle uplink until the next TWT period begins, unless a period is in progress."""
        now_s = self._env.now
        if self._transmitter.free_at <= now_s and now_s >= self._port.ends_s:
            self._uplink.hold_until(self._grid.time(self._grid.after(now_s)))

    def _receive_beacons(self, now_s: float) -> None:
        first_s = self._doze.wakes_s
        if self._transmitter.free_at <= first_s:
            super()._receive_beacons(now_s)
            return
        # Uplink frames that waited for this period are being transmitted.
        self._record_beacons(first_s, 1)
        self._last_poll = self._doze.end(first_s)
        self._enter(BUSY, first_s)

    def _record_beacons(self, first_s: float, count: int) -> None:
        super()._record_beacons(first_s, count)
        if self._agreed:
            self._port.ends_s = self._last_s + self._service.duration_s

    def _retrieve(self) -> list[BufferedFrame]:
        """Retrieve the buffered frames, after a null data frame if the service requires a request."""
        if self._service.asks and not self._triggered and self._port.tim_bit:
            self._uplink.send(null_frame())
            self._port.downlink.hold_until(self._transmitter.free_at)
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
        """Get the next decision, so that buffered frames can be retrieved.

        If a frame is still being transmitted, wait for its end.
        """
        now_s = self._env.now
        if self._state is AWAKE:
            self.advance(nextafter(now_s, inf))
        elif self._state is not DOZING and not self._awaited:
            if self._idle_s() > now_s:
                self._idle_alarm.at(self._idle_s())
            else:
                self._begin_rest(now_s)

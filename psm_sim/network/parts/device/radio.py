"""Radio with wake-up time, beacon loss, clock drift and group addressed frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from psm_sim.network.link import Link
from psm_sim.network.parts.association_timeout import Association
from psm_sim.network.parts.beacon_loss import LossyBeaconRadio
from psm_sim.network.radio import AWAKE, BUSY, DOZING, SEND_ONLY, State
from psm_sim.network.segment import Segment
from psm_sim.policies import Poll


class DeviceRadio(LossyBeaconRadio):
    """Radio of a real device. *beacon_delay_s* is the mean time by which a busy channel delays a beacon."""

    _uplink: Link

    def __init__(self, association: Association, beacon_delay_s: float, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._association = association
        self._guard_s = self._station.guard_ms / 1000 + beacon_delay_s
        self._drift = self._station.drift_ppm * 1e-6
        self._synchronized_s, self._last_s, self._woken = 0.0, 0.0, 0
        self.on_group: Callable[[Segment], None] = lambda _: None

    def wake_to_send(self, now_s: float) -> Poll | None:
        """Wake up to transmit, after the wake-up time and, if needed, a new association."""
        self.advance(now_s)
        delay_s = self._association.sends()
        if self._state is DOZING:
            delay_s += self._station.wake_ms / 1000
            self._ledger.wake_up()
            self._missed_beacon = False
        if delay_s:
            self._uplink.hold_until(now_s + delay_s)
            self._port.downlink.hold_until(now_s + delay_s)
        return super().wake_to_send(now_s)

    def settle(self, now_s: float) -> None:
        """Advance to *now_s*. In a doze, add the listening time so far to the ledger."""
        super().settle(now_s)
        if self._state is DOZING:
            self._count_guard_times()

    def accepts_group(self, number: int, frames: int) -> bool:
        """Return whether the radio receives the group addressed *frames* that follow DTIM beacon *number*."""
        self.advance(self._env.now)
        if self._state is DOZING and not self._receives_dtim(number):
            return False
        self._awaited += frames
        self._state = BUSY if self._state is AWAKE else self._state
        return True

    def receive_group(self, segment: Segment) -> None:
        """Receive one group addressed frame. This does not retrieve buffered frames."""
        self._awaited -= 1
        self._last_frame_s = self._env.now
        self.on_group(segment)
        if self._state is SEND_ONLY and self._port.tim_bit:
            self.announced()

    def unannounced(self) -> None:
        """Cancel the planned wake-up, because the access point has lost all buffered frames."""
        self._beacon_alarm.cancel()
        self._idle_alarm.cancel()

    def _receives_dtim(self, number: int) -> bool:
        if self._doze.number != number or self._reception.lost(number):
            return False
        self._missed_beacon = False
        if self._port.tim_bit:
            self._beacon_alarm.cancel()
            super()._wake_for_beacon()
        else:
            now_s = self._doze.wakes_s
            self._record_beacons(now_s, 1)
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

    def _record_beacons(self, first_s: float, count: int) -> None:
        self._last_s = first_s + (count - 1) * self._doze.every_s
        self._woken += count
        super()._record_beacons(first_s, count)

    def _fall_asleep(self, since_s: float) -> None:
        if self._state is not DOZING:
            self._synchronized_s, self._last_s, self._woken = since_s, since_s, 0
        super()._fall_asleep(since_s)

    def _enter(self, state: State, time_s: float) -> None:
        """Change the state. At the end of a doze, add its listening time to the ledger."""
        # Count once per doze, so that the sums are the same with and without an event for every beacon.
        if self._state is DOZING and state is not DOZING:
            self._count_guard_times()
        super()._enter(state, time_s)

    def _count_guard_times(self) -> None:
        asleep_s = self._last_s - self._synchronized_s
        self._ledger.listen(self._woken * self._guard_s + asleep_s * self._drift)
        self._synchronized_s, self._woken = self._last_s, 0

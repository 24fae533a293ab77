"""Radio that receives beacons and retrieves buffered frames by PS-Polls over the DCF."""

from __future__ import annotations

from typing import Any

from psm_sim.network.parts.mac.power_managed_radio import PowerManagedRadio, RadioContext
from psm_sim.network.parts.mac.station_queue import NULL_AWAKE, PS_POLL, Item
from psm_sim.network.radio import BUSY, DOZING
from psm_sim.network.segment import Segment
from psm_sim.policies import Poll


class MacRadio(PowerManagedRadio):
    """Radio as :class:`~psm_sim.network.radio.Radio`, over the DCF. It never enters SEND_ONLY.

    A station that the access point considers dozing receives the beacon with its TIM bit to its end,
    even if it is awake. It then sends a PS-Poll for each frame until the More Data bit is 0. Frames that
    arrive later are announced by the next beacon. The station is awake from the time at which the
    beacon is due.

    Parameters
    ----------
    context
        Environment of the radio.
    arguments, more
        As for :class:`~psm_sim.network.radio.Radio`.
    """

    def __init__(self, context: RadioContext, *arguments: Any, **more: Any) -> None:
        super().__init__(context, *arguments, **more)
        self._uses_ps_poll = context.topology.mac.fetch == "ps-poll"
        self._awaiting_beacon = False

    def wake_to_send(self, now_s: float) -> Poll | None:
        """Wake up to transmit. The frame is sent after the wake-up time ``station.wake_ms``."""
        self.advance(now_s)
        if self._state is not DOZING:
            self._stay_awake()
            return None
        station, power = self._context.topology.station, self._context.topology.power
        self._context.spend(power.wake_j)
        self._queue.contender.earliest_s = now_s + station.wake_ms / 1000
        return self._interrupt_doze(now_s)

    def send(self, segment: Segment) -> None:
        """Send a segment. The radio must be awake to send."""
        self._awaited += 1
        self._uplink.send(segment)

    def receive(self, segment: Segment) -> None:
        """Receive a frame that the access point has sent without a PS-Poll."""
        self.transmitted(self._context.timing.ack_s)
        self._finish_awaited()
        self.deliver(segment)
        self._arm_idle_alarm()

    def announced(self) -> None:
        """Plan to receive the next beacon, in which the station's TIM bit is set."""
        if self._state is DOZING:
            self._beacon_alarm.at(self._doze.wakes_s)
        else:
            grid = self._context.beacons
            self._beacon_alarm.at(grid.time(grid.after(self._env.now)))

    def polled(self, segment: Segment | None, more: bool) -> None:
        """Handle the answer to a PS-Poll, and send the next one if More Data is set."""
        self._finish_awaited()
        if segment is not None:
            self.deliver(segment)
        if more and not self._mac_port.awake:
            self._push(PS_POLL)
        elif self._mac_port.tim_bit:
            self.announced()
        self._arm_idle_alarm()

    def lost(self, item: Item) -> None:
        """Handle a dropped frame. After a dropped PS-Poll, buffered frames wait for the next beacon."""
        super().lost(item)
        if item is PS_POLL and self._mac_port.tim_bit:
            self.announced()

    def _interrupt_doze(self, now_s: float) -> Poll:
        """Wake up to transmit. The poll has the buffered frames if an uplink frame releases them."""
        self._enter(BUSY, now_s)
        if self._mac_port.tim_bit:
            self.announced()
        return self._doze.end(now_s, self._mac_port.buffered if self._mac_port.release_on_uplink else ())

    def _wake_for_beacon(self) -> None:
        """Receive the beacon whose TIM bit is set to its end."""
        if self._awaiting_beacon or not self._mac_port.tim_bit:
            return
        if self._state is DOZING:
            now_s = self._doze.wakes_s
            self._record_beacons(now_s, 1)
            self._enter(BUSY, now_s)
            self._last_poll = self._doze.end(now_s, self._mac_port.buffered)
        self._stay_awake()
        self._awaiting_beacon = True
        self._awaited += 1
        self._channel.await_beacon(self._finish_beacon)

    def _finish_beacon(self) -> None:
        self._awaiting_beacon = False
        self._finish_awaited()
        if self._mac_port.tim_bit and not self._mac_port.awake:
            # Stations that the same beacon announces draw backoffs, so that their frames rarely collide.
            self._push(
                PS_POLL if self._uses_ps_poll else NULL_AWAKE, immediate=not self._context.several_tim_bits()
            )
        self._arm_idle_alarm()

"""Radio on the air: hears the beacons that name it, and fetches frames by PS-Polls."""

from __future__ import annotations

from typing import Any

from psm_sim.network.mac.power_management import PowerManagedRadio, RadioContext
from psm_sim.network.mac.station_queue import POLL, WAKES, Item
from psm_sim.network.radio_state import BUSY, DOZING
from psm_sim.network.segment import Segment
from psm_sim.policies import Poll


class MacRadio(PowerManagedRadio):
    """Radio as :class:`~psm_sim.network.radio.Radio`, over the air; never DEAF.

    Awake or not, a station that is taken to doze hears the beacon that names it to its end, and then sends a
    PS-Poll for each frame, until one says that there is no more. Frames that come later wait for the next
    beacon. It is awake from the time at which the beacon is due.

    Parameters
    ----------
    place
        Where it is.
    arguments, more
        As for :class:`~psm_sim.network.radio.Radio`.
    """

    def __init__(self, place: RadioContext, *arguments: Any, **more: Any) -> None:
        super().__init__(place, *arguments, **more)
        self._by_poll = place.topology.mac.fetch == "ps-poll"
        self._hears = False

    def wake_to_send(self, now_s: float) -> Poll | None:
        """Be awake to send, after the time that this takes."""
        self.advance(now_s)
        if self._state is not DOZING:
            self._stay()
            return None
        station, power = self._place.topology.station, self._place.topology.power
        self._place.spend(power.wake_j)
        self._outbox.contender.from_s = now_s + station.wake_ms / 1000
        return self._interrupt_doze(now_s)

    def send(self, segment: Segment) -> None:
        """Send one segment; the radio must be awake to send."""
        self._awaited += 1
        self._uplink.send(segment)

    def receive(self, segment: Segment) -> None:
        """Take one frame that the access point has sent by itself."""
        self.transmitted(self._place.timing.ack_s)
        self._over()
        self.deliver(segment)
        self._settle()

    def announced(self) -> None:
        """Plan to hear the beacon that names the station."""
        if self._state is DOZING:
            self._beacon_alarm.at(self._doze.wakes_s)
        else:
            grid = self._place.beacons
            self._beacon_alarm.at(grid.time(grid.after(self._env.now)))

    def polled(self, segment: Segment | None, more: bool) -> None:
        """Take the answer to a PS-Poll, and send the next one if there is more."""
        self._over()
        if segment is not None:
            self.deliver(segment)
        if more and not self._at.awake:
            self._push(POLL)
        elif self._at.tim_bit:
            self.announced()
        self._settle()

    def lost(self, item: Item) -> None:
        """Go on without a frame; held frames wait for the next beacon."""
        super().lost(item)
        if item is POLL and self._at.tim_bit:
            self.announced()

    def _interrupt_doze(self, now_s: float) -> Poll:
        """Wake to send; return what was held, if the frame will have the access point hand it over."""
        self._enter(BUSY, now_s)
        if self._at.tim_bit:
            self.announced()
        return self._doze.end(now_s, self._at.buffered if self._at.release_on_uplink else ())

    def _wake_for_beacon(self) -> None:
        """Hear the beacon that names the station to its end."""
        if self._hears or not self._at.tim_bit:
            return
        if self._state is DOZING:
            now_s = self._doze.wakes_s
            self._heard(now_s, 1)
            self._enter(BUSY, now_s)
            self._last_poll = self._doze.end(now_s, self._at.buffered)
        self._stay()
        self._hears = True
        self._awaited += 1
        self._air.hear(self._has_heard)

    def _has_heard(self) -> None:
        self._hears = False
        self._over()
        if self._at.tim_bit and not self._at.awake:
            self._push(POLL if self._by_poll else WAKES, hurried=not self._place.crowded())
        self._settle()

"""Announcing radio: what the access point is told by the power-management bit of a station's frames."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple

from psm_sim.beacons import TOLERANCE_S, Beacons
from psm_sim.network.frame_timing import FrameTiming
from psm_sim.network.mac.air_link import AirLink
from psm_sim.network.mac.ap_queue import MacPort
from psm_sim.network.mac.channel import Channel
from psm_sim.network.mac.station_queue import DOZES, POLL, WAKES, ControlFrame, Item, StationQueue
from psm_sim.network.radio import Radio
from psm_sim.network.radio_state import AWAKE, BUSY
from psm_sim.network.segment import Segment
from psm_sim.network.topology import Topology


class RadioContext(NamedTuple):
    """Place of a radio: the scenario, the air, its times, the beacons, and the station's port and way up.

    ``crowded`` says whether a beacon names other stations too; ``spend`` takes joules of no state.
    """

    topology: Topology
    air: Channel
    timing: FrameTiming
    beacons: Beacons
    port: MacPort
    link: AirLink
    crowded: Callable[[], bool]
    spend: Callable[[float], None]


class PowerManagedRadio(Radio):
    """Radio of which the access point knows what the power-management bit has last said.

    Before a station that is taken to be awake dozes, it sends a null frame; and so it does before it waits
    awake, if it is taken to doze. A data frame says that it is awake where
    ``access_point.release_on_uplink`` is true; else its bit stays as it was. What an idle radio did is
    worked out afterwards, and then its null frames are not put on the air. It counts as awaited what it has
    to send, and what the access point has for a station that it takes to be awake.

    Parameters
    ----------
    place
        Where it is.
    arguments, more
        As for :class:`~psm_sim.network.radio.Radio`.
    """

    def __init__(self, place: RadioContext, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._place, self._at, self._air = place, place.port, place.air
        first = place.topology.mac.poll_first
        self._outbox = StationQueue(place.air, place.timing, place.link, place.port, self, first)
        power = place.topology.power
        self._more_w = 0.0 if power.transmit_w is None else power.transmit_w - power.awake_w
        self._known = False

    def offer(self) -> bool:
        """Say whether the access point takes the station to be awake; then it stays awake for the frame."""
        self.advance(self._env.now)
        if self._at.awake:
            self._awaited += 1
            self._stay()
        return self._at.awake

    def transmitted(self, air_s: float) -> None:
        """Charge what transmitting takes beyond being awake, for a time in seconds."""
        if self._more_w:
            self._place.spend(self._more_w * air_s)

    def sent(self, item: Item) -> None:
        """Take note of an ACK: the access point now has the frame, and its power-management bit."""
        self._over()
        if item is DOZES:
            self._ap_sees_doze()
        elif item is WAKES or self._at.release_on_uplink:
            self._ap_sees_awake()
        if isinstance(item, Segment):
            self._place.link.deliver(item)
        self._settle()

    def polled(self, segment: Segment | None, more: bool) -> None:
        """Take the answer to a PS-Poll, and whether there is more."""
        self._over()
        self._settle()

    def lost(self, item: Item) -> None:
        """Go on without a frame; what a null frame says is said again."""
        self._over()
        if item is DOZES or item is WAKES:
            self._push(item)
        self._settle()

    def missed(self) -> None:
        """Go on without a frame that the access point has given up."""
        self._over()
        self._settle()

    def _over(self) -> None:
        """Count one frame less that is awaited; the radio is awake until the air is free."""
        self._awaited -= 1
        self._last_frame_s = max(self._air.free_s, self._env.now)

    def _settle(self) -> None:
        if not self._awaited and self._state is BUSY:
            self._idle_alarm.at(self._idle_s())

    def _stay(self) -> None:
        """Be busy; if a null frame is to say that it dozes, take it back."""
        self._state = BUSY
        if self._outbox.cancel(DOZES):
            self._awaited -= 1

    def _push(self, item: ControlFrame, hurried: bool = True) -> None:
        self._awaited += 1
        self._outbox.push(item, hurried)

    def _ap_sees_awake(self) -> None:
        """Have the access point send what it holds, by itself."""
        if self._at.awake:
            return
        self._at.awake = True
        self._beacon_alarm.cancel()
        if self._outbox.cancel(POLL):
            self._awaited -= 1
        if self._retrieve():
            self._state = BUSY

    def _ap_sees_doze(self) -> None:
        self._at.awake = False
        self._awaited -= self._at.retain()
        if self._at.tim_bit:
            self.announced()
        if not self._awaited:
            self._state, self._awake_until_s = AWAKE, self._last_frame_s
            self._idle_alarm.at(self._last_frame_s)

    def _wait(self, now_s: float, until_s: float) -> None:
        super()._wait(now_s, until_s)
        self._known = True
        if until_s < inf:
            self._idle_alarm.at(until_s)
        if not self._at.awake and now_s > self._env.now - TOLERANCE_S:
            self._push(WAKES)
        self._at.awake = self._at.awake or now_s <= self._env.now - TOLERANCE_S

    def _fall_asleep(self, since_s: float) -> None:
        if self._outbox.cancel(WAKES):
            self._awaited -= 1
        if self._awaited:
            self._state = BUSY
        elif self._at.awake and self._known and since_s > self._env.now - TOLERANCE_S:
            self._state = BUSY
            self._push(DOZES)
        else:
            self._at.awake, self._known = False, True
            super()._fall_asleep(since_s)

    def _idle_while_send_only(self) -> None:
        """Ask for a rest once the link is idle, or go to sleep once the wait is over."""
        now_s = self._env.now + TOLERANCE_S
        if self._state is AWAKE and self._awake_until_s <= now_s:
            self._fall_asleep(self._awake_until_s)
        elif self._state is BUSY and not self._awaited and self._idle_s() <= now_s:
            self._ask(self._idle_s())

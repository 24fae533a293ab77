"""Radio of a station that shares the channel, with PS-Polls and null data frames."""

from __future__ import annotations

from math import inf
from typing import Any

from psm_sim.beacons import TOLERANCE_S
from psm_sim.network.parts.association_timeout import Association
from psm_sim.network.parts.beacon_loss import LossyBeaconRadio
from psm_sim.network.parts.mac.air_link import AirLink
from psm_sim.network.parts.mac.ap_queue import MacPort
from psm_sim.network.parts.mac.bss import Bss
from psm_sim.network.parts.mac.station_queue import (
    NULL_AWAKE,
    NULL_DOZE,
    PS_POLL,
    ControlFrame,
    QueueItem,
    StationQueue,
)
from psm_sim.network.radio import AWAKE, BUSY, DOZING
from psm_sim.network.segment import Segment, is_null
from psm_sim.policies import Poll


class MacRadio(LossyBeaconRadio):
    """Radio that receives beacons and retrieves buffered frames over the DCF. It never enters SEND_ONLY.

    A station that the access point considers dozing receives the whole beacon in which its TIM bit is set,
    even if it is awake. It then sends a PS-Poll for each frame until the More Data bit is 0. Frames that
    reach the access point after that are announced by the next beacon. The station wakes when the beacon is
    due. If a busy channel delays the beacon, the station also listens during the delay.

    The access point learns the power state from the Power Management (PM) bit of received frames. Before the
    station dozes, it sends a null data frame if the access point considers it awake. Before the station stays
    awake, it sends a null data frame if the access point considers it dozing. If
    ``access_point.release_on_uplink`` is true, a data frame announces that the station is awake. Otherwise a
    data frame repeats the PM bit that the access point already knows. The behaviour of an idle radio is
    computed lazily, so its null data frames do not occupy the channel.

    Awaited frames are the frames that the radio has to send, and the frames that the access point has queued
    for it.
    """

    _port: MacPort
    _uplink: AirLink

    def __init__(self, bss: Bss, association: Association, fetch: str, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._bss, self._channel, self._grid = bss, bss.channel, bss.beacons
        self._association = association
        self._queue = StationQueue(self._channel, self._uplink, self._port, self)
        self._uses_ps_poll = fetch == "ps-poll"
        self._awaiting_beacon = False
        self._delay_s = 0.0  # delay of the beacons being received
        self._announces_doze = False  # the first doze, at the start of the run, needs no null data frame

    def offer(self) -> bool:
        """Return whether the access point considers the station awake. If so, await one more frame."""
        self.advance(self._env.now)
        if self._port.awake:
            self._awaited += 1
            self._stay_awake()
        return self._port.awake

    def wake_to_send(self, now_s: float) -> Poll | None:
        """Wake up to transmit. The frame waits for the wake-up and, if necessary, for a new association."""
        delay_s, dozed = self._association.sends(), self._state is DOZING
        contender, poll = self._queue.contender, None
        self.advance(now_s)
        if self._state is DOZING:
            self._ledger.wake_up()
            contender.earliest_s = now_s + self._station.wake_ms / 1000
            poll = self._interrupt_doze(now_s)
        else:
            self._stay_awake()
        self._missed_beacon = self._missed_beacon and not dozed
        if delay_s:
            contender.earliest_s = max(contender.earliest_s, now_s) + delay_s
        return poll

    def send(self, segment: Segment) -> None:
        """Send a segment. The radio must be awake to send. A null frame is sent with PM = 0."""
        if is_null(segment):
            self._state = BUSY
            self._push(NULL_AWAKE)
            return
        self._awaited += 1
        self._uplink.send(segment)

    def receive(self, segment: Segment) -> None:
        """Receive a frame that the access point has sent without a PS-Poll."""
        self._finish_awaited()
        self.deliver(segment)
        self._arm_idle_alarm()

    def announced(self) -> None:
        """Handle buffered frames: plan to receive the next beacon, or the beacon that ends the doze."""
        if self._state is DOZING:
            self._beacon_alarm.at(self._doze.wakes_s)
        else:
            self._beacon_alarm.at(self._grid.time(self._grid.after(self._env.now)))

    def transmitted(self, air_s: float) -> None:
        """Count *air_s* seconds of transmission."""
        self._ledger.transmit(air_s)

    def sent(self, item: QueueItem, repeated: bool = False, acknowledged: bool = True) -> None:
        """Handle a frame that the access point has received, and the frame's PM bit.

        Parameters
        ----------
        item
            The frame.
        repeated
            Whether the access point had received the frame before. If so, it does not forward the frame
            again.
        acknowledged
            Whether the station receives the ACK. If not, it sends the frame again.
        """
        if acknowledged:
            self._finish_awaited()
        if item is NULL_DOZE:
            self._ap_sees_doze()
        elif item is NULL_AWAKE or self._port.release_on_uplink:
            self._ap_sees_awake()
        if isinstance(item, Segment) and not repeated:
            self._uplink.deliver(item)
        self._arm_idle_alarm()

    def polled(self, segment: Segment | None, more: bool) -> None:
        """Handle the answer to a PS-Poll, and send the next one if *more* is set (More Data).

        The answer is a frame, or an ACK alone if *segment* is None.
        """
        self._finish_awaited()
        if segment is not None:
            self.deliver(segment)
        if more and not self._port.awake:
            self._push(PS_POLL)
        elif self._port.tim_bit:
            self.announced()
        self._arm_idle_alarm()

    def lost(self, item: QueueItem) -> None:
        """Handle a dropped frame.

        A null data frame is sent again. After a dropped PS-Poll, buffered frames wait for the next beacon.
        """
        self._finish_awaited()
        if item is NULL_DOZE or item is NULL_AWAKE:
            self._push(item)
        self._arm_idle_alarm()
        if item is PS_POLL and self._port.tim_bit:
            self.announced()

    def end_without_delivery(self) -> None:
        """Stop awaiting a frame that was dropped, or that the station had received before."""
        self._finish_awaited()
        self._arm_idle_alarm()

    def port_emptied(self, queued: int) -> None:
        """Handle the loss of all frames at the port. The radio awaited *queued* of them."""
        self._beacon_alarm.cancel()
        self._awaited -= queued
        self._arm_idle_alarm()

    def expect_repetition(self) -> None:
        """Await the repetition of a received frame whose ACK was lost."""
        self._awaited += 1

    def _finish_awaited(self) -> None:
        """Decrease the number of awaited frames. The radio stays awake until the channel is free."""
        self._awaited -= 1
        self._last_frame_s = max(self._channel.free_s, self._env.now)

    def _arm_idle_alarm(self) -> None:
        if not self._awaited and self._state is BUSY:
            self._idle_alarm.at(self._idle_s())

    def _stay_awake(self) -> None:
        """Enter BUSY, and cancel a queued null data frame with PM = 1."""
        self._state = BUSY
        if self._queue.cancel(NULL_DOZE):
            self._awaited -= 1

    def _push(self, item: ControlFrame, immediate: bool = True) -> None:
        self._awaited += 1
        self._queue.push(item, immediate)

    def _ap_sees_awake(self) -> None:
        """Let the access point send the buffered frames without further polls."""
        if self._port.awake:
            return
        self._port.awake = True
        self._beacon_alarm.cancel()
        if self._queue.cancel(PS_POLL):
            self._awaited -= 1
        if self._retrieve():
            self._state = BUSY

    def _ap_sees_doze(self) -> None:
        self._port.awake = False
        self._awaited -= self._port.rebuffer()
        if self._port.tim_bit:
            self.announced()
        if not self._awaited:
            self._state, self._awake_until_s = AWAKE, self._last_frame_s
            self._idle_alarm.at(self._last_frame_s)

    def _wait(self, now_s: float, until_s: float) -> None:
        super()._wait(now_s, until_s)
        self._announces_doze = True
        if until_s < inf:
            self._idle_alarm.at(until_s)
        if not self._port.awake and now_s > self._env.now - TOLERANCE_S:
            self._push(NULL_AWAKE)
        self._port.awake = self._port.awake or now_s <= self._env.now - TOLERANCE_S

    def _fall_asleep(self, since_s: float) -> None:
        if self._queue.cancel(NULL_AWAKE):
            self._awaited -= 1
        if self._awaited:
            self._state = BUSY
        elif self._port.awake and self._announces_doze and since_s > self._env.now - TOLERANCE_S:
            self._state = BUSY
            self._push(NULL_DOZE)
        else:
            self._port.awake, self._announces_doze = False, True
            # As in ns-3; the standard has no rule for the backoff in a doze.
            self._queue.contender.backoff = 0
            super()._fall_asleep(since_s)

    def _idle_while_send_only(self) -> None:
        """Begin to doze if the time to stay awake is over, or get a decision if the link is idle."""
        now_s = self._env.now + TOLERANCE_S
        if self._state is AWAKE and self._awake_until_s <= now_s:
            self._fall_asleep(self._awake_until_s)
        elif self._state is BUSY and not self._awaited and self._idle_s() <= now_s:
            self._begin_rest(self._idle_s())

    def _interrupt_doze(self, now_s: float) -> Poll:
        """End the doze to transmit. Return its poll, with frames only if ``release_on_uplink`` is true."""
        self._enter(BUSY, now_s)
        if self._port.tim_bit:
            self.announced()
        return self._doze.end(now_s, self._port.buffered if self._port.release_on_uplink else ())

    def _receive_beacons(self, now_s: float) -> None:
        super()._receive_beacons(now_s)
        if self._state is DOZING:  # otherwise the radio is awake from the time when the beacon is due
            self._ledger.listen(self._delay_s)
        self._delay_s = 0.0

    def _record_unannounced(self, first_s: float, count: int) -> None:
        """Record received beacons, and store the total time by which a busy channel delayed them."""
        first = self._grid.after(first_s) - 1
        self._delay_s = self._channel.beacon_delay_s(first, count, self._doze.every)
        super()._record_unannounced(first_s, count)

    def _wake_for_beacon(self) -> None:
        """Wake for a beacon in which the TIM bit is set, and receive the whole beacon unless it is lost."""
        if self._awaiting_beacon or not self._port.tim_bit:
            return
        number = self._doze.number if self._state is DOZING else self._grid.after(self._env.now) - 1
        if self._reception.lost(number):
            self._miss_announcement()
            return
        self._missed_beacon = False
        if self._state is DOZING:
            now_s = self._doze.wakes_s
            self._record_beacons(now_s, 1)
            self._enter(BUSY, now_s)
            self._last_poll = self._doze.end(now_s, self._port.buffered)
        self._stay_awake()
        self._awaiting_beacon = True
        self._awaited += 1
        self._channel.await_beacon(self._finish_beacon)

    def _miss_announcement(self) -> None:
        """Handle the loss of a beacon in which the TIM bit is set. The next beacon announces the frames."""
        if self._state is not DOZING:
            self.beacons_missed += 1
            self.announced()
            return
        self._miss()
        if self._state is DOZING:
            self.announced()

    def _finish_beacon(self) -> None:
        self._awaiting_beacon = False
        self._finish_awaited()
        if self._port.tim_bit and not self._port.awake:
            # If the TIM bits of several stations are set, they draw backoffs, so that frames rarely collide.
            fetch = PS_POLL if self._uses_ps_poll else NULL_AWAKE
            self._push(fetch, immediate=not self._bss.several_tim_bits())
        self._arm_idle_alarm()

"""Shared channel with the 802.11 distributed coordination function (DCF): contenders, backoffs, beacons."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple

from simpy import Environment, Event

from psm_sim.beacons import TOLERANCE_S, Beacons
from psm_sim.common.random_streams import random_stream
from psm_sim.network.parts.frame_timing import CW_MAX, FrameTiming
from psm_sim.network.parts.gilbert import uniform_numbers
from psm_sim.network.sniffed_link import AirCallback, AirFrame
from psm_sim.network.timers import LOWEST_PRIORITY, Alarm, ReusableEvent


class FrameError(NamedTuple):
    """Frame that is received with errors, which ends its exchange.

    Attributes
    ----------
    sender, receiver : Contender
        Sender and receiver of this frame.
    nav_s : float
        Time from the end of this frame to the planned end of the exchange, in seconds; 0 if no answer is due.
        After this frame, other contenders wait for ``nav_s``, the receiver waits for an EIFS, and the sender
        for its ACK timeout.
    retries : bool
        Whether the exchange must be repeated.
    """

    sender: Contender
    receiver: Contender
    nav_s: float
    retries: bool


class Exchange(NamedTuple):
    """Frame exchange that a contender begins.

    Attributes
    ----------
    first_s : float
        Duration of the first frame, in seconds. A collision wastes this time.
    delivery_s : float
        Time from the start of the exchange to the delivery of its data, in seconds.
    after_s : float
        Time from the delivery until the channel is free again, in seconds.
    on_delivered : callable
        Called at the delivery.
    error : FrameError or None
        The frame received with errors, which ends the exchange; None if there is none.
    protected_s : float
        Duration of the frame that an initial RTS protects, in seconds; 0 without RTS.
    """

    first_s: float
    delivery_s: float
    after_s: float
    on_delivered: Callable[[], None]
    error: FrameError | None = None
    protected_s: float = 0.0

    @property
    def sent_s(self) -> float:
        """Time for which the contender transmits if its first frame does not collide, in seconds."""
        return self.first_s + self.protected_s

    def and_then(self, then: Callable[[], None]) -> Exchange:
        """Return the exchange with a second callback, called after ``on_delivered``."""

        def on_delivered() -> None:
            self.on_delivered()
            then()

        return self._replace(on_delivered=on_delivered)


def nothing() -> None:
    """Deliver nothing."""


def answered_exchange(
    link: Any,
    ends: tuple[Contender, Contender],
    first_s: float,
    answer_s: float,
    answered: Callable[[], None],
    unanswered: Callable[[], None] = nothing,
) -> Exchange:
    """Return the exchange of a frame and its answer. *ends* are the sender and the receiver of the frame.

    Frame errors of *link* determine which of the two are received. At the end of a received frame, *answered*
    is called if its answer will be received, else *unanswered*. The durations are in seconds. *answer_s*
    includes the SIFS before the answer.
    """
    own, other = ends
    lost = link.first_error(2)
    if lost == 1:
        return Exchange(first_s, first_s, 0.0, nothing, FrameError(own, other, answer_s, retries=True))
    if lost == 2:
        error = FrameError(other, own, 0.0, retries=True)
        return Exchange(first_s, first_s, answer_s, unanswered, error)
    return Exchange(first_s, first_s, answer_s, answered)


class Contender:
    """State of one queue that competes for the channel.

    Attributes
    ----------
    source : ApQueue or StationQueue
        Queue whose frames the contender sends.
    backoff : int
        Remaining backoff, in idle slots.
    at_s : float
        Time at which the contender sends if the channel stays idle, in seconds.
    earliest_s : float
        Earliest time at which the contender counts its backoff down, in seconds, e.g. the end of its wake-up.
    pending : bool
        Whether the contender has a frame to send.
    """

    __slots__ = ("at_s", "backoff", "earliest_s", "pending", "retries", "source", "window")

    def __init__(self, source: Any, window: int) -> None:
        self.source, self.window = source, window
        self.backoff = self.retries = 0
        self.at_s = self.earliest_s = 0.0
        self.pending = False

    def schedule(self, now_s: float, free_s: float, timing: FrameTiming) -> None:
        """Set ``at_s`` to a slot boundary after the interframe space and the backoff."""
        start_s = max(free_s, self.earliest_s) + timing.sifs_s
        slots = timing.first_slots + self.backoff
        passed_s = now_s - start_s
        if passed_s > slots * timing.slot_s:
            slots = int(passed_s / timing.slot_s) + 1
        self.at_s = start_s + slots * timing.slot_s


class BeaconSchedule:
    """Schedule of the beacons, each sent a PIFS after it is due or after the channel becomes free.

    Beacons cost no events while no contender waits for the channel. Before the next contender waits,
    :meth:`catch_up` computes when the last beacon was sent.

    Attributes
    ----------
    listeners : list of callable
        Called once, at the end of the next beacon.
    on_late_beacon : list of AirCallback
        Called for each beacon that a busy channel delays.
    delays : list of (int, float)
        Number and delay in seconds of each late beacon, in ascending order.
    """

    def __init__(self, beacons: Beacons, timing: FrameTiming) -> None:
        self._beacons, self._air_s = beacons, timing.beacon_s
        self._pifs_s = timing.pifs_s
        self._sent = -1
        self.listeners: list[Callable[[], None]] = []
        self.on_late_beacon: list[AirCallback] = []
        self.delays: list[tuple[int, float]] = []

    def start_s(self, free_s: float) -> float:
        """Return the start of the next beacon in seconds, if the channel is free from *free_s* on."""
        return max(self._beacons.time(self._sent + 1), free_s) + self._pifs_s

    def mark_sent(self, now_s: float) -> None:
        """Mark all beacons that are due by *now_s* as sent."""
        self._sent = self._beacons.after(now_s) - 1

    def catch_up(self, now_s: float, free_s: float) -> float | None:
        """Mark beacons before *now_s* as sent. Return the last start; None if no further beacon was sent."""
        last = self._beacons.after(now_s - self._pifs_s) - 1
        if last <= self._sent:
            return None
        self._sent = last
        return max(self._beacons.time(last), free_s) + self._pifs_s

    def notify_listeners(self) -> None:
        """Call the listeners and remove them."""
        listeners, self.listeners = self.listeners, []
        for listener in listeners:
            listener()

    def report_late(self, free_s: float) -> None:
        """Report the next beacon if it is late: due before *free_s*, when the channel becomes free."""
        due_s = self._beacons.time(self._sent + 1)
        if due_s < free_s:
            self.delays.append((self._sent + 1, free_s - due_s))
            start_s, air_s = free_s + self._pifs_s, self._air_s
            late = AirFrame(
                "beacon", False, due_s, start_s, air_s, start_s + air_s, None, False, False, False
            )
            for notify in self.on_late_beacon:
                notify(late)


class Channel:
    """Channel of one access point, shared by contenders and beacons.

    A contender waits until the channel has been idle for a DIFS (or its AIFS) and then counts its backoff
    down in idle slots. Contenders that reach zero in the same slot collide. Backoffs are drawn after each
    exchange and when a frame finds the channel busy (802.11-2020, 10.3.4 and 10.23.2). A beacon precedes
    other frames because it waits only for a PIFS. Each exchange takes two events. An idle channel and beacons
    without listeners take no events.

    Parameters
    ----------
    env, timing, beacons
        The clock, the frame durations, and the times at which beacons are due.
    limit
        Maximum number of retransmissions of a frame.
    seed
        Seed of the random backoffs.

    Attributes
    ----------
    free_s : float
        End of the last exchange, including its ACK, in seconds. During the delivery of a frame that is
        acknowledged, this time is in the future.
    late : list of AirCallback
        Called for each beacon that a busy channel delays.
    collisions : int
        Number of collisions.
    """

    def __init__(
        self, env: Environment, timing: FrameTiming, beacons: Beacons, limit: int, seed: int
    ) -> None:
        self._env, self._timing, self._limit = env, timing, limit
        self._random = uniform_numbers(random_stream(seed, "network.backoffs"))
        self._beacon_schedule = BeaconSchedule(beacons, timing)
        self.late = self._beacon_schedule.on_late_beacon
        self._contenders: list[Contender] = []
        self._waiting: list[Contender] = []
        self._start_alarm = Alarm(env, self._start_next, LOWEST_PRIORITY)
        self._end = ReusableEvent(env, self._finish_exchange)
        self._current: tuple[Contender | None, Exchange] | None = None
        self._delivering = self._beacon_next = False
        self.collisions = 0
        self.free_s = 0.0

    def join(self, source: Any) -> Contender:
        """Return a new contender that sends the frames of *source*."""
        self._contenders.append(Contender(source, self._timing.cw_min))
        return self._contenders[-1]

    def request(self, contender: Contender, immediate: bool = True) -> None:
        """Let a contender with a frame compete for the channel.

        Unless *immediate* is true, it draws a backoff even if the channel is idle.
        """
        if contender.pending:
            return
        self._pass_beacons()
        contender.pending = True
        self._waiting.append(contender)
        # A frame that is queued while another one is delivered needs no backoff: in the SIFS before the ACK
        # the channel is idle.
        busy = self._current is not None or (self._env.now < self.free_s and not self._delivering)
        if contender.backoff == 0 and (busy or not immediate):
            contender.backoff = self._draw(contender.window)
        if self._current is None:
            contender.schedule(self._env.now, self.free_s, self._timing)
            self._schedule_next()

    def withdraw(self, contender: Contender) -> None:
        """Remove a contender whose queue has become empty before it could send."""
        if contender.pending and not contender.source.waiting():
            contender.pending = False
            self._waiting.remove(contender)
            self._schedule_next()

    def await_beacon(self, listener: Callable[[], None]) -> None:
        """Call *listener* once, at the end of the next beacon."""
        self._pass_beacons()
        self._beacon_schedule.listeners.append(listener)
        self._schedule_next()

    def beacon_delay_s(self, first: int, count: int, every: int) -> float:
        """Return the total delay of *count* beacons: number *first*, *first* + *every*, and so on.

        The delay excludes the usual PIFS. The delay of a beacon is known when the beacon is due.
        """
        delays = self._beacon_schedule.delays
        low = bisect_left(delays, (first, 0.0))
        high = bisect_left(delays, (first + (count - 1) * every + 1, 0.0))
        return sum([delay_s for number, delay_s in delays[low:high] if (number - first) % every == 0])

    def when_free(self, then: Callable[[], None]) -> None:
        """Call *then* after the delivery of the current exchange; at once if there is no exchange."""
        if self._current is None:
            then()
        else:
            self._current = self._current[0], self._current[1].and_then(then)

    def _draw(self, window: int) -> int:
        """Return a random backoff from 0 to the contention window inclusive, in slots."""
        return int(next(self._random) * (window + 1))

    def _schedule_next(self) -> None:
        """Set the alarm for the next transmission, unless an exchange is in progress."""
        if self._current is not None or self._delivering:
            return
        at_s = min([contender.at_s for contender in self._waiting], default=inf)
        if self._waiting or self._beacon_schedule.listeners:
            beacon_s = self._beacon_schedule.start_s(self.free_s)
            self._beacon_next = beacon_s <= at_s
            self._start_alarm.at(min(beacon_s, at_s))
        else:
            self._start_alarm.cancel()

    def _start_next(self) -> None:
        now_s = self._env.now
        self._freeze(now_s)
        if self._beacon_next:
            self._send_beacon(now_s)
            return
        first = [contender for contender in self._waiting if contender.at_s <= now_s + TOLERANCE_S]
        if len(first) > 1:
            self._collide(first, now_s)
        else:
            self._begin(first[0], first[0].source.exchange(now_s))

    def _begin(self, contender: Contender | None, exchange: Exchange) -> None:
        self._current = (contender, exchange)
        ends_s = self._env.now + exchange.delivery_s
        self._end.arm(ends_s)
        self._beacon_schedule.report_late(ends_s + exchange.after_s)

    def _finish_exchange(self, _: Event) -> None:
        """Deliver the frame, and schedule the next transmission after the end of the exchange."""
        if self._current is None:
            return
        (contender, exchange), self._current = self._current, None
        self.free_s = self._env.now + exchange.after_s
        retries = exchange.error is not None and exchange.error.retries
        if contender is not None and not retries:
            contender.retries, contender.window = 0, self._timing.cw_min
            contender.backoff = self._draw(contender.window)
        self._delivering = True
        exchange.on_delivered()
        self._delivering = False
        if exchange.error is not None:
            self._defer(exchange.error)
        if contender is not None and retries:
            self._retry(contender, exchange.sent_s)
        self._resume([] if contender is None else [contender])

    def _defer(self, error: FrameError) -> None:
        """Let the contenders wait after a frame with errors that has just ended."""
        waits_s = {error.receiver: self._timing.eifs_s, error.sender: error.nav_s and self._timing.timeout_s}
        for contender in self._contenders:
            earliest_s = self.free_s + waits_s.get(contender, error.nav_s)
            contender.earliest_s = max(contender.earliest_s, earliest_s)

    def _resume(self, sent: list[Contender]) -> None:
        """Schedule the next transmission. The contenders in *sent* have just transmitted."""
        for contender in sent:
            if contender.pending and not contender.source.waiting():
                contender.pending = False
                self._waiting.remove(contender)
        now_s, free_s, timing = self._env.now, self.free_s, self._timing
        for contender in self._waiting:
            contender.schedule(now_s, free_s, timing)
        self._schedule_next()

    def _freeze(self, time_s: float) -> None:
        """Subtract the idle slots before *time_s* from all backoffs, because the channel is now busy."""
        slot_s, first = self._timing.slot_s, self._timing.first_slots
        for contender in self._contenders:
            if contender.backoff:
                idle_s = time_s - max(self.free_s, contender.earliest_s) - self._timing.sifs_s
                counted = int((idle_s + TOLERANCE_S) / slot_s) - first
                if counted > 0:
                    contender.backoff = max(0, contender.backoff - counted)

    def _collide(self, colliding: list[Contender], now_s: float) -> None:
        """Transmit colliding frames; none of them is received."""
        self.collisions += 1
        ends_s = {contender: now_s + contender.source.exchange(now_s).first_s for contender in colliding}
        self.free_s = max(ends_s.values())
        self._beacon_schedule.report_late(self.free_s)
        for contender in self._contenders:
            contender.earliest_s = max(contender.earliest_s, self.free_s + self._timing.after_collision_s)
        for contender, end_s in ends_s.items():
            contender.earliest_s = end_s + self._timing.timeout_s
            self._retry(contender, end_s - now_s)
        self._resume(colliding)

    def _retry(self, contender: Contender, first_s: float) -> None:
        contender.source.collided(first_s)
        contender.retries += 1
        contender.window = min(2 * contender.window + 1, CW_MAX)
        if contender.retries > self._limit:
            contender.retries, contender.window = 0, self._timing.cw_min
            contender.source.lost()
        contender.backoff = self._draw(contender.window)

    def _send_beacon(self, now_s: float) -> None:
        self._beacon_schedule.mark_sent(now_s)
        self.free_s = now_s + self._timing.beacon_s
        if self._beacon_schedule.listeners:
            self._begin(
                None, Exchange(0.0, self._timing.beacon_s, 0.0, self._beacon_schedule.notify_listeners)
            )
        else:
            self._beacon_schedule.report_late(self.free_s)
            self._resume([])

    def _pass_beacons(self) -> None:
        """Mark the beacons that were sent while no contender waited, and count backoffs down until then."""
        if self._waiting or self._beacon_schedule.listeners or self._current is not None:
            return
        start_s = self._beacon_schedule.catch_up(self._env.now, self.free_s)
        if start_s is not None:
            self._freeze(start_s)
            self.free_s = start_s + self._timing.beacon_s

"""Air: one channel, on which one frame at a time is understood, shared by the rules of 802.11's DCF."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from simpy import Environment, Event

from psm_sim.beacons import TOLERANCE_S, Beacons
from psm_sim.network.frame_timing import FrameTiming
from psm_sim.network.mac.beacon_schedule import BeaconSchedule
from psm_sim.network.mac.channel_access import Contender, Exchange, FrameSource
from psm_sim.network.mac.random_backoffs import RandomBackoffs
from psm_sim.network.timers import LOWEST_PRIORITY, Alarm, ReusableEvent


class Channel:
    """Air of one access point: grants it to contenders, sends beacons, and lets frames collide.

    A contender waits until the air has been idle for a DIFS (or its AIFS), then counts its backoff down in
    idle slots. Two that reach zero in the same slot collide. Backoffs are drawn after each exchange, and
    when a frame finds the air busy (802.11-2020, 10.3.4 and 10.23.2). A beacon goes first, after a PIFS.
    Each exchange takes two events; an idle air takes none, and beacons that nobody waits for none either.

    ``free_s`` is the time in seconds at which the last exchange ends; while its last frame is delivered, the
    acknowledgement is already counted. ``late`` has who is told of beacons that must wait.

    Parameters
    ----------
    env, timing, beacons
        The clock, how long frames take, and when beacons are due.
    limit
        How often a frame is sent again before it is lost.
    backoffs
        Draws backoffs.
    """

    def __init__(
        self, env: Environment, timing: FrameTiming, beacons: Beacons, limit: int, backoffs: RandomBackoffs
    ) -> None:
        self._env, self._timing, self._limit, self._draw = env, timing, limit, backoffs.draw
        self._turn = BeaconSchedule(beacons, timing)
        self.late = self._turn.notify
        self._all: list[Contender] = []
        self._waiting: list[Contender] = []
        self._grant = Alarm(env, self._granted, LOWEST_PRIORITY)
        self._end = ReusableEvent(env, self._ended)
        self._current: tuple[Contender | None, Exchange] | None = None
        self._delivering = self._beacon_next = False
        self.collisions = 0
        self.free_s = 0.0

    def join(self, source: FrameSource) -> Contender:
        """Return a new contender, which sends what *source* has."""
        self._all.append(Contender(source, self._timing.cw_min))
        return self._all[-1]

    def ask(self, contender: Contender, hurried: bool = True) -> None:
        """Take note that a contender has something to send; unless *hurried*, it draws a backoff."""
        if contender.wants:
            return
        self._pass_beacons()
        contender.wants = True
        self._waiting.append(contender)
        # In the gap before an ACK nothing is on the air: what a delivered frame causes needs no backoff.
        busy = self._current is not None or (self._env.now < self.free_s and not self._delivering)
        if contender.backoff == 0 and (busy or not hurried):
            contender.backoff = self._draw(contender.window)
        if self._current is None:
            contender.place(self._env.now, self.free_s, self._timing)
            self._plan()

    def withdraw(self, contender: Contender) -> None:
        """Take note that a contender may have nothing to send any more, though it has not sent."""
        if contender.wants and not contender.source.waiting():
            contender.wants = False
            self._waiting.remove(contender)
            self._plan()

    def hear(self, listener: Callable[[], None]) -> None:
        """Call *listener* at the end of the beacon that is due now, or late."""
        self._pass_beacons()
        self._turn.listeners.append(listener)
        self._plan()

    def when_free(self, then: Callable[[], None]) -> None:
        """Call *then* now, or when the exchange that is on the air has been delivered."""
        if self._current is None:
            then()
        else:
            self._current = self._current[0], self._current[1].and_then(then)

    def _plan(self) -> None:
        """Set the alarm for the next frame on the air, unless one is there."""
        if self._current is not None or self._delivering:
            return
        at_s = min([each.at_s for each in self._waiting], default=inf)
        if self._waiting or self._turn.listeners:
            beacon_s = self._turn.start_s(self.free_s)
            self._beacon_next = beacon_s <= at_s
            self._grant.at(min(beacon_s, at_s))
        else:
            self._grant.cancel()

    def _granted(self) -> None:
        now_s = self._env.now
        self._freeze(now_s)
        if self._beacon_next:
            self._send_beacon(now_s)
            return
        first = [each for each in self._waiting if each.at_s <= now_s + TOLERANCE_S]
        if len(first) > 1:
            self._collide(first, now_s)
        else:
            self._begin(first[0], first[0].source.exchange(now_s))

    def _begin(self, contender: Contender | None, exchange: Exchange) -> None:
        self._current = (contender, exchange)
        ends_s = self._env.now + exchange.lasts_s
        self._end.arm(ends_s)
        if self.late:
            self._turn.defer(ends_s + exchange.after_s)

    def _ended(self, _: Event) -> None:
        """Deliver what has arrived; the rest of the exchange needs no event."""
        if self._current is None:
            return
        (contender, exchange), self._current = self._current, None
        self.free_s = self._env.now + exchange.after_s
        if contender is not None:
            contender.retries, contender.window = 0, self._timing.cw_min
            contender.backoff = self._draw(contender.window)
        self._delivering = True
        exchange.done()
        self._delivering = False
        self._go_on([] if contender is None else [contender])

    def _go_on(self, sent: list[Contender]) -> None:
        """Go on after some contenders have sent: they wait again if they have more."""
        for contender in sent:
            if contender.wants and not contender.source.waiting():
                contender.wants = False
                self._waiting.remove(contender)
        now_s, free_s, timing = self._env.now, self.free_s, self._timing
        for contender in self._waiting:
            contender.place(now_s, free_s, timing)
        self._plan()

    def _freeze(self, time_s: float) -> None:
        """Take the idle slots counted until *time_s* off all backoffs: now the air is busy."""
        slot_s, first = self._timing.slot_s, self._timing.first_slots
        for each in self._all:
            if each.backoff:
                idle_s = time_s - max(self.free_s, each.from_s) - self._timing.sifs_s
                counted = int((idle_s + TOLERANCE_S) / slot_s) - first
                if counted > 0:
                    each.backoff = max(0, each.backoff - counted)

    def _collide(self, colliding: list[Contender], now_s: float) -> None:
        """Let frames be sent at the same time, so that nobody understands any of them."""
        self.collisions += 1
        ends_s = {each: now_s + each.source.exchange(now_s).first_s for each in colliding}
        self.free_s = max(ends_s.values())
        self._turn.defer(self.free_s)
        for each in self._all:
            each.from_s = max(each.from_s, self.free_s + self._timing.eifs_s)
        for each, end_s in ends_s.items():
            each.from_s = end_s + self._timing.timeout_s
            self._try_again(each, end_s - now_s)
        self._go_on(colliding)

    def _try_again(self, contender: Contender, first_s: float) -> None:
        contender.source.collided(first_s)
        contender.retries += 1
        contender.window = min(2 * contender.window + 1, self._timing.cw_max)
        if contender.retries > self._limit:
            contender.retries, contender.window = 0, self._timing.cw_min
            contender.source.lost()
        contender.backoff = self._draw(contender.window)

    def _send_beacon(self, now_s: float) -> None:
        self._turn.sent(now_s)
        self.free_s = now_s + self._timing.beacon_s
        if self._turn.listeners:
            self._begin(None, Exchange(0.0, self._timing.beacon_s, 0.0, self._turn.heard))
        else:
            self._turn.defer(self.free_s)
            self._go_on([])

    def _pass_beacons(self) -> None:
        """Work out which beacons were sent while nobody waited for the air."""
        if self._waiting or self._turn.listeners or self._current is not None:
            return
        start_s = self._turn.passed(self._env.now, self.free_s)
        if start_s is not None:
            self._freeze(start_s)
            self.free_s = start_s + self._timing.beacon_s

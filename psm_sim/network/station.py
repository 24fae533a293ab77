"""The station: its radio sleeps and wakes as its policy says."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from simpy import Environment

from psm_sim.beacons import Beacons
from psm_sim.network.access_point import AccessPoint
from psm_sim.network.ledger import RadioObserver
from psm_sim.network.link import Link
from psm_sim.network.segment import Segment
from psm_sim.network.timer import AFTER_ALL, Alarm
from psm_sim.policies import Policy
from psm_sim.poll import Poll


class Station:
    """A radio that dozes, hears beacons on beacon boundaries, and wakes at once to send.

    Nothing held, nothing heard: what an idle station does is worked out when something next happens to
    it (:meth:`advance`), so that a doze costs no event. Only a frame held for it arms the wake-up. At a
    beacon's own time all else happens first: a frame that arrives then is announced by it, and a packet
    sent then finds the station awake for it.

    After an uplink packet, and while frames are on their way, the link is busy and the radio awake. When
    the link falls idle the policy is asked for a :class:`~psm_sim.policies.Rest`.
    """

    def __init__(
        self,
        env: Environment,
        policy: Policy,
        beacon_s: float,
        release_on_uplink: bool,
        observers: list[RadioObserver],
    ) -> None:
        self._env, self._policy, self._beacon_s = env, policy, beacon_s
        self._release_on_uplink = release_on_uplink
        self._beacons = Beacons(beacon_s)
        self._observers = observers
        self._wake_up = Alarm(env, self._wake, AFTER_ALL)
        self._uplink: Link
        self._access_point: AccessPoint
        self._deliver: Callable[[Segment], None]
        self._awake = True
        self._listening = True
        self._busy = True
        self._awaited = 0
        self._last_frame_s = 0.0
        self._last_uplink_s = 0.0
        self._poll: Poll | None = None
        self._doze_at_s = inf
        self._beacon = 0
        self._every = 1
        self._repeats = False

    def attach(self, access_point: AccessPoint, uplink: Link, deliver: Callable[[Segment], None]) -> None:
        """Join an access point, and hand received segments to *deliver*."""
        self._access_point, self._uplink, self._deliver = access_point, uplink, deliver
        self._policy.start(self._beacon_s)

    def send(self, segment: Segment) -> None:
        """Wake, if need be, and send one segment."""
        now = self._env.now
        self.advance(now)
        if not self._awake:
            self._wake_to_send(now)
        elif not self._busy:
            self._poll = None
        self._busy = True
        self._last_uplink_s = now
        self._policy.uplink(now)
        self._uplink.send(segment)
        if not self._listening and self._access_point.tim:
            self.announce()

    def receive(self, segment: Segment) -> None:
        """Take one frame from the access point."""
        self._awaited -= 1
        self._last_frame_s = self._env.now
        self._deliver(segment)

    def listens(self) -> bool:
        """Say whether the radio is awake to receive; if so, await one frame more."""
        self.advance(self._env.now)
        if self._listening:
            self._awaited += 1
            self._busy = True
        return self._listening

    def announce(self) -> None:
        """Plan to wake for the beacon that names this station, or to be asked once it has sent."""
        self._wake_up.at(self._idle_s if self._awake else self._beacon * self._beacon_s)

    def advance(self, now_s: float) -> None:
        """Work out what the radio has done before *now_s*."""
        while True:
            if self._busy:
                idle_s = self._idle_s
                if self._awaited or idle_s >= now_s:
                    return
                self._rest(idle_s)
            elif self._awake:
                if self._doze_at_s >= now_s:
                    return
                self._doze()
            elif self._access_point.tim or not self._sleep_on(now_s):
                return

    @property
    def _idle_s(self) -> float:
        return max(self._last_frame_s, self._uplink.free_at)

    def _rest(self, now_s: float) -> None:
        """Ask the policy, now that the link has fallen idle."""
        rest = self._policy.rest(now_s, now_s - self._last_uplink_s, self._poll)
        self._busy, self._poll = False, None
        self._repeats, self._every = rest.repeat, rest.beacons
        self._doze_at_s = now_s + rest.awake_s
        if rest.awake_s == 0.0:
            self._doze()
        else:
            self._listen(now_s)

    def _listen(self, now_s: float) -> None:
        self._set_radio(now_s, True)
        if not self._listening:
            self._listening = True
            self._fetch()

    def _doze(self) -> None:
        since_s = self._doze_at_s
        self._beacon = self._beacons.after(since_s) + self._every - 1
        self._listening = False
        self._set_radio(since_s, False)
        if self._access_point.tim:
            self.announce()

    def _sleep_on(self, now_s: float) -> bool:
        """Hear the next beacons, which name nobody; return whether there was one before *now_s*."""
        beacon_s, every = self._beacon_s, self._every
        first_s = last_s = self._beacon * beacon_s
        if first_s >= now_s:
            return False
        count = 1
        if self._repeats:
            count += (self._beacons.before(now_s) - self._beacon) // every
            last_s = (self._beacon + (count - 1) * every) * beacon_s
        for observer in self._observers:
            observer.beacons(first_s, count, every * beacon_s)
        if self._repeats:
            self._beacon += count * every
            self._doze_at_s = last_s
        else:
            self._poll = Poll(1000 * (first_s - self._doze_at_s))
            self._rest(first_s)
        return True

    def _wake(self) -> None:
        if self._awake:
            self._idle_after_sending()
        else:
            self._wake_for_beacon()

    def _wake_for_beacon(self) -> None:
        """Hear the beacon that names this station, and fetch what is held."""
        now_s = self._beacon * self._beacon_s
        for observer in self._observers:
            observer.beacons(now_s, 1, self._beacon_s)
        self._set_radio(now_s, True)
        self._last_frame_s = now_s
        self._listening = True
        self._poll = self._seen(now_s, self._fetch())

    def _wake_to_send(self, now_s: float) -> None:
        self._wake_up.off()
        self._set_radio(now_s, True)
        self._listening = self._release_on_uplink
        self._policy.interrupted(self._seen(now_s, self._fetch() if self._listening else []))

    def _idle_after_sending(self) -> None:
        """Awake but deaf, with frames held: when the link falls idle they wait for the policy."""
        if self._idle_s > self._env.now:
            self._wake_up.at(self._idle_s)
        else:
            self._rest(self._env.now)

    def _fetch(self) -> list[tuple[float, int]]:
        """Have the access point send what it holds."""
        frames = self._access_point.release()
        self._awaited += len(frames)
        self._busy = self._busy or bool(frames)
        return frames

    def _seen(self, now_s: float, frames: list[tuple[float, int]]) -> Poll:
        since_s = self._doze_at_s
        arrivals = tuple((1000 * (arrived_s - since_s), size) for arrived_s, size in frames)
        return Poll(1000 * (now_s - since_s), sum(size for _, size in frames), len(frames), arrivals)

    def _set_radio(self, time_s: float, awake: bool) -> None:
        if awake is not self._awake:
            self._awake = awake
            for observer in self._observers:
                observer.radio(time_s, awake)

"""Radio: sleeps and wakes, hears beacons, and knows when the link is idle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from simpy import Environment

from psm_sim.network.access_point import Port
from psm_sim.network.doze import Doze
from psm_sim.network.link import Link, Uplink
from psm_sim.network.radio_state import AWAKE, BUSY, DOZING, SEND_ONLY, State
from psm_sim.network.segment import BufferedFrame, Segment
from psm_sim.network.timers import LOWEST_PRIORITY, Alarm
from psm_sim.policies import Poll, Rest


class Radio:
    """Radio of a station: dozes as it is told, hears beacons, and wakes at once to send.

    The table of its states is in :class:`~psm_sim.network.radio_state.State`. An idle radio costs no event:
    :meth:`advance` works out afterwards what it has done. Only a frame held for it arms an alarm.

    ``decide`` is asked for each rest, with the time in seconds and what the last beacon showed; ``deliver``
    takes the frames received. Both must be set before the clock starts.

    Parameters
    ----------
    env, doze
        The clock, and the doze, not begun.
    port, uplink
        The station's port at the access point, and the link on which it sends.
    on_radio, on_beacons
        Called as :class:`~psm_sim.network.observers.Observer` says of ``radio`` and ``beacons``.
    """

    def __init__(
        self,
        env: Environment,
        doze: Doze,
        port: Port,
        uplink: Link | Uplink,
        on_radio: Sequence[Callable[[float, bool], None]] = (),
        on_beacons: Sequence[Callable[[float, int, float], None]] = (),
    ) -> None:
        self._env, self._port, self._uplink, self._transmitter = env, port, uplink, uplink.transmitter
        self._on_radio, self._on_beacons = on_radio, on_beacons
        self.decide: Callable[[float, Poll | None], Rest]
        self.deliver: Callable[[Segment], None]
        # After all else at its time: a beacon announces a frame that arrives with it.
        self._beacon_alarm = Alarm(env, self._wake_for_beacon, LOWEST_PRIORITY)
        self._idle_alarm = Alarm(env, self._idle_while_send_only, LOWEST_PRIORITY)
        self._state = BUSY  # on an idle link, so that it first asks for a rest, at 0 s
        self._awaited = 0  # frames that the access point has sent and that are not yet here
        self._polling = False  # until the last frame of a poll says More Data = 0, if that binds
        self._last_frame_s = 0.0  # when the last frame was received
        self._last_poll: Poll | None = None  # by the beacon that woke it, until the next question
        self._rest = Rest()  # as last decided
        self._awake_until_s = inf  # AWAKE: when the wait is over
        self._doze = doze  # DOZING: the doze it is in; else the last one

    def offer(self) -> bool:
        """Say whether the radio takes a frame at once; if so it waits awake for it."""
        if self._state is DOZING and self._beacon_alarm.deadline < inf:
            return False
        self.advance(self._env.now)
        if self._polling and self._port.sending_last_frame:
            self._state, self._polling = SEND_ONLY, False
        if self._state is DOZING or self._state is SEND_ONLY:
            return False
        self._state = BUSY
        self._awaited += 1
        return True

    def receive(self, segment: Segment) -> None:
        """Take one frame from the access point."""
        self._awaited -= 1
        deliver, self._last_frame_s = self.deliver, self._env.now
        deliver(segment)
        if self._state is SEND_ONLY and self._port.tim_bit:
            self.announced()

    def announced(self) -> None:
        """Plan to wake for the beacon that names the station; if awake but deaf, to ask when it has sent."""
        if self._state is DOZING:
            self._beacon_alarm.at(self._doze.wakes_s)
        elif not self._awaited:
            self._idle_alarm.at(self._idle_s())

    def wake_to_send(self, now_s: float) -> Poll | None:
        """Be awake to send; return what was fetched if this has cut a doze short, else ``None``."""
        if self._state is BUSY and self._awaited:
            return None
        self.advance(now_s)
        if self._state is DOZING:
            return self._interrupt_doze(now_s)
        if self._state is SEND_ONLY and self._port.release_on_uplink:
            self._retrieve()
            self._state = BUSY
        if self._state is AWAKE:
            self._state = BUSY
        return None

    def send(self, segment: Segment) -> None:
        """Send one segment; the radio must be awake to send."""
        self._uplink.send(segment)
        if self._state is SEND_ONLY and self._port.tim_bit:
            self.announced()

    def advance(self, now_s: float) -> None:
        """Work out what the radio has done before *now_s*; at that very time all else happens first."""
        while True:
            if self._state is DOZING:
                if self._doze.wakes_s >= now_s or self._port.tim_bit:
                    return
                self._hear(now_s)
            elif self._state is AWAKE:
                if self._awake_until_s >= now_s:
                    return
                self._fall_asleep(self._awake_until_s)
            elif self._awaited or self._last_frame_s >= now_s or self._transmitter.free_at >= now_s:
                return
            else:
                self._ask(self._idle_s())

    def _idle_s(self) -> float:
        """Return when the link becomes or became idle, unless frames are awaited."""
        last_s, free_at = self._last_frame_s, self._transmitter.free_at
        return last_s if last_s >= free_at else free_at

    def _ask(self, now_s: float) -> None:
        """Ask for a rest, and begin it."""
        decide = self.decide
        self._rest = rest = decide(now_s, self._last_poll)
        self._last_poll, self._polling = None, False
        if rest.awake_s == 0.0:
            self._fall_asleep(now_s)
        else:
            self._wait(now_s, now_s + rest.awake_s)

    def _wait(self, now_s: float, until_s: float) -> None:
        # Frames held because the radio was deaf are fetched: from now on it listens.
        fetched = self._state is SEND_ONLY and self._retrieve()
        self._enter(BUSY if fetched else AWAKE, now_s)
        self._awake_until_s = until_s

    def _fall_asleep(self, since_s: float) -> None:
        self._enter(DOZING, since_s)
        self._doze.begin(since_s, self._rest)
        if self._port.tim_bit:  # frames came while the radio was deaf
            self.announced()

    def _hear(self, now_s: float) -> None:
        """Hear the beacon, and those after it up to *now_s* for which it sleeps on; they name nobody."""
        first_s = self._doze.wakes_s
        if self._doze.load_promised_doze():
            self._heard(first_s, self._doze.skip_empty_beacons(now_s))
        else:
            self._heard(first_s, 1)
            self._last_poll = self._doze.end(first_s)
            self._ask(first_s)

    def _wake_for_beacon(self) -> None:
        """Hear the beacon that names the station, and fetch what is held."""
        now_s = self._doze.wakes_s  # env.now may be one rounding error off
        self._heard(now_s, 1)
        self._enter(BUSY, now_s)
        self._last_poll = self._doze.end(now_s, self._retrieve())
        self._polling = self._port.late_frames_wait

    def _interrupt_doze(self, now_s: float) -> Poll:
        """Wake to send; return what was held, if the access point hands it over now."""
        self._beacon_alarm.cancel()
        release = self._port.release_on_uplink
        self._enter(BUSY if release else SEND_ONLY, now_s)
        return self._doze.end(now_s, self._retrieve() if release else ())

    def _idle_while_send_only(self) -> None:
        """Ask for a rest once the link is idle, since held frames wait for it."""
        # Where every beacon is an event, one at this very time may have led on already.
        if self._state is SEND_ONLY:
            self._ask(self._env.now)

    def _retrieve(self) -> list[BufferedFrame]:
        """Have the access point send what it holds, and return it."""
        self._awaited += len(frames := self._port.release())
        return frames

    def _heard(self, first_s: float, count: int) -> None:
        for notify in self._on_beacons:
            notify(first_s, count, self._doze.every_s)

    def _enter(self, state: State, time_s: float) -> None:
        """Change the state, and tell observers if the radio wakes or begins to doze."""
        dozes, dozed = state is DOZING, self._state is DOZING
        self._state = state
        if dozes is not dozed:
            for notify in self._on_radio:
                notify(time_s, dozed)

"""Radio of a station in power-save mode, and its states.

Beacons cause no events. Before the state of the radio is used, e.g. to transmit, :meth:`Radio.advance`
computes which beacons the radio has received since the last call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from math import inf

from simpy import Environment

from psm_sim.network.access_point import Port
from psm_sim.network.doze import Doze
from psm_sim.network.link import Link, Uplink
from psm_sim.network.segment import BufferedFrame, Segment
from psm_sim.network.timers import LOWEST_PRIORITY, Alarm
from psm_sim.policies import Poll, Rest


class State(Enum):
    """State of a radio, which is awake in all states except DOZING.

    =========  ==================================  ========================================================
    State      Event                               Next state
    =========  ==================================  ========================================================
    BUSY       link becomes idle                   policy decides: AWAKE if the rest begins awake, else
                                                   DOZING
    BUSY       frame arrives too late for a poll   SEND_ONLY, if ``late_frames`` is ``"wait"``
    SEND_ONLY  link becomes idle                   as from BUSY; if the rest begins awake, the radio
                                                   retrieves buffered frames: BUSY
    AWAKE      station transmits, or a frame is    BUSY
               offered
    AWAKE      end of the wait                     DOZING
    DOZING     beacon with the TIM bit set         retrieve buffered frames: BUSY
    DOZING     beacon with the TIM bit not set     DOZING if the rest repeats, else the policy decides
    DOZING     station transmits                   retrieve buffered frames: BUSY; without
                                                   ``release_on_uplink`` retrieve nothing: SEND_ONLY
    =========  ==================================  ========================================================
    """

    BUSY = "the link is in use: the radio transmits, or frames are in transit to it"
    SEND_ONLY = "the radio only transmits: the access point buffers its frames until a beacon"
    AWAKE = "the link is idle: the radio stays awake as long as the policy has decided"
    DOZING = "asleep, except for the beacons that the radio wakes to receive"


# Module globals, because Python 3.11 looks up an enum attribute ten times as slowly. Together with the
# globals of AckDue they save 15 % of the run time of psm.
BUSY, SEND_ONLY, AWAKE, DOZING = State


class Radio:
    """Radio that dozes as its policy decides, receives beacons, and wakes up to transmit.

    :class:`~psm_sim.network.radio.State` lists its states. An idle radio causes no events, because
    :meth:`advance` computes its state lazily. An alarm is set only if frames are buffered.

    Parameters
    ----------
    env, doze
        The clock, and a new :class:`~psm_sim.network.doze.Doze`.
    port, uplink
        The station's port at the access point, and the link on which it transmits.
    on_radio, on_beacons
        Called with the arguments of the methods ``radio`` and ``beacons`` of
        :class:`~psm_sim.network.observers.Observer`.

    Attributes
    ----------
    decide : callable
        Function of the time in seconds and the last poll that returns the next
        :class:`~psm_sim.policies.Rest`. Set it before the clock starts.
    deliver : callable
        Handles each received frame. Set it before the clock starts.
    """

    def __init__(
        self,
        env: Environment,
        doze: Doze,
        port: Port,
        uplink: Link | Uplink,
        on_radio: Sequence[Callable[[float, bool], None]],
        on_beacons: Sequence[Callable[[float, int, float], None]],
    ) -> None:
        self._env, self._port, self._uplink, self._transmitter = env, port, uplink, uplink.transmitter
        self._on_radio, self._on_beacons = on_radio, on_beacons
        self.decide: Callable[[float, Poll | None], Rest]
        self.deliver: Callable[[Segment], None]
        # Lowest priority: the TIM includes frames that arrive at the beacon time.
        self._beacon_alarm = Alarm(env, self._wake_for_beacon, LOWEST_PRIORITY)
        self._idle_alarm = Alarm(env, self._idle_while_send_only, LOWEST_PRIORITY)
        self._state = BUSY  # the link is idle at t = 0, so the policy decides first
        self._awaited = 0  # frames that the access point has sent and that have not arrived
        self._polling = False  # if late_frames is "wait": true until the last frame of a poll (More Data = 0)
        self._last_frame_s = 0.0  # time of the last received frame
        self._last_poll: Poll | None = None  # poll at the last wake-up, kept until the next decision
        self._rest = Rest()  # last decision
        self._awake_until_s = inf  # end of the wait in state AWAKE
        self._doze = doze  # current doze if DOZING, otherwise the last doze

    def offer(self) -> bool:
        """Return whether the radio can receive a frame now. If so, it stays awake for the frame."""
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
        """Receive one frame from the access point."""
        self._awaited -= 1
        deliver, self._last_frame_s = self.deliver, self._env.now
        deliver(segment)
        if self._state is SEND_ONLY and self._port.tim_bit:
            self.announced()

    def announced(self) -> None:
        """Handle buffered frames: wake at the end of the doze, or get a decision once the link is idle."""
        if self._state is DOZING:
            self._beacon_alarm.at(self._doze.wakes_s)
        elif not self._awaited:
            self._idle_alarm.at(self._idle_s())

    def wake_to_send(self, now_s: float) -> Poll | None:
        """Wake up to transmit. Return the poll of the interrupted doze; None if the radio was not dozing."""
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
        """Transmit one segment. The radio must be awake."""
        self._uplink.send(segment)
        if self._state is SEND_ONLY and self._port.tim_bit:
            self.announced()

    def settle(self, now_s: float) -> None:
        """Advance to *now_s*, the time of a measurement, and count the energy of an unfinished doze."""
        self.advance(now_s)

    def advance(self, now_s: float) -> None:
        """Advance the radio state to *now_s*, excluding events at *now_s* itself."""
        while True:
            if self._state is DOZING:
                if self._doze.wakes_s >= now_s or self._port.tim_bit:
                    return
                self._receive_beacons(now_s)
            elif self._state is AWAKE:
                if self._awake_until_s >= now_s:
                    return
                self._fall_asleep(self._awake_until_s)
            elif self._awaited or self._last_frame_s >= now_s or self._transmitter.free_at >= now_s:
                return
            else:
                self._begin_rest(self._idle_s())

    def _idle_s(self) -> float:
        """Return the end of the last frame sent or received, when the link becomes idle."""
        last_s, free_at = self._last_frame_s, self._transmitter.free_at
        return last_s if last_s >= free_at else free_at

    def _begin_rest(self, now_s: float) -> None:
        """Get a decision from the policy and begin the rest."""
        decide = self.decide
        self._rest = rest = decide(now_s, self._last_poll)
        self._last_poll, self._polling = None, False
        if rest.awake_s == 0.0:
            self._fall_asleep(now_s)
        else:
            self._wait(now_s, now_s + rest.awake_s)

    def _wait(self, now_s: float, until_s: float) -> None:
        # The radio can now receive the frames that were buffered while it was SEND_ONLY.
        retrieved = self._state is SEND_ONLY and self._retrieve()
        self._enter(BUSY if retrieved else AWAKE, now_s)
        self._awake_until_s = until_s

    def _fall_asleep(self, since_s: float) -> None:
        self._enter(DOZING, since_s)
        self._doze.begin(since_s, self._rest)
        if self._port.tim_bit:  # frames were buffered while the radio was SEND_ONLY
            self.announced()

    def _receive_beacons(self, now_s: float) -> None:
        """Receive the beacon that ends the doze. The station's TIM bit is not set.

        If the policy has promised further dozes, also receive the beacons that end them before *now_s*.
        """
        first_s = self._doze.wakes_s
        if self._doze.load_promised_doze():
            self._record_unannounced(first_s, self._doze.skip_empty_beacons(now_s))
        else:
            self._record_unannounced(first_s, 1)
            self._last_poll = self._doze.end(first_s)
            self._begin_rest(first_s)

    def _wake_for_beacon(self) -> None:
        """Receive the beacon in which the TIM bit is set, and retrieve the buffered frames."""
        now_s = self._doze.wakes_s  # env.now may be one rounding error off
        self._record_beacons(now_s, 1)
        self._enter(BUSY, now_s)
        self._last_poll = self._doze.end(now_s, self._retrieve())
        self._polling = self._port.late_frames_wait

    def _interrupt_doze(self, now_s: float) -> Poll:
        """End the doze in order to transmit, and return its poll.

        The station also retrieves the buffered frames if ``access_point.release_on_uplink`` is true.
        """
        self._beacon_alarm.cancel()
        release = self._port.release_on_uplink
        self._enter(BUSY if release else SEND_ONLY, now_s)
        return self._doze.end(now_s, self._retrieve() if release else ())

    def _idle_while_send_only(self) -> None:
        """Get the next decision now that the link is idle, so that buffered frames can be retrieved."""
        # If every beacon has an event, a beacon at the same instant may already have changed the state.
        if self._state is SEND_ONLY:
            self._begin_rest(self._env.now)

    def _retrieve(self) -> list[BufferedFrame]:
        """Retrieve the buffered frames from the access point and return them."""
        self._awaited += len(frames := self._port.release())
        return frames

    def _record_unannounced(self, first_s: float, count: int) -> None:
        """Record received beacons in which the TIM bit of the station is not set."""
        self._record_beacons(first_s, count)

    def _record_beacons(self, first_s: float, count: int) -> None:
        for on_beacons in self._on_beacons:
            on_beacons(first_s, count, self._doze.every_s)

    def _enter(self, state: State, time_s: float) -> None:
        """Change the state, and notify observers if the radio wakes up or begins to doze."""
        dozes, dozed = state is DOZING, self._state is DOZING
        self._state = state
        if dozes is not dozed:
            for on_radio in self._on_radio:
                on_radio(time_s, dozed)

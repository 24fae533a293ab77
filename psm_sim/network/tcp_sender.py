"""TCP sender with congestion control, retransmission timeout and retransmission."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import inf

from simpy import Environment

from psm_sim.beacons import Beacons
from psm_sim.network.tcp_stacks import TCP_STACKS, TcpStack
from psm_sim.network.timers import Timer, TimerQueue
from psm_sim.network.topology_sections import TcpParameters

MAX_TIMEOUT_S = 60.0
"""Maximum retransmission timeout (RFC 6298, 2.5)."""
GIVE_UP_S, SYN_GIVE_UP_S = 924.6, 180.0
"""Time without a new ACK after which a connection, or its SYN, is given up.

RFC 1122, 4.2.3.5 requires at least 100 s, and 3 minutes for a SYN. Linux takes at least 924.6 s (15 retries
from 0.2 s), so a station that dozes for minutes keeps its connections.
"""


class TcpConstants:
    """TCP constants, computed once from the parameters. Sizes and windows are in bytes, times in seconds.

    Attributes
    ----------
    segment, header : int
        Maximum payload of a segment, and size of its TCP/IP header.
    window, first_window : int
        Receive window, and initial congestion window.
    growth : str
        Rule of the growth in slow start.
    stack : TcpStack
        Rules of the TCP implementation.
    at_once : int
        Number of unacknowledged segments that triggers an immediate ACK.
    delay_s : float
        Delay of other ACKs.
    ticks : Beacons or None
        Times at which delayed ACKs are sent. If None, an ACK is sent ``delay_s`` after its segment.
    """

    __slots__ = (
        "at_once", "delay_s", "first_window", "growth", "header", "segment", "stack", "ticks", "window",
    )  # fmt: skip

    def __init__(self, tcp: TcpParameters, stack: TcpStack | None = None) -> None:
        self.segment, self.header = tcp.segment_bytes, tcp.header_bytes
        self.window, self.first_window = tcp.window_bytes, tcp.initial_window * tcp.segment_bytes
        self.growth = tcp.growth
        self.stack = stack = stack or TCP_STACKS[tcp.stack]
        self.delay_s = stack.delayed_ack_s if tcp.delayed_ack_ms is None else tcp.delayed_ack_ms / 1000
        self.at_once = 2 if self.delay_s > 0 else 1
        to_tick = tcp.delayed_ack == "heartbeat" or (stack.delays_to_tick and tcp.delayed_ack_ms is None)
        self.ticks = Beacons(self.delay_s) if to_tick and self.delay_s else None


class RetransmissionTimeout:
    """Retransmission timeout ``seconds`` (RFC 6298), from round-trip samples and exponential back-off."""

    __slots__ = ("_deviation", "_estimate_s", "_smoothed", "_stack", "seconds")

    def __init__(self, stack: TcpStack) -> None:
        self._stack = stack
        self._smoothed: float | None = None
        self._deviation = 0.0  # four times RTTVAR, as in the integer arithmetic of Jacobson
        self.seconds = self._estimate_s = stack.first_timeout_s

    def sample(self, round_trip_s: float) -> None:
        """Update the estimate with a measured round trip in seconds (RFC 6298, 2.2 and 2.3)."""
        smoothed = self._smoothed
        if smoothed is None:
            smoothed, deviation = round_trip_s, 2.0 * round_trip_s
        else:
            error = smoothed - round_trip_s
            deviation = 0.75 * self._deviation + (error if error > 0.0 else -error)
            smoothed = 0.875 * smoothed + 0.125 * round_trip_s
        self._smoothed, self._deviation = smoothed, deviation
        stack = self._stack
        seconds = smoothed + (deviation if deviation > stack.timeout_margin_s else stack.timeout_margin_s)
        if seconds < stack.min_timeout_s:
            seconds = stack.min_timeout_s
        elif seconds > MAX_TIMEOUT_S:
            seconds = MAX_TIMEOUT_S
        self.seconds = self._estimate_s = seconds

    def back_off(self) -> None:
        """Double the timeout after it has expired (RFC 6298, 5.5)."""
        self.seconds = min(2 * self.seconds, MAX_TIMEOUT_S)

    def end_back_off(self) -> None:
        """Set the timeout to its value before it was doubled."""
        self.seconds = self._estimate_s


class LinuxTimeout(RetransmissionTimeout):
    """Retransmission timeout of Linux (``tcp_rtt_estimator()`` in ``net/ipv4/tcp_input.c``).

    If a round trip is shorter than the smoothed one, the deviation rises by only an eighth of the usual
    amount. The margin over the smoothed round trip rises to the deviation at once, and falls by a quarter of
    the difference per round trip. Only one segment is timed at a time, so each sample ends a round trip.
    """

    __slots__ = ("_margin", "_peak")

    def sample(self, round_trip_s: float) -> None:
        """Update the estimate with a measured round trip in seconds."""
        smoothed, least = self._smoothed, self._stack.timeout_margin_s
        if smoothed is None:
            smoothed, self._deviation = round_trip_s, 2.0 * round_trip_s
            # The first margin is also the peak of the first round trip, so the second sample cannot lower it.
            self._margin = self._peak = max(self._deviation, least)
        else:
            error = round_trip_s - smoothed
            smoothed += 0.125 * error
            growth = abs(error) - 0.25 * self._deviation
            self._deviation += 0.125 * growth if error < 0.0 < growth else growth
            peak = max(self._deviation, self._peak)
            self._margin = max(peak, 0.75 * self._margin + 0.25 * peak)
            self._peak = least
        self._smoothed = smoothed
        self.seconds = self._estimate_s = min(smoothed + self._margin, MAX_TIMEOUT_S)


class SlowStartGrowth:
    """Growth of the congestion window of one connection, by the rule ``tcp.growth``. Sizes are in bytes.

    With ``rfc5681`` an ACK adds the bytes that it acknowledges, at most one segment (RFC 5681, equation 2).
    With ``ns3`` acknowledged bytes are summed up, and an ACK that completes a segment adds one segment. The
    rule ``ns2``, one segment per ACK, needs no state and is implemented by the sender.
    """

    __slots__ = ("_counted", "_rule", "_segment")

    def __init__(self, constants: TcpConstants) -> None:
        self._rule, self._segment = constants.growth, constants.segment
        self._counted = 0

    def after(self, newly: int) -> int:
        """Return the increase of the window for an ACK of *newly* acknowledged bytes."""
        if self._rule == "rfc5681":
            return min(newly, self._segment)
        completed, self._counted = divmod(self._counted + newly, self._segment)
        return self._segment if completed else 0


class Sender(ABC):
    """Sending half of a connection, with NewReno congestion control (RFC 5681, 6298, 6582).

    It implements slow start, congestion avoidance, fast retransmit and fast recovery. Sequence number 0 is
    the SYN, data follow, and the FIN is last. Windows are in bytes.
    :class:`~psm_sim.network.tcp_endpoint.Endpoint` adds the receiving half.

    Attributes
    ----------
    acknowledged, next, end : int
        First unacknowledged sequence number, next sequence number to send, and one past the last written.
    highest : int
        One past the highest sequence number sent so far.
    written : int
        One past the last data byte.
    window, slow_start_threshold : float
        Congestion window, and threshold of slow start.
    recover : int
        Sequence number at which fast recovery ends (RFC 6582).
    """

    __slots__ = (
        "_constants", "_ends_timeout", "_env", "_expired_at", "_growth", "_progress_s", "_syns_repeated",
        "_timed", "_timed_at", "_timer", "acknowledged", "closing", "duplicates", "end", "highest", "next",
        "recover", "recovering", "retransmissions", "slow_start_threshold", "timeout", "window", "written",
    )  # fmt: skip

    def __init__(self, timers: TimerQueue, constants: TcpConstants) -> None:
        self._env: Environment = timers.env
        self._constants = constants
        self._growth = None if constants.growth == "ns2" else SlowStartGrowth(constants)
        self._timer = Timer(timers, self._expired)
        stack = constants.stack
        self.timeout = LinuxTimeout(stack) if stack.margin_falls_slowly else RetransmissionTimeout(stack)
        self._timed = 0
        self._timed_at = 0.0
        self._syns_repeated = 0
        self._ends_timeout = False  # whether the next ACK ends a timeout
        self._progress_s = 0.0  # time of the last new ACK, or of the first transmission that waits for one
        self._expired_at = -1  # first unacknowledged number when the timer last expired
        self.acknowledged = self.next = self.highest = 0
        self.written = self.end = 1
        self.closing = False
        self.window: float = constants.first_window
        self.slow_start_threshold: float = inf
        self.duplicates = 0
        self.recovering = False
        self.recover = 0
        self.retransmissions = 0

    @abstractmethod
    def _emit(self, seq: int, payload: int, syn: bool, fin: bool) -> None:
        """Send one segment with *payload* bytes from *seq* on and the flags *syn* and *fin*."""

    @abstractmethod
    def _give_up(self) -> None:
        """Give the connection up, because nothing new was acknowledged for too long (RFC 1122, 4.2.3.5)."""

    def write(self, payload_bytes: int, last: bool = False) -> None:
        """Append *payload_bytes* to the stream, and a FIN if *last*. Send what the window allows."""
        self.written = written = self.written + payload_bytes
        self.closing, self.end = last, written + 1 if last else written
        self.send()

    def repeat_syn(self) -> None:
        """Retransmit the SYN, because the peer did (Karn: its round trip is not measured)."""
        self._timed = 0
        self._put(0, 0, True, False)

    def send(self) -> None:
        """Send full segments, or the final smaller one, while the window allows."""
        if self.acknowledged == 0:
            if self.next == 0:
                self._put(0, 0, True, False)
            return
        constants, window = self._constants, self.window
        limit = self.acknowledged + (window if window < constants.window else constants.window)
        seq, segment = self.next, constants.segment
        written, end, closing = self.written, self.end, self.closing
        while seq < end:
            payload = segment if written - seq > segment else written - seq
            if seq + payload > limit:
                return
            self._put(seq, payload, False, closing and seq + payload == written)
            seq = self.next

    def acknowledge(self, ack: int) -> None:
        """Process an ACK of new data, and send what the window then allows."""
        before = self.acknowledged
        self._progress_s = now_s = self._env.now
        self.acknowledged = ack
        if ack > self.next:
            self.next = ack
        timed = self._timed
        if timed and timed <= ack:
            self.timeout.sample(now_s - self._timed_at)
            self._timed = 0
        if before == 0:
            one = self._syns_repeated >= self._constants.stack.syns_until_one_segment
            self.window = self._constants.segment if one else self._constants.first_window
        elif self._ends_timeout:
            self._end_timeout(ack - before)
        elif self.recovering:
            self._recover(ack, ack - before)
        elif self.window >= self.slow_start_threshold:
            self.window += self._constants.segment * self._constants.segment / self.window
        else:
            self.window += (
                self._constants.segment if self._growth is None else self._growth.after(ack - before)
            )
        self.duplicates = 0
        if ack == self.next:
            self._timer.deadline = inf
        else:
            self._timer.at(now_s + self.timeout.seconds)
        if self.next < self.end:
            self.send()

    def _put(self, seq: int, payload: int, syn: bool, fin: bool) -> None:
        end = seq + payload + 1 if syn or fin else seq + payload
        timer = self._timer
        if timer.deadline == inf:
            now_s = self._env.now
            if seq >= self.highest:
                self._progress_s = now_s
            timer.at(now_s + self.timeout.seconds)
        if seq < self.highest:
            self.retransmissions += 1
            self.highest, self.next = max(self.highest, end), max(self.next, end)
        else:
            self.highest = self.next = end
            if not self._timed:
                self._timed, self._timed_at = end, self._env.now
        self._emit(seq, payload, syn, fin)

    def _end_timeout(self, newly: int) -> None:
        self._ends_timeout = False
        stack = self._constants.stack
        if stack.ack_ends_back_off:
            self.timeout.end_back_off()
        if stack.grows_after_timeout:
            self.window += self._constants.segment if self._growth is None else self._growth.after(newly)

    def _recover(self, ack: int, newly: int) -> None:
        if ack >= self.recover:
            self.window, self.recovering = self.slow_start_threshold, False
            return
        self.window = max(self.window - newly + self._constants.segment, self._constants.segment)
        self._resend()

    def _duplicate(self) -> None:
        self.duplicates += 1
        if self.recovering:
            self.window += self._constants.segment
            self.send()
        elif self.duplicates == 3 and self.acknowledged > self.recover:
            self._halve()
            self.recovering, self.recover = True, self.highest
            self.window = self.slow_start_threshold + 3 * self._constants.segment
            self._resend()

    def _halve(self) -> None:
        self.slow_start_threshold = max((self.next - self.acknowledged) / 2, 2 * self._constants.segment)

    def _resend(self) -> None:
        """Retransmit the first unacknowledged segment (Karn: its round trip is not measured)."""
        self._timed = 0
        seq = self.acknowledged
        payload = min(self._constants.segment, self.written - seq)
        self._put(seq, payload, False, self.closing and seq + payload == self.written)

    def _expired(self) -> None:
        limit_s = GIVE_UP_S if self.acknowledged > 0 else SYN_GIVE_UP_S
        if self._env.now - self._progress_s >= limit_s:
            self._give_up()
        else:
            self._restart()

    def _restart(self) -> None:
        # A second timeout of the same segment does not lower the threshold again (RFC 5681, section 3.1).
        if self._expired_at != self.acknowledged > 0:
            self._halve()
        self._expired_at = self.acknowledged
        self.window = self._constants.segment
        stack, is_open = self._constants.stack, self.acknowledged > 0
        if is_open or stack.backs_off_syn:
            self.timeout.back_off()
        self._timed = 0
        self._syns_repeated += not is_open
        self._ends_timeout = is_open
        self.recovering, self.recover, self.duplicates = False, self.highest, 0
        self.next = self.acknowledged
        self.send()

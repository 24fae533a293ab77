"""Station, which connects a host, a policy and a radio."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from simpy import Environment

from psm_sim.network.radio import Radio
from psm_sim.network.segment import RecordedPacket, Segment, null_frame
from psm_sim.network.topology import Topology
from psm_sim.policies import Frame, Policy, Poll, RadioPower, Rest
from psm_sim.policies.base import Dtim, describe_radio


class Station:
    """Station that transmits for its host and controls its radio by a policy.

    Parameters
    ----------
    env, radio
        The clock and the radio.
    policy
        Policy that makes the sleep decisions and is notified of uplink packets. Call :meth:`start` to start
        it.
    on_rest
        Called after each sleep decision, with the arguments of :meth:`Observer.rest
        <psm_sim.network.observers.Observer.rest>`.
    on_frame
        Called for each frame that the host sends or receives; None if frames are not counted.
    """

    def __init__(
        self,
        env: Environment,
        policy: Policy,
        radio: Radio,
        on_rest: Sequence[Callable[[float, Poll | None, Rest], None]] = (),
        on_frame: Callable[[], None] | None = None,
    ) -> None:
        self._env, self._policy, self._radio, self._on_rest = env, policy, radio, on_rest
        self._on_frame = on_frame
        self._on_sent = policy.sent if policy.wants("sent") else None
        self._on_uplink = policy.uplink if policy.wants("uplink") else None
        self._last_uplink_s = 0.0  # the start of the run counts as an uplink packet
        self._mss = 0

    def start(self, beacon_s: float, topology: Topology) -> None:
        """Start the policy with a beacon interval, and with the power and DTIM period of *topology*."""
        policy, power, self._mss = self._policy, topology.power, topology.tcp.segment_bytes
        describe_radio(
            policy,
            RadioPower(power.awake_w, power.asleep_w, power.beacon_j),
            Dtim(topology.beacon.dtim_period),
        )
        policy.start(beacon_s)

    def send(self, segment: Segment) -> None:
        """Transmit one segment, and wake the radio if it dozes."""
        if self._on_frame is not None:
            self._on_frame()
        now_s = self._env.now
        interrupted = self._radio.wake_to_send(now_s)
        if interrupted is not None:
            self._policy.interrupted(interrupted)
        self._last_uplink_s = now_s
        if self._on_uplink is not None:
            self._on_uplink(now_s)
        if self._on_sent is not None:
            self._on_sent(now_s, self._frame(segment))
        self._radio.send(segment)

    def send_null(self) -> None:
        """Transmit a null data frame. The policy is notified only if the frame interrupts a doze."""
        interrupted = self._radio.wake_to_send(self._env.now)
        if interrupted is not None:
            self._policy.interrupted(interrupted)
        self._radio.send(null_frame())

    def received_group(self, segment: Segment) -> None:
        """Receive a group addressed frame. Notify the policy if it implements ``received``."""
        if self._on_frame is not None:
            self._on_frame()
        if self._policy.wants("received"):
            size, payload = segment.wire_bytes, segment.payload
            self._policy.received(self._env.now, Frame(-1, size, payload, False, False, group=True))

    def receiver(self, deliver: Callable[[Segment], None]) -> Callable[[Segment], None]:
        """Return *deliver*, wrapped to count frames and to notify the policy if either is required."""
        if self._on_frame is not None:
            deliver = _counting(deliver, self._on_frame)
        if not self._policy.wants("received"):
            return deliver
        on_received, env, frame = self._policy.received, self._env, self._frame

        def receive(segment: Segment) -> None:
            on_received(env.now, frame(segment))
            deliver(segment)

        return receive

    def rest(self, time_s: float, poll: Poll | None) -> Rest:
        """Return the decision of the policy after the link became idle at *time_s*."""
        rest = self._policy.rest(time_s, time_s - self._last_uplink_s, poll)
        for on_rest in self._on_rest:
            on_rest(time_s, poll, rest)
        return rest

    def _frame(self, segment: Segment) -> Frame:
        """Return the header fields of a segment that the driver sees."""
        if isinstance(segment, RecordedPacket):
            return segment.frame
        syn, ends = segment.syn, segment.fin or segment.rst
        mss = self._mss if syn else 0
        return Frame(segment.connection.number, segment.wire_bytes, segment.payload, syn, ends, mss)


def _counting(deliver: Callable[[Segment], None], count: Callable[[], None]) -> Callable[[Segment], None]:
    def receive(segment: Segment) -> None:
        count()
        deliver(segment)

    return receive

"""Station: sends for its host, and has its policy say how the radio rests."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from simpy import Environment

from psm_sim.network.radio import Radio
from psm_sim.network.segment import Segment
from psm_sim.network.topology import Topology
from psm_sim.policies import Frame, Policy, Poll, RadioPower, Rest
from psm_sim.policies.base import Dtim
from psm_sim.policies.outstanding_requests import StationRequests

_NEW = tuple.__new__
"""Makes a named tuple in half the time that its class takes."""


class Station:
    """Station: between a host that sends, a policy that decides, and a radio that obeys.

    Parameters
    ----------
    env, radio
        The clock, and the radio that sends.
    policy
        Asked for every rest, and told of uplink packets; whoever makes the station starts it.
    on_rest
        Called as :class:`~psm_sim.network.observers.Observer` says of ``rest``.
    """

    def __init__(
        self,
        env: Environment,
        policy: Policy,
        radio: Radio,
        on_rest: Sequence[Callable[[float, Poll | None, Rest], None]] = (),
    ) -> None:
        self._env, self._policy, self._radio, self._on_rest = env, policy, radio, on_rest
        self._flows = policy.flows if isinstance(policy.flows, StationRequests) else None
        self._on_sent = policy.sent if policy.wants("sent") and self._flows is None else None
        self._on_uplink = None if type(policy).uplink is Policy.uplink else policy.uplink
        self._last_uplink_s = 0.0  # the start counts as an uplink packet

    def start(self, beacon_s: float, topology: Topology) -> None:
        """Start the policy, told of power and DTIM period where it uses these names for nothing else."""
        policy, power = self._policy, topology.power
        if isinstance(policy.power, RadioPower):
            policy.power = RadioPower(power.awake_w, power.asleep_w, power.beacon_j)
        if isinstance(policy.dtim, Dtim):
            policy.dtim = Dtim(topology.beacon.dtim_period, topology.station.listen_rounding)
        policy.start(beacon_s)

    def send(self, segment: Segment) -> None:
        """Wake the radio, if need be, and send one segment."""
        now_s = self._env.now
        cut_short = self._radio.wake_to_send(now_s)
        if cut_short is not None:
            self._policy.interrupted(cut_short)
        self._last_uplink_s = now_s
        if self._on_uplink is not None:
            self._on_uplink(now_s)
        if self._on_sent is not None:
            self._on_sent(now_s, _frame(segment))
        elif self._flows is not None:
            useful, last = segment.payload or segment.syn, segment.fin or type(segment) is not Segment
            if useful or last:
                self._flows.note_sent(now_s, segment.connection.number, bool(useful), last)
        self._radio.send(segment)

    def send_null(self, segment: Segment) -> None:
        """Send a null frame, which is no packet: the policy hears of it only if it cuts a doze short."""
        cut_short = self._radio.wake_to_send(self._env.now)
        if cut_short is not None:
            self._policy.interrupted(cut_short)
        self._radio.send(segment)

    def received_group(self, segment: Segment) -> None:
        """Tell the policy of a group frame, if it wants to be told."""
        if self._policy.wants("received"):
            self._policy.received(self._env.now, _frame(segment))

    def receiver(self, deliver: Callable[[Segment], None]) -> Callable[[Segment], None]:
        """Return what takes the frames received: *deliver*, after the policy if it wants to be told."""
        if self._flows is not None:
            return self._keeper(self._flows, deliver)
        if not self._policy.wants("received"):
            return deliver
        notify, env = self._policy.received, self._env

        def receive(segment: Segment) -> None:
            notify(env.now, _frame(segment))
            deliver(segment)

        return receive

    def _keeper(
        self, flows: StationRequests, deliver: Callable[[Segment], None]
    ) -> Callable[[Segment], None]:
        """Return what takes the frames received: *deliver*, after *flows* if a frame can change them."""
        env, full, note_reply_end = self._env, flows.segment_bytes, flows.note_reply_end

        def receive(segment: Segment) -> None:
            flows.last_frame_s = env.now
            if segment.payload < full and (segment.payload or segment.fin or type(segment) is not Segment):
                note_reply_end(segment.connection.number)
            deliver(segment)

        return receive

    def rest(self, time_s: float, poll: Poll | None) -> Rest:
        """Return how the radio shall rest, now that the link has fallen idle at *time_s*."""
        if self._flows is not None and self._last_uplink_s > self._flows.last_frame_s:
            self._flows.last_frame_s = self._last_uplink_s
        rest = self._policy.rest(time_s, time_s - self._last_uplink_s, poll)
        for notify in self._on_rest:
            notify(time_s, poll, rest)
        return rest


def _frame(segment: Segment) -> Frame:
    """Return what a driver sees of a segment."""
    seen = (
        segment.connection.number, segment.wire_bytes, segment.payload, segment.syn,
        segment.fin or segment.rst,
    )  # fmt: skip
    return _NEW(Frame, seen)

"""Observer that writes the timeline of one station, with its transfers from request to last byte."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any, BinaryIO

from psm_sim.network.air_frame import AirFrame
from psm_sim.network.browser import Visit
from psm_sim.network.observers import Observer
from psm_sim.network.parts.timeline.trace_file import Process, TraceFile
from psm_sim.network.segment import ConnectionId, Request, Segment
from psm_sim.network.tcp_endpoint import Receiver
from psm_sim.network.topology import Topology
from psm_sim.policies import Policy, Poll, Rest
from psm_sim.workload.messages import Messages
from psm_sim.workload.page_view import Page

SliceCallback = Callable[[int, str, float, float, str], None]
"""Draw a transfer, given its lane from 0, name, start and end in seconds, and JSON members."""


class _Stream(Receiver):
    """Progress of the requests and replies on one connection.

    ``asked_s`` are the times of the requests that were sent, ``request_end`` and ``reply_end`` the sequence
    numbers at which the next request and the next reply begin.
    """

    __slots__ = ("answered", "asked_s", "connection", "reply_end", "request_end")

    def __init__(self, connection: ConnectionId) -> None:
        super().__init__(at_once=1)
        self.connection = connection
        self.asked_s: dict[int, float] = {}
        self.answered = 0
        self.reply_end = self.request_end = 1

    def complete_reply(self) -> Request | None:
        """Return the next reply if it is complete. Replies can come in another order than their requests."""
        replies = self.connection.replies
        if self.answered == len(replies) or self.next < self.reply_end + replies[self.answered].reply_bytes:
            return None
        reply = replies[self.answered]
        self.answered += 1
        self.reply_end += reply.reply_bytes
        return reply


class Transfers:
    """Transfers of one station: page objects, messages on persistent connections, and datagrams."""

    def __init__(self, show: SliceCallback) -> None:
        self._show = show
        self._streams: dict[ConnectionId, _Stream] = {}
        self._free_s: list[float] = []

    def air(self, frame: AirFrame) -> None:
        """Handle a frame on the wireless channel."""
        segment = frame.segment
        if segment is None or frame.kind == "null":
            return
        up, queued_s, heard_s = frame.uplink, frame.queued_s, frame.heard_s
        if segment.connection.number < 0:
            kind = "group frame" if frame.kind == "group" else "datagram"
            self._message(kind, up, queued_s, heard_s, segment)
        elif up:
            if segment.payload or segment.syn:
                self._handle_uplink(queued_s, heard_s, segment)
        else:
            self._handle_downlink(queued_s, heard_s, segment)

    def _handle_downlink(self, queued_s: float, heard_s: float, segment: Segment) -> None:
        seq, fin = segment.seq, segment.fin
        end = seq + segment.payload + segment.syn + fin
        stream = self._streams.get(segment.connection) if end > seq else None
        if stream is None:
            return
        stream.accept(seq, end, urgent=False)
        if segment.connection.requests:
            self._draw_answered(stream, heard_s)
        elif segment.payload:
            self._message("message", False, queued_s, heard_s, segment)
        if fin and stream.next >= end:
            del self._streams[segment.connection]

    def _handle_uplink(self, queued_s: float, heard_s: float, segment: Segment) -> None:
        connection = segment.connection
        stream = self._streams.get(connection)
        if stream is None:
            if segment.syn:
                self._streams[connection] = _Stream(connection)
            return
        requests = connection.requests
        if segment.payload and not requests:
            self._message("message", True, queued_s, heard_s, segment)
        while len(stream.asked_s) < len(requests) and segment.seq + segment.payload > stream.request_end:
            request = requests[len(stream.asked_s)]
            stream.request_end += request.request_bytes
            stream.asked_s[id(request)] = queued_s

    def _draw_answered(self, stream: _Stream, now_s: float) -> None:
        """Draw the requests whose replies are complete."""
        while request := stream.complete_reply():
            facts = f'"request_bytes":{request.request_bytes},"server_delay_s":{request.server_delay_s:.6g}'
            name = f"connection {stream.connection.number}: {request.reply_bytes:,} B"
            self._draw(name, stream.asked_s[id(request)], now_s, facts)

    def _message(self, kind: str, up: bool, queued_s: float, heard_s: float, segment: Segment) -> None:
        direction = "from" if up else "to"
        self._draw(f"{kind} {direction} the station: {segment.wire_bytes:,} B", queued_s, heard_s, "")

    def _draw(self, name: str, begins_s: float, ends_s: float, facts: str) -> None:
        """Draw a transfer on the first free lane, because slices on one track must not overlap."""
        free_s = self._free_s
        lane = next((number for number, free in enumerate(free_s) if free <= begins_s), len(free_s))
        if lane == len(free_s):
            free_s.append(0.0)
        free_s[lane] = ends_s
        self._show(lane, name, begins_s, ends_s, facts)


_MIN_CHANGE = 0.002
"""Smaller changes of the weights are not drawn, because they would not be visible."""


class PolicyDecisions:
    """Track of the decisions of one policy.

    Parameters
    ----------
    trace, track
        Process and track on which they are drawn.
    policy
        The policy. The weights of its learner are drawn if it has any.
    beacon_s
        Beacon interval, in seconds.
    """

    def __init__(self, trace: Process, track: int, policy: Policy, beacon_s: float) -> None:
        self._trace, self._track, self._beacon_ms = trace, track, 1000 * beacon_s
        self._policy: Any = getattr(policy, "policy", policy)
        self._since_us = -1
        self._begin = self._facts = ""
        self._beacons = 0
        self._weights: Any = None
        self._series = ""

    def decision(self, time_s: float, poll: Poll | None, rest: Rest) -> None:
        """Draw the previous decision up to now, and record this one.

        Parameters
        ----------
        time_s, poll, rest
            As for :meth:`Observer.decision <psm_sim.network.observers.Observer.decision>`.
        """
        self.until(time_s)
        self._since_us = int(1e6 * time_s + 0.5)
        self._begin = self._trace.slice_text(self._track, _describe_rest(rest))
        self._facts = "" if poll is None else (
            f'"slept_ms":{poll.slept_ms:.3f},"buffered_frames":{poll.buffered_frames},"buffered_bytes":{poll.buffered_bytes}'
        )  # fmt: skip
        if rest.beacons != self._beacons and rest.awake_s < inf:
            self._beacons = rest.beacons
            self._trace.counter("polling time (ms)", time_s, f'"ms":{self._beacon_ms * rest.beacons:.6g}')
        self._draw_weights(time_s)

    def until(self, time_s: float) -> None:
        """Draw the previous decision up to *time_s* seconds."""
        since_us = self._since_us
        if since_us >= 0:
            lasts_us = int(1e6 * time_s + 0.5) - since_us
            self._trace.add(f'{self._begin}{since_us},"dur":{lasts_us},"args":{{{self._facts}}}}}')

    def _draw_weights(self, time_s: float) -> None:
        weights = getattr(getattr(self._policy, "learner", None), "weights", None)
        if weights is None or getattr(weights, "ndim", 0) != 1:
            return
        if self._weights is None or abs(weights - self._weights).max() > _MIN_CHANGE:
            self._weights = weights.copy()
            shown = weights.tolist()[: self._count_named(weights.size)]
            self._trace.counter("weights", time_s, self._series % tuple(shown))

    def _count_named(self, size: int) -> int:
        """Return how many of *size* weights have a name, and format their template on the first call."""
        names = list(getattr(self._policy, "times_ms", range(size)))[:size]
        self._series = self._series or ",".join(f'"{name:g} ms":%.4f' for name in names)
        return len(names)


def _describe_rest(rest: Rest) -> str:
    if rest.awake_s == inf:
        return "stay awake"
    count = f"{rest.beacons} beacons" if rest.beacons > 1 else "1 beacon"
    doze = f"doze, awake every {count}" if rest.repeat else f"doze for {count}"
    return f"stay awake for {rest.awake_s:.4g} s, then {doze}" if rest.awake_s else doze


_RADIO, _BEACONS, _POLICY, _PAGES, _TRANSFERS = 1, 2, 3, 4, 5


class Timeline(Observer):
    """Observer that writes the tracks of one station: radio, policy, pages, transfers and counters.

    The timeline ends with the last page of the station.

    Parameters
    ----------
    file
        Trace file. Several stations can share it.
    name
        Name of the station.
    """

    def __init__(self, file: TraceFile, name: str) -> None:
        self._file, self._name = file, name
        self._awake, self._since_us = True, 0
        self._pages = self._lanes = 0
        self._trace: Process
        self._decisions: PolicyDecisions
        self._transfers = Transfers(self._transfer)

    def begin(self, topology: Topology, policy: Policy) -> None:
        """Write the names of the tracks."""
        power = topology.power
        self._trace = trace = self._file.process(f"{self._name} under {policy.name}")
        names = {_RADIO: "radio", _BEACONS: "beacons received", _POLICY: "policy", _PAGES: "pages"}
        for number, name in names.items():
            trace.track(number, name)
        self._decisions = PolicyDecisions(trace, _POLICY, policy, topology.beacon.interval_s)
        self._states = [trace.slice_text(_RADIO, name) for name in ("dozing", "awake")]
        self._power, self._buffered = trace.counter_text("power (W)"), trace.counter_text("buffered frames")
        self._watts = [f',"args":{{"W":{watts:.6g}}}}}' for watts in (power.asleep_w, power.awake_w)]
        trace.add(f"{self._power}0{self._watts[True]}")
        self.buffered(0.0, 0, 0)

    def radio(self, time_s: float, awake: bool) -> None:
        """Draw the previous state and the power of the new one."""
        now_us = int(1e6 * time_s + 0.5)
        self._trace.add(f"{self._state_until(now_us)},\n{self._power}{now_us}{self._watts[awake]}")
        self._awake, self._since_us = awake, now_us

    def beacons(self, first_s: float, count: int, every_s: float) -> None:
        """Draw received beacons. Those of one doze are one slice."""
        last_s = first_s + (count - 1) * every_s if count > 1 else first_s
        name = f"{count:,} beacons" if count > 1 else "beacon"
        self._trace.slice(_BEACONS, name, first_s, last_s, f'"count":{count}')

    def decision(self, time_s: float, poll: Poll | None, rest: Rest) -> None:
        """Draw a sleep decision."""
        self._decisions.decision(time_s, poll, rest)

    def buffered(self, time_s: float, frames: int, retrieved: int) -> None:
        """Draw the number of buffered frames."""
        self._trace.add(f'{self._buffered}{int(1e6 * time_s + 0.5)},"args":{{"frames":{frames}}}}}')

    def air(self, frame: AirFrame) -> None:
        """Follow the transfers."""
        self._transfers.air(frame)

    def page(self, visit: Visit) -> None:
        """Draw a page. Pauses are not drawn."""
        self._pages += 1
        page = visit.page
        if page.objects:
            facts = f'"objects":{page.objects},"bytes":{page.total_bytes},"think_s":{page.think_s:.6g}'
            facts += f',"failure":"{visit.failure}"' if visit.failure else ""
            self._trace.slice(_PAGES, f"page {self._pages}", visit.started_s, visit.ended_s, facts)

    def finish(self, time_s: float) -> None:
        """Draw the open slices, and complete the file if this is the last station."""
        self._trace.add(self._state_until(int(1e6 * time_s + 0.5)))
        self._decisions.until(time_s)
        self._trace.close()

    def _state_until(self, now_us: int) -> str:
        since_us = self._since_us
        return f'{self._states[self._awake]}{since_us},"dur":{now_us - since_us},"args":{{}}}}'

    def _transfer(self, lane: int, name: str, begins_s: float, ends_s: float, facts: str) -> None:
        if lane == self._lanes:
            self._lanes += 1
            self._trace.track(_TRANSFERS + lane, f"transfers {lane + 1}")
        self._trace.slice(_TRANSFERS + lane, name, begins_s, ends_s, facts)


def timeline_observers(file: BinaryIO, names: Sequence[str]) -> list[Timeline]:
    """Return a timeline for each station name, all in one binary file."""
    trace_file = TraceFile(file)
    return [Timeline(trace_file, name) for name in names]


_PAGE, _OBJECT, _MESSAGE = 2000, 2000, 1000
"""Approximate bytes of the events of a page, an object and a message."""


def timeline_bytes(pages: Sequence[Page], messages: Messages) -> int:
    """Return the approximate size of a timeline in bytes.

    A policy that decides often needs more.
    """
    objects = sum(page.objects for page in pages)
    return _PAGE * len(pages) + _OBJECT * objects + _MESSAGE * len(messages)

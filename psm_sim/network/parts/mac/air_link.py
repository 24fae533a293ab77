"""Link between access point and station over the DCF, and the report of its frames to observers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from simpy import Environment

from psm_sim.network.link import Link, LinkName
from psm_sim.network.parts.frame_timing import FrameTiming
from psm_sim.network.parts.mac.block_ack import BlockAckAgreement
from psm_sim.network.parts.mac.frame_errors import FrameErrors
from psm_sim.network.segment import Segment
from psm_sim.network.sniffed_link import AirCallback, AirFrame, FrameKind
from psm_sim.network.topology import Topology


class SnifferTap:
    """Reporter of the frames and ACKs of one link to observers. *up* is true for the uplink.

    Frames that collide or have errors are not reported, because the sniffer cannot decode them. A
    retransmission that is received has the Retry bit.

    Attributes
    ----------
    failed : set
        Queued frames that were sent at least once without an ACK.
    """

    def __init__(self, up: bool, notify: Sequence[AirCallback], timing: FrameTiming) -> None:
        self._up, self._callbacks, self._timing = up, notify, timing
        self.failed: set[object] = set()

    def frame(
        self,
        kind: FrameKind,
        entry: tuple[float, Any],
        start_s: float,
        *,
        acknowledged: bool,
        sleeps: bool = False,
        more: bool = False,
    ) -> None:
        """Report a frame, and its ACK if it is acknowledged.

        Parameters
        ----------
        kind
            Kind of the frame.
        entry
            Time in seconds at which the sender queued it, and the segment or control frame.
        start_s
            Start of the transmission, in seconds.
        acknowledged
            Whether the sniffer receives an ACK of the frame.
        sleeps, more
            Power Management bit and More Data bit of the frame.
        """
        queued_s, item = entry
        segment = item if isinstance(item, Segment) else None
        air_s = self._air_s(kind, segment)
        heard_s, retry = start_s + air_s, item in self.failed
        self.failed.discard(item)
        self._notify(
            AirFrame(kind, self._up, queued_s, start_s, air_s, heard_s, segment, retry, sleeps, more)
        )
        if acknowledged:
            begins_s, air_s = heard_s + self._timing.sifs_s, self._timing.ack_s
            heard_s = begins_s + air_s
            self._notify(
                AirFrame("ack", not self._up, begins_s, begins_s, air_s, heard_s, None, False, False, False)
            )

    def ampdu(
        self, entries: Sequence[tuple[float, Any]], arrived: Sequence[Any], start_s: float, sleeps: bool
    ) -> None:
        """Report the frames of an A-MPDU. Block acks, their requests, RTS and CTS are not reported.

        Parameters
        ----------
        entries, arrived
            Frames of the A-MPDU with their queueing times, and the frames received without errors.
        start_s, sleeps
            Start of the transmission in seconds, and Power Management bit.
        """
        size, begins_s = 0, start_s
        for queued_s, item in entries:
            size = self._timing.ampdu_bytes(size, item.wire_bytes)
            heard_s, retry = start_s + self._timing.ampdu_s(size), item in self.failed
            self.failed.discard(item)
            if item in arrived:
                air_s = heard_s - begins_s
                self._notify(
                    AirFrame("data", self._up, queued_s, begins_s, air_s, heard_s, item, retry, sleeps, False)
                )
            else:
                self.failed.add(item)
            begins_s = heard_s

    def _air_s(self, kind: FrameKind, segment: Segment | None) -> float:
        if segment is not None:
            return self._timing.data_s(segment.wire_bytes)
        return self._timing.poll_s if kind == "ps-poll" else self._timing.null_s

    def _notify(self, frame: AirFrame) -> None:
        for notify in self._callbacks:
            notify(frame)


class AirLink(Link):
    """One direction of the wireless hop, with a queue of frames that wait for the channel.

    Attributes
    ----------
    queue : deque of (float, Segment or ControlFrame)
        Waiting frames in the order of transmission, each with its arrival time in seconds.
    request_channel : callable
        Called when a frame is queued. It must be set before the first frame is sent.
    timing : FrameTiming
        Durations of the frames.
    lost_bytes : int
        Bytes of the frames that exceeded the retry limit, including headers.
    sniffer : SnifferTap or None
        Reporter of the frames; None if no observer needs them.
    errors : FrameErrors or None
        Frame errors on the channel of the station; None if there are none.
    block_ack : BlockAckAgreement or None
        Aggregation of the queued frames; None without aggregation.
    unacknowledged : object
        Received frame that will be sent again because its ACK was lost; None if there is none.
    """

    def __init__(
        self,
        env: Environment,
        name: LinkName,
        topology: Topology,
        on_frame: Sequence[Callable[[Link, float, float, Segment], None]],
        on_air: Sequence[AirCallback],
    ) -> None:
        super().__init__(env, name, topology.wireless, on_frame)
        self.timing = FrameTiming(topology.mac)
        self.queue: deque[tuple[float, Any]] = deque()
        self.request_channel: Callable[[], None]
        self.lost_bytes = 0
        self.errors: FrameErrors | None = None
        self.unacknowledged: Any = None
        self.block_ack = BlockAckAgreement(self) if self.timing.ampdu_limit else None
        self.sniffer = SnifferTap(name == "wireless up", on_air, self.timing) if on_air else None

    def send(self, segment: Segment, queued_s: float | None = None) -> None:
        """Queue a segment for transmission."""
        self.queue.append((self._env.now, segment))
        self.request_channel()

    def enqueue(self, item: Any, first: bool = False) -> None:
        """Queue a control frame at the end of the queue, or at its head if *first* is true."""
        entry = (self._env.now, item)
        if first:
            self.queue.appendleft(entry)
        else:
            self.queue.append(entry)

    def collided(self, sent_s: float) -> None:
        """Handle a failed transmission of *sent_s* seconds. Its frames get the Retry bit when repeated."""
        if self.block_ack is not None:
            self.block_ack.fail(sent_s)
        if self.sniffer is not None:
            self.sniffer.failed.update(item for _, item in self.sent())

    def sent(self) -> list[tuple[float, Any]]:
        """Return the queue entries in transmission: those of an A-MPDU, or else the first entry."""
        return (self.block_ack and self.block_ack.sent) or [self.queue[0]]

    def remove(self, entry: tuple[float, Any]) -> Any:
        """Remove an entry from the queue and return its frame."""
        self.queue.remove(entry)
        if self.sniffer is not None:
            self.sniffer.failed.discard(entry[1])
        return entry[1]

    def air_time_s(self, segment: Segment) -> float:
        """Return the transmission time of a segment, in seconds."""
        return self.timing.data_s(segment.wire_bytes)

    def notify_arrival(self, segment: Segment, start_s: float) -> None:
        """Notify observers of a segment that arrives now and was transmitted from *start_s* seconds on."""
        now_s = self.free_at = self._env.now
        for notify in self._on_frame:
            notify(self, start_s, now_s, segment)

    @property
    def in_flight_bytes(self) -> int:
        """Bytes of the segments that are queued or on the channel, including headers."""
        waiting = (item for _, item in self.queue if item is not self.unacknowledged)
        return sum(item.wire_bytes for item in waiting if isinstance(item, Segment))

    def first_error(self, frames: int) -> int:
        """Return the result of :meth:`FrameErrors.first`, or 0 if errors are not simulated."""
        return 0 if self.errors is None else self.errors.first(frames)

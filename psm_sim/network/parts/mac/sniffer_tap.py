"""Frames and ACKs of one direction as a sniffer next to the station receives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psm_sim.network.air_frame import AirCallback, AirFrame, FrameKind
from psm_sim.network.parts.frame_timing import FrameTiming
from psm_sim.network.segment import Segment


class SnifferTap:
    """Reporter of the frames of one direction and of their ACKs.

    Collided frames are not reported, because the sniffer cannot decode them. The copy that is received
    has the Retry bit.

    Parameters
    ----------
    up
        Whether the station sends the frames. Their ACKs go in the opposite direction.
    notify
        Callbacks for the frames.
    timing
        Durations of frames.

    Attributes
    ----------
    collided : set
        Queued frames of which a transmission has collided.
    """

    def __init__(self, up: bool, notify: Sequence[AirCallback], timing: FrameTiming) -> None:
        self._up, self._callbacks, self._timing = up, notify, timing
        self.collided: set[object] = set()

    def frame(
        self,
        kind: FrameKind,
        entry: tuple[float, Any],
        start_s: float,
        sleeps: bool = False,
        more: bool = False,
    ) -> float:
        """Report a frame, and return when its last bit is received, in seconds.

        Parameters
        ----------
        kind
            Kind of the frame.
        entry
            Time in seconds at which the sender queued it, and the segment or control frame.
        start_s
            Start of the transmission, in seconds.
        sleeps, more
            Its Power Management bit and its More Data bit.
        """
        queued_s, item = entry
        segment = item if isinstance(item, Segment) else None
        air_s = self._air_s(kind, segment)
        heard_s, retry = start_s + air_s, item in self.collided
        self.collided.discard(item)
        self._notify(
            AirFrame(kind, self._up, queued_s, start_s, air_s, heard_s, segment, retry, sleeps, more)
        )
        return heard_s

    def exchange(
        self,
        kind: FrameKind,
        entry: tuple[float, Any],
        start_s: float,
        sleeps: bool = False,
        more: bool = False,
    ) -> None:
        """Report a frame and its ACK.

        Parameters
        ----------
        kind, entry, start_s, sleeps, more
            As for :meth:`frame`.
        """
        begins_s = self.frame(kind, entry, start_s, sleeps, more) + self._timing.sifs_s
        air_s = self._timing.ack_s
        heard_s = begins_s + air_s
        self._notify(
            AirFrame("ack", not self._up, begins_s, begins_s, air_s, heard_s, None, False, False, False)
        )

    def _air_s(self, kind: FrameKind, segment: Segment | None) -> float:
        if segment is not None:
            return self._timing.data_s(segment.wire_bytes)
        return self._timing.poll_s if kind == "ps-poll" else self._timing.null_s

    def _notify(self, frame: AirFrame) -> None:
        for notify in self._callbacks:
            notify(frame)

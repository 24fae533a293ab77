"""Teller: what a sniffer beside the station hears of one direction of the air."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psm_sim.network.air_frame import AirCallback, AirFrame, FrameKind
from psm_sim.network.frame_timing import FrameTiming
from psm_sim.network.segment import Segment


class SnifferTap:
    """Teller of the frames of one direction, each when it has been understood, and of the ACKs for them.

    A frame that has collided is not told, since nobody understands it: it is ``tried``, and the copy that is
    understood has the retry bit.

    Parameters
    ----------
    up
        Whether the station sends the frames; their ACKs go the other way.
    tell
        Who is told.
    timing
        How long frames take.
    """

    def __init__(self, up: bool, notify: Sequence[AirCallback], timing: FrameTiming) -> None:
        self._up, self._tell, self._timing = up, notify, timing
        self.tried: set[object] = set()

    def frame(
        self,
        kind: FrameKind,
        entry: tuple[float, Any],
        start_s: float,
        sleeps: bool = False,
        more: bool = False,
    ) -> float:
        """Tell of a frame, and return when its last bit is heard, in seconds.

        Parameters
        ----------
        kind
            What it is.
        entry
            When its sender had it, in seconds, and the segment or control frame itself.
        start_s
            When its first bit was sent, in seconds.
        sleeps, more
            Its power-management bit, and its More Data bit.
        """
        queued_s, item = entry
        segment = item if isinstance(item, Segment) else None
        air_s = self._air_s(kind, segment)
        heard_s, retry = start_s + air_s, item in self.tried
        self.tried.discard(item)
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
        """Tell of a frame and of its ACK.

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
        for notify in self._tell:
            notify(frame)

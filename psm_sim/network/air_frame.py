"""Frame on the air: what a sniffer beside the station hears of one transmission."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from psm_sim.network.segment import Segment

FrameKind = Literal["data", "group", "null", "ps-poll", "ack", "beacon"]
"""Data of TCP or a datagram, a group-addressed frame, a null frame, a PS-Poll, the MAC's ACK, or a beacon."""


class AirFrame(NamedTuple):
    """Frame on the air, told when it is queued or, by a finer MAC, when it was sent. All times in seconds.

    A beacon is told only by a finer MAC, and only if it is late, before the frame that it waits for: all
    others go on the air when they are due, there a PIFS later.

    Attributes
    ----------
    kind : FrameKind
        What it is.
    uplink : bool
        Whether the station sends it.
    queued_s, starts_s : float
        When its sender had it, and when its first bit is sent. A beacon takes the place of all that were
        due from the first of these times on.
    air_s : float
        How long it is on the air.
    heard_s : float
        When the last bit is heard beside the station.
    segment : Segment or None
        What it carries; none for a PS-Poll, an ACK, a beacon, and a null frame of a finer MAC.
    retry : bool
        Whether it was sent before.
    sleeps : bool or None
        The power-management bit; None: the MAC does not model it.
    more : bool or None
        The More Data bit; None: true if another frame is queued behind it when it starts.
    """

    kind: FrameKind
    uplink: bool
    queued_s: float
    starts_s: float
    air_s: float
    heard_s: float
    segment: Segment | None
    retry: bool = False
    sleeps: bool | None = None
    more: bool | None = None


AirCallback = Callable[[AirFrame], None]
"""Called as :class:`~psm_sim.network.observers.Observer` says of ``air``."""

DataCallback = Callable[[bool, float, float, float, float, Segment], None]
"""Called with what :class:`AirFrame` has from ``uplink`` to ``segment``, for data of TCP."""

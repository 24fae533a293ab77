"""Frame on the air: what a sniffer beside the station hears of one transmission."""

from __future__ import annotations

from typing import Literal, NamedTuple

from psm_sim.network.segment import Segment

FrameKind = Literal["data", "group", "null", "ps-poll", "ack"]
"""Data of TCP or a datagram, a group-addressed frame, a null frame, a PS-Poll, or the MAC's own ACK."""


class OnAir(NamedTuple):
    """Frame on the air, told when it is queued or, by a finer MAC, when it is sent. All times in seconds.

    Attributes
    ----------
    kind : FrameKind
        What it is; beacons are not told, since their times are known.
    uplink : bool
        Whether the station sends it.
    queued_s, starts_s : float
        When its sender had it, and when its first bit is sent.
    air_s : float
        How long it is on the air.
    heard_s : float
        When the last bit is heard beside the station.
    segment : Segment or None
        What it carries; none for a PS-Poll or an ACK.
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

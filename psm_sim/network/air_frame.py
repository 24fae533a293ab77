"""Transmitted 802.11 frame, as a sniffer next to the station captures it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from psm_sim.network.segment import Segment

FrameKind = Literal["data", "group", "null", "ps-poll", "ack", "beacon"]
"""Data frame (TCP or datagram), group addressed frame, null data frame, PS-Poll, MAC-level ACK, or beacon."""


class AirFrame(NamedTuple):
    """Frame on the wireless medium. All times are in seconds.

    The link model reports a frame when it is queued, the DCF model after its transmission. Beacons are
    reported by the DCF model only, and only if they are late, before the frame for which they wait. All other
    beacons are sent when they are due, or a PIFS later with the DCF model.

    Attributes
    ----------
    kind : FrameKind
        Type of the frame.
    uplink : bool
        Whether the station sends it.
    queued_s, starts_s : float
        Time at which its sender has it, and start of transmission. A late beacon replaces all beacons that
        are due from ``queued_s`` on.
    air_s : float
        Duration of the transmission.
    heard_s : float
        Time at which its last bit arrives at the sniffer.
    segment : Segment or None
        Content; None for a PS-Poll, an ACK, a beacon, and a null data frame of the DCF model.
    retry : bool
        Whether it is a retransmission.
    sleeps : bool or None
        Power Management bit; None if the MAC does not model it.
    more : bool or None
        More Data bit; None means set if another frame is queued behind it at the start of transmission.
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
"""Callback with the signature of :meth:`Observer.air <psm_sim.network.observers.Observer.air>`."""

"""Packet of a recording, which is replayed as a datagram."""

from __future__ import annotations

from psm_sim.network.segment import Segment
from psm_sim.policies import Frame


class RecordedPacket(Segment):
    """Datagram that replays a recorded TCP packet. Hosts ignore it like any datagram.

    Attributes
    ----------
    frame : Frame
        Fields of the recorded packet that a driver can observe.
    """

    __slots__ = ("frame",)

    frame: Frame

"""802.11 frames as a sniffer next to the station captures them, and the links that report them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from simpy import Environment

from psm_sim.network.link import Link, LinkName, Uplink
from psm_sim.network.segment import GROUP, NULL, Segment
from psm_sim.network.topology_sections import LinkParameters

FrameKind = Literal["data", "group", "null", "ps-poll", "ack", "beacon"]
"""Data frame (TCP or datagram), group addressed frame, null data frame, PS-Poll, MAC-level ACK, or beacon."""


class AirFrame(NamedTuple):
    """Frame on the wireless medium. All times are in seconds.

    The link model reports frames when they are queued. The DCF model reports frames after their transmission,
    and late beacons before the frame that delays them. Beacons that are not late are not reported. They are
    sent when they are due or, with the DCF model, a PIFS later.

    Attributes
    ----------
    kind : FrameKind
        Type of the frame.
    uplink : bool
        Whether the station sends it.
    queued_s, starts_s : float
        Time at which the frame is queued at its sender, and start of transmission. For a late beacon,
        ``queued_s`` is the time at which the first beacon that it replaces was due.
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
        More Data bit. None: the bit is 1 if the next frame to the station is queued by ``starts_s``.
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

OnFrame = Callable[[Link, float, float, Segment], None]


class SniffedLink(Link):
    """Link that reports each frame as it is queued."""

    def __init__(
        self,
        env: Environment,
        name: LinkName,
        parameters: LinkParameters,
        on_frame: Sequence[OnFrame],
        on_air: Sequence[AirCallback],
    ) -> None:
        super().__init__(env, name, parameters, on_frame)
        self._on_air, self._up = on_air, name == "wireless up"

    def send(self, segment: Segment, queued_s: float | None = None) -> None:
        """Queue one segment and report it. See :class:`~psm_sim.network.link.Link` for the arguments."""
        queued_s = self._env.now if queued_s is None else queued_s
        self.report(segment, queued_s)
        super().send(segment, queued_s)

    def report(self, segment: Segment, queued_s: float) -> None:
        """Report a segment that is queued at *queued_s* seconds, before the link carries it."""
        self._report(segment, queued_s, max(self.free_at, queued_s))

    def report_unreceived(self, segment: Segment, count: int) -> None:
        """Report *count* consecutive frames that no station receives. The link does not carry them."""
        queued_s, air_s = self._env.now, self.air_time_s(segment)
        starts_s = max(queued_s, self.free_at)
        for number in range(count):
            self._report(segment, queued_s, starts_s + number * air_s)

    def _report(self, segment: Segment, queued_s: float, starts_s: float) -> None:
        connection, air_s = segment.connection, self.air_time_s(segment)
        kind: FrameKind = "null" if connection is NULL else "group" if connection is GROUP else "data"
        heard_s = starts_s + air_s if self._up else starts_s + air_s + self.latency_s
        frame = AirFrame(kind, self._up, queued_s, starts_s, air_s, heard_s, segment)
        for on_air in self._on_air:
            on_air(frame)


class SniffedUplink(Uplink):
    """Uplink that reports the frames on its first, wireless link."""

    transmitter: SniffedLink

    def send(self, segment: Segment) -> None:
        """Queue one segment and report it."""
        self.transmitter.report(segment, self._env.now)
        super().send(segment)

"""Sniffed link: a wireless link whose frames are told to whoever listens to the air."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from simpy import Environment

from psm_sim.network.air_frame import AirCallback, AirFrame, DataCallback, FrameKind
from psm_sim.network.link import Link, LinkName, Uplink
from psm_sim.network.segment import GROUP, NULL, BufferedFrame, Segment
from psm_sim.network.topology_sections import LinkParameters

_new = tuple.__new__
OnFrame = Callable[[Link, float, float, Segment], None]


class SniffedLink(Link):
    """Link that tells of each frame as it is queued, on its own or in front of another link.

    Parameters
    ----------
    env, name, parameters, on_frame
        As for :class:`~psm_sim.network.link.Link`.
    on_air
        Called as :class:`~psm_sim.network.observers.Observer` says of ``air``.
    """

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
        self._tell_data = [_data_told(notify) for notify in on_air]

    def send(self, segment: Segment, queued_s: float | None = None) -> None:
        """Queue one segment, and tell of it; arguments as for :class:`~psm_sim.network.link.Link`."""
        queued_s = self._env.now if queued_s is None else queued_s
        arrives_s = self.carry(segment, queued_s)
        if not self.flying:
            self.arrival.arm(arrives_s)
        self.flying.append((arrives_s, segment))
        self._tell(segment, queued_s, arrives_s)

    def send_all(self, buffered: Sequence[BufferedFrame]) -> None:
        """Queue segments that were held, each by :meth:`send`."""
        for _, segment in buffered:
            self.send(segment)

    def carry(self, segment: Segment, queued_s: float) -> float:
        """Return when a segment queued at *queued_s* seconds arrives, count the time to send it, and tell."""
        free_at = self.free_at
        starts_s = free_at if free_at > queued_s else queued_s
        air_s = segment.wire_bytes * self.s_per_byte
        self.free_at = sent_s = starts_s + air_s
        arrives_s = sent_s + self.latency_s
        up, heard_s = self._up, sent_s if self._up else arrives_s
        if segment.connection.number >= 0:
            for notify in self._tell_data:
                notify(up, queued_s, starts_s, air_s, heard_s, segment)
        else:
            told = _kind(segment), up, queued_s, starts_s, air_s, heard_s, segment, False, None, None
            frame = _new(AirFrame, told)
            for on_air in self._on_air:
                on_air(frame)
        return arrives_s

    def unheard(self, segment: Segment, count: int) -> None:
        """Tell of *count* frames one after another that no station receives; the link does not carry them."""
        queued_s, air_s = self._env.now, self.air_time_s(segment)
        starts_s = max(queued_s, self.free_at)
        for number in range(count):
            begins_s = starts_s + number * air_s
            heard_s = begins_s + air_s + self.latency_s
            frame = AirFrame(_kind(segment), self._up, queued_s, begins_s, air_s, heard_s, segment)
            for notify in self._on_air:
                notify(frame)


class SniffedUplink(Uplink):
    """Uplink that begins with a sniffed link."""

    transmitter: SniffedLink

    def send(self, segment: Segment) -> None:
        """Queue one segment behind those not yet sent, and tell of it."""
        self._second.send(segment, self.transmitter.carry(segment, self._env.now))


def uplink_of(env: Environment, first: Link, second: Link) -> Uplink:
    """Return two links as one that tells of the frames on the first, if that does.

    Parameters
    ----------
    env, first, second
        As for :class:`~psm_sim.network.link.Uplink`.
    """
    kind = SniffedUplink if isinstance(first, SniffedLink) else Uplink
    return kind(env, first, second)


def wireless_link(
    env: Environment,
    name: LinkName,
    parameters: LinkParameters,
    on_frame: Sequence[OnFrame],
    on_air: Sequence[AirCallback],
) -> Link:
    """Return a link that tells of its frames if anybody listens to the air, else a plain one.

    Parameters
    ----------
    env, name, parameters, on_frame, on_air
        As for :class:`SniffedLink`.
    """
    if not on_air:
        return Link(env, name, parameters, on_frame)
    return SniffedLink(env, name, parameters, on_frame, on_air)


def _data_told(notify: AirCallback) -> DataCallback:
    """Return what tells of data of TCP: ``air_data``, if the class that has this ``air`` has it, too."""
    owner: Any = getattr(notify, "__self__", None)
    of_air = next((each for each in type(owner).__mro__ if "air" in vars(each)), object)
    if "air_data" not in vars(of_air):
        return lambda *fields: notify(AirFrame("data", *fields))
    told: DataCallback = owner.air_data
    return told


def _kind(segment: Segment) -> FrameKind:
    connection = segment.connection
    return "null" if connection is NULL else "group" if connection is GROUP else "data"

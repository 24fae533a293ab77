"""Outbox of a station: what it sends, data and control frames, and how each is exchanged."""

from __future__ import annotations

from enum import Enum
from typing import Protocol

from psm_sim.network.frame_timing import FrameTiming
from psm_sim.network.mac.air_link import AirLink
from psm_sim.network.mac.ap_queue import MacPort
from psm_sim.network.mac.channel import Channel
from psm_sim.network.mac.channel_access import Exchange
from psm_sim.network.mac.sniffer_tap import SnifferTap
from psm_sim.network.segment import Segment


class ControlFrame(Enum):
    """Frame without data that a station sends."""

    POLL = "a PS-Poll: the answer is the first frame held"
    WAKES = "a null frame whose power-management bit says that the station is awake"
    DOZES = "a null frame whose power-management bit says that it dozes"


POLL, WAKES, DOZES = ControlFrame

Item = Segment | ControlFrame


class StationQueueListener(Protocol):
    """Owner of an outbox: the radio, which is told what became of the frames."""

    def sent(self, item: Item) -> None:
        """A frame was acknowledged; data are not yet forwarded."""

    def polled(self, segment: Segment | None, more: bool) -> None:
        """A PS-Poll was answered by a frame, or by an ACK; *more* are held."""

    def lost(self, item: Item) -> None:
        """A frame was tried too often."""

    def transmitted(self, air_s: float) -> None:
        """The station has transmitted for so many seconds."""


class StationQueue:
    """Outbox: one contender; PS-Polls go before all else if *poll_first* says so.

    Parameters
    ----------
    air, timing
        What it competes for, and how long frames take.
    link, port
        The way up, whose queue it serves, and the station's port.
    owner
        Told what became of the frames.
    poll_first
        Whether a PS-Poll overtakes what waits.
    """

    def __init__(
        self,
        air: Channel,
        timing: FrameTiming,
        link: AirLink,
        port: MacPort,
        owner: StationQueueListener,
        poll_first: bool,
    ) -> None:
        self._air, self._timing, self._link, self._port = air, timing, link, port
        self._owner, self._poll_first = owner, poll_first
        self.contender = air.join(self)
        self._start_s = 0.0
        self._flying = False
        link.ask = lambda: air.ask(self.contender)

    def push(self, item: ControlFrame, hurried: bool = True) -> None:
        """Queue a control frame; *hurried* as for :meth:`Channel.ask`."""
        self._link.wait(item, first=item is POLL and self._poll_first)
        self._air.ask(self.contender, hurried)

    def cancel(self, item: ControlFrame) -> bool:
        """Take back a control frame; return whether it was there and is not on the air."""
        waits = self._link.waits
        found = next((entry for entry in waits if entry[1] is item), None)
        if found is None or (self._flying and found is waits[0]):
            return False
        self._link.take_back(found)
        self._air.withdraw(self.contender)
        return True

    def waiting(self) -> bool:
        """Say whether there is something to send."""
        return bool(self._link.waits)

    def exchange(self, start_s: float) -> Exchange:
        """Return the exchange of the first frame, which goes on the air at *start_s* seconds."""
        self._start_s, self._flying = start_s, True
        item, timing = self._link.waits[0][1], self._timing
        if item is POLL:
            return self._poll()
        first_s = timing.null_s if isinstance(item, ControlFrame) else self._link.air_time_s(item)
        return Exchange(first_s, first_s, timing.answer_s, self._sent)

    def collided(self, first_s: float) -> None:
        """Charge the energy; the frame goes on waiting."""
        self._flying = False
        self._link.collided()
        self._owner.transmitted(first_s)

    def lost(self) -> None:
        """Give up the first frame."""
        item = self._link.take_back(self._link.waits[0])
        if isinstance(item, Segment):
            self._link.lost_bytes += item.wire_bytes
        self._owner.lost(item)

    def _poll(self) -> Exchange:
        timing, answer = self._timing, self._port.first()
        if answer is None or self._port.awake:
            return Exchange(timing.poll_s, timing.poll_s + timing.answer_s, 0.0, self._refused)
        lasts_s = timing.poll_s + timing.sifs_s + self._port.link.air_time_s(answer)
        return Exchange(timing.poll_s, lasts_s, timing.answer_s, self._answered)

    def _refused(self) -> None:
        self._flying = False
        entry = self._link.waits.popleft()
        if self._link.teller is not None:
            self._link.teller.exchange("ps-poll", entry, self._start_s, sleeps=True)
        self._owner.transmitted(self._timing.poll_s)
        self._owner.polled(None, False)

    def _answered(self) -> None:
        self._flying = False
        entry = self._link.waits.popleft()
        if self._link.teller is not None:
            self._link.teller.frame("ps-poll", entry, self._start_s, sleeps=True)
        timing, answer = self._timing, self._port.first()
        began_s = self._start_s + timing.poll_s + timing.sifs_s
        more = self._port.take(began_s)
        self._owner.transmitted(timing.poll_s + timing.ack_s)
        if answer is not None:
            self._port.link.arrived(answer, began_s)
        self._owner.polled(answer, more)

    def _sent(self) -> None:
        self._flying = False
        entry = self._link.waits.popleft()
        if self._link.teller is not None:
            self._tell(self._link.teller, entry)
        item = entry[1]
        if isinstance(item, Segment):
            self._owner.transmitted(self._link.air_time_s(item))
            self._link.arrived(item, self._start_s)
        else:
            self._owner.transmitted(self._timing.null_s)
        self._owner.sent(item)

    def _tell(self, teller: SnifferTap, entry: tuple[float, Item]) -> None:
        """Tell of a data frame or a null frame; the access point does not know its bit yet."""
        data = isinstance(entry[1], Segment)
        legacy = not (self._port.awake or self._port.release_on_uplink)
        sleeps = legacy if data else entry[1] is DOZES
        teller.exchange("data" if data else "null", entry, self._start_s, sleeps)

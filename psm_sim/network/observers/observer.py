"""Observer: the base class of all that watches a run, and the sorting of its methods by event."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from psm_sim.network.air_frame import AirFrame
from psm_sim.network.browser import Visit
from psm_sim.network.link import Link
from psm_sim.network.segment import Segment
from psm_sim.network.topology import Topology
from psm_sim.policies import Policy, Poll, Rest


class Observer:
    """Observer of a run: a subclass overrides the methods it needs; the others cost nothing.

    An observer is told, never asked, and must change nothing that it is given. All times are seconds since
    the start of the run. For each method they never decrease. From one method to another they may: what an
    idle radio does (:meth:`radio`, :meth:`beacons`, :meth:`rest`) is worked out, and told, when something
    next happens to it, which can be after a frame or a page of a later time was told elsewhere. When
    :meth:`page` and :meth:`finish` are called, all that the radio did before has been told.
    """

    def begin(self, topology: Topology, policy: Policy) -> None:
        """Told of the scenario and the policy, to read, before the clock starts."""

    def radio(self, time_s: float, awake: bool) -> None:
        """Told that the radio wakes (*awake* is true) or begins to doze; it is awake at the start.

        Parameters
        ----------
        time_s
            When, in seconds.
        awake
            The state that begins.
        """

    def beacons(self, first_s: float, count: int, every_s: float) -> None:
        """Told that a dozing radio woke to hear beacons.

        Unless :meth:`radio` follows with the time of the last one, the radio dozed on at once.

        Parameters
        ----------
        first_s
            When the first one was sent, in seconds.
        count
            How many they were, at least 1. All but the last named nobody, and the policy was not asked.
        every_s
            Time from one to the next, in seconds; with a count of 1 it says nothing.
        """

    def rest(self, time_s: float, poll: Poll | None, rest: Rest) -> None:
        """Told that the policy was asked how to rest, since the link had fallen idle.

        Parameters
        ----------
        time_s
            When the link fell idle, in seconds.
        poll
            What the policy was told that the station saw; ``None`` after an uplink packet.
        rest
            What it answered; with ``repeat`` it is not asked again after beacons that name nobody.
        """

    def decision(self, time_s: float, poll: Poll | None, rest: Rest) -> None:
        """Told as :meth:`rest`, but only of questions that are asked anyway.

        Who overrides it costs a policy with a plan nothing: at the beacons of the plan nobody is asked.

        Parameters
        ----------
        time_s, poll, rest
            As for :meth:`rest`.
        """

    def buffered(self, time_s: float, frames: int, retrieved: int) -> None:
        """Told that the number of frames held for the station has changed.

        Frames that grew too old are told of when that is noticed, with the time at which they did.

        Parameters
        ----------
        time_s
            When, in seconds.
        frames
            How many are held now.
        retrieved
            How many of those held before are sent now; 0 if one came, or was dropped.
        """

    def air(self, frame: AirFrame) -> None:
        """Told of a frame on the air, as soon as that is certain; all the radio did before is told.

        Frames come in no order of their times. Over a link they are told when they are queued, over the air
        of 802.11 when they have been understood. A class that has ``air_data`` beside this method is told
        there of data of TCP on links, without a frame being made: by position, of one's ``uplink``,
        ``queued_s``, ``starts_s``, ``air_s``, ``heard_s`` and ``segment``.
        """

    def frame(self, link: Link, queued_s: float, arrives_s: float, segment: Segment) -> None:
        """Told that a segment was queued on a link; what the access point drops or holds is on none.

        Parameters
        ----------
        link
            Which one, see its ``name``; its ``free_at`` is already the time in seconds at which this
            segment will have been sent.
        queued_s
            Now, in seconds.
        arrives_s
            When it will be delivered, in seconds.
        segment
            The TCP segment, one frame.
        """

    def lost(self, link: Link, time_s: float, segment: Segment) -> None:
        """Told that a fault has taken a segment at the end of a link, where it would have been delivered.

        Parameters
        ----------
        link
            Which one.
        time_s
            Now, in seconds.
        segment
            The TCP segment, told as a frame when it was queued.
        """

    def page(self, visit: Visit) -> None:
        """Told that a page is complete, or has failed for ``visit.failure``, at ``visit.ended_s``."""

    def finish(self, time_s: float) -> None:
        """Told that all pages of the run are over, at *time_s* seconds; not if the run fails."""


class ObserverHooks:
    """Audience of a run: for each event the methods to call, in the order of the observers.

    Only methods that a class overrides are kept, so that an event nobody wants costs an empty loop.
    """

    def __init__(self, observers: Sequence[Observer]) -> None:
        self.begin = _overridden(observers, "begin")
        self.radio = _overridden(observers, "radio")
        self.beacons = _overridden(observers, "beacons")
        self.rest = _overridden(observers, "rest")
        self.decisions = self.rest + _overridden(observers, "decision")
        self.buffered = _overridden(observers, "buffered")
        self.air = _overridden(observers, "air")
        self.frame = _overridden(observers, "frame")
        self.lost = _overridden(observers, "lost")
        self.page = _overridden(observers, "page")
        self.finish = _overridden(observers, "finish")


def _overridden(observers: Sequence[Observer], event: str) -> tuple[Callable[..., None], ...]:
    nothing = getattr(Observer, event)
    methods = (getattr(observer, event) for observer in observers)
    return tuple(method for method in methods if getattr(method, "__func__", None) is not nothing)

"""Observers, which record the events of a run without affecting it, and the table of their hooks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from psm_sim.network.browser import Visit
from psm_sim.network.link import Link
from psm_sim.network.segment import Segment
from psm_sim.network.sniffed_link import AirFrame
from psm_sim.network.topology import Topology
from psm_sim.policies import Policy, Poll, Rest


class Observer:
    """Base class of observers, which record the events of a run.

    A subclass overrides the hooks that it needs. Hooks that are not overridden cost nothing. An observer
    must not modify the objects that it receives, so it cannot affect the run.

    Notes
    -----
    All times are in seconds since the start of the run. Consecutive calls of one hook never go back in time,
    except those of :meth:`air` and :meth:`frame`. The behaviour of an idle radio is computed lazily, so
    :meth:`radio`, :meth:`beacons` and :meth:`rest` can be called late, after a call of :meth:`frame` with a
    later time. They are never called after :meth:`page` or :meth:`finish` with an earlier time.

    Examples
    --------
    Count the beacons that a dozing station receives:

    >>> import psm_sim
    >>> from psm_sim.network import Observer
    >>> class BeaconCounter(Observer):
    ...     count = 0
    ...     def beacons(self, first_s, count, every_s):
    ...         self.count += count
    >>> counter = BeaconCounter()
    >>> result = psm_sim.simulate("psm", pages=5, observers=[counter])
    >>> counter.count == result["usage.beacons"]
    True
    """

    def begin(self, topology: Topology, policy: Policy) -> None:
        """Handle the start of the run, before the clock starts.

        Parameters
        ----------
        topology : Topology
            The resolved topology. Read only.
        policy : Policy
            The policy of the station. Read only.
        """

    def radio(self, time_s: float, awake: bool) -> None:
        """Handle a change of the radio state. The radio starts awake.

        Parameters
        ----------
        time_s : float
            Time of the change, in seconds.
        awake : bool
            The new state: True if the radio wakes up, False if it begins to doze.
        """

    def beacons(self, first_s: float, count: int, every_s: float) -> None:
        """Handle beacons that a dozing radio woke up to receive.

        The radio dozes again after each of them. If it wakes up at the last one, :meth:`radio` is called
        next, with the time of that beacon.

        Parameters
        ----------
        first_s : float
            Time of the first beacon, in seconds.
        count : int
            Number of beacons, at least 1. At all beacons but the last, the station's TIM bit is 0 and the
            policy makes no decision.
        every_s : float
            Interval between the beacons, in seconds. The interval is meaningless if *count* is 1.
        """

    def rest(self, time_s: float, poll: Poll | None, rest: Rest) -> None:
        """Handle a sleep decision, which the policy makes when the link becomes idle.

        Overriding this hook disables the plans of policies, which slows the run down. See :meth:`decision`.

        Parameters
        ----------
        time_s : float
            Time at which the link became idle, in seconds.
        poll : Poll or None
            Observation at the beacon that ended the doze; None if no beacon has ended a doze since the last
            decision.
        rest : Rest
            The decision. If ``repeat`` is true, the same doze follows each beacon in which the station's TIM
            bit is 0.
        """

    def decision(self, time_s: float, poll: Poll | None, rest: Rest) -> None:
        """Handle a sleep decision like :meth:`rest`, but do not disable the plans of policies.

        The hook is not called for the dozes of a plan, which follow without a new decision.

        Parameters
        ----------
        time_s, poll, rest
            See :meth:`rest`.
        """

    def buffered(self, time_s: float, frames: int, retrieved: int) -> None:
        """Handle a change of the number of frames that the access point buffers for the station.

        Frames that age out are reported when the access point notices their age, with the time at which they
        expired.

        Parameters
        ----------
        time_s : float
            Time of the change, in seconds.
        frames : int
            New number of buffered frames.
        retrieved : int
            Number of buffered frames that the station retrieves now; 0 if a frame was added or dropped.
        """

    def air(self, frame: AirFrame) -> None:
        """Handle a frame on the wireless channel.

        The link model reports a frame when it is queued, the DCF model when it has been received. Successive
        frames can therefore have decreasing times. Radio events that precede a frame are reported before the
        frame.

        Parameters
        ----------
        frame : AirFrame
            The frame, its times and its header bits.
        """

    def frame(self, link: Link, queued_s: float, arrives_s: float, segment: Segment) -> None:
        """Handle a segment on a link. DCF links report it on delivery, other links when it is queued.

        Frames that the access point drops or buffers are not on any link.

        Parameters
        ----------
        link : Link
            The link, identified by its ``name``. Its ``free_at`` is the time in seconds at which the
            transmission of this segment ends.
        queued_s : float
            Time at which it is queued, in seconds; with the DCF, start of its transmission.
        arrives_s : float
            Time of delivery, in seconds.
        segment : Segment
            The TCP segment, which is one frame.
        """

    def lost(self, link: Link, time_s: float, segment: Segment) -> None:
        """Handle a segment that a fault drops at the end of a link.

        Parameters
        ----------
        link : Link
            The link.
        time_s : float
            Current time, in seconds.
        segment : Segment
            The TCP segment, which :meth:`frame` has reported before.
        """

    def page(self, visit: Visit) -> None:
        """Handle the end of a page at ``visit.ended_s``.

        Parameters
        ----------
        visit : Visit
            The page and its times. ``visit.failure`` is the reason if the page has failed.
        """

    def finish(self, time_s: float) -> None:
        """Handle the end of the run at *time_s* seconds. Not called if the run fails."""


class ObserverHooks:
    """Methods to call for each event, in the order of the observers.

    Only overridden methods are included, so an event without handlers costs an empty loop.
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
    default = getattr(Observer, event)
    methods = (getattr(observer, event) for observer in observers)
    return tuple(method for method in methods if getattr(method, "__func__", None) is not default)

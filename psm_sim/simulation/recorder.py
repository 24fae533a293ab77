"""Timeline of a run: one row per event, as a DataFrame or for a file."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from psm_sim.common.errors import InputError, safe_repr
from psm_sim.network import Observer, Topology
from psm_sim.network.browser import Visit
from psm_sim.network.link import Link
from psm_sim.network.segment import Segment
from psm_sim.network.sniffed_link import AirFrame
from psm_sim.policies import Policy, Poll, Rest
from psm_sim.simulation.result import Result
from psm_sim.simulation.transfers import Transfers

if TYPE_CHECKING:
    import pandas as pd

Event = dict[str, Any]

_MIN_CHANGE = 0.002
"""Smallest recorded change of a weight; less is invisible on a track of fewer than 500 pixels."""


class Recorder(Observer):
    """Observer that records the events of a station up to its last page. It does not change the run.

    Attributes
    ----------
    topology, policy
        Topology and policy of the run.
    ended_s
        End time of the last page in seconds; ``inf`` while pages are left.
    """

    def __init__(self, name: str = "station") -> None:
        self.name = name
        self.topology: Topology
        self.policy: Policy
        self.ended_s = inf
        self._events: list[Event] = []
        self._weights: Any = None
        self._transfers = Transfers(self._transfer)

    @property
    def events(self) -> list[Event]:
        """Events ordered by time, each with ``time_s`` and ``event``."""
        return sorted(self._events, key=itemgetter("time_s"))

    def begin(self, topology: Topology, policy: Policy) -> None:
        """Keep the topology and the policy."""
        self.topology, self.policy = topology, policy

    def radio(self, time_s: float, awake: bool) -> None:
        """Record a change of the radio state."""
        self._record(time_s, "wakes" if awake else "dozes")

    def beacons(self, first_s: float, count: int, every_s: float) -> None:
        """Record received beacons, one event for each."""
        for number in range(count):
            self._record(first_s + number * every_s, "beacon")

    def decision(self, time_s: float, poll: Poll | None, rest: Rest) -> None:
        """Record a sleep decision with its poll, and the weights of the learner if they have changed."""
        names = ("slept_ms", "buffered_frames", "buffered_bytes")
        observation = {} if poll is None else {name: getattr(poll, name) for name in names}
        self._record(
            time_s, "rest", **observation, awake_s=rest.awake_s, beacons=rest.beacons, repeat=rest.repeat
        )
        weights = getattr(getattr(self.policy, "learner", None), "weights", None)
        if weights is None or getattr(weights, "ndim", 0) != 1:
            return
        if self._weights is None or abs(weights - self._weights).max() > _MIN_CHANGE:
            self._weights = weights.copy()
            times_ms = getattr(self.policy, "times_ms", range(weights.size))
            shown = {f"{time_ms:g} ms": weight for time_ms, weight in zip(times_ms, weights.tolist())}  # noqa: B905
            self._record(time_s, "weights", weights=shown)

    def buffered(self, time_s: float, frames: int, retrieved: int) -> None:
        """Record the number of buffered frames."""
        self._record(time_s, "buffered", buffered_frames=frames)

    def air(self, frame: AirFrame) -> None:
        """Follow the transfers."""
        self._transfers.air(frame)

    def page(self, visit: Visit) -> None:
        """Record the request of a page and its end."""
        page, objects = visit.page, visit.page.objects
        self._record(
            visit.started_s, "page requested", objects=objects, bytes=page.total_bytes, think_s=page.think_s
        )
        if visit.failure:
            self._record(visit.ended_s, "page failed", objects=objects, reason=visit.failure)
        else:
            self._record(visit.ended_s, "page complete", objects=objects)

    def finish(self, time_s: float) -> None:
        """Discard all further events."""
        self.ended_s = time_s

    def _transfer(self, begins_s: float, ends_s: float, kind: str, size: int, **facts: Any) -> None:
        self._record(begins_s, "transfer", kind=kind, bytes=size, arrives_s=float(ends_s), **facts)

    def _record(self, time_s: float, event: str, **facts: Any) -> None:
        if self.ended_s == inf:
            self._events.append({"time_s": float(time_s), "event": event, **facts})


class DetailedRecorder(Recorder):
    """Recorder of all sleep decisions, including those of a policy's plan, and of the frames on all links.

    The results do not change, but the run takes more time and events.
    """

    rest = Recorder.decision
    decision = Observer.decision

    def frame(self, link: Link, queued_s: float, arrives_s: float, segment: Segment) -> None:
        """Record a frame that is queued on a link."""
        self._record(queued_s, "frame", link=link.name, arrives_s=float(arrives_s), bytes=segment.wire_bytes)

    def lost(self, link: Link, time_s: float, segment: Segment) -> None:
        """Record a frame that a fault removes at the end of a link."""
        self._record(time_s, "frame lost", link=link.name, bytes=segment.wire_bytes)


def observe(result: Result, observers: Sequence[Observer], pages: int | None = None) -> None:
    """Repeat the run of a result with observers. The repeated run has the same events.

    Parameters
    ----------
    result : Result
        Result of a single run.
    observers : sequence of Observer
        Observers of the repeated run.
    pages : int or None
        Number of pages to simulate again; None for all.

    Raises
    ------
    InputError
        If the result is a mean over several runs, or not from ``psm_sim.simulate`` or ``psm_sim.compare``.
    """
    if not isinstance(result, Result):
        raise InputError(f"result must be a Result of psm_sim.simulate, got {safe_repr(result)}.")
    block, *others = result.blocks
    if others or block.observe is None:
        raise InputError(
            f"result must be from a single run, got an average of several runs of {result.policy}; use "
            "e.g. result.parts[0]."
        )
    block.observe(observers, pages)


def timeline(result: Result, pages: int | None = None) -> pd.DataFrame:
    """Return the events of a run, ordered by time, with one row per event.

    The run is simulated again with bit-for-bit identical events.

    Parameters
    ----------
    result : Result
        Result of a single run, from :func:`psm_sim.simulate` or from ``runs`` of a comparison.
    pages : int or None
        Number of pages to simulate again; None for all.

    Returns
    -------
    DataFrame
        Columns ``time_s`` and ``event``, and further columns for some events:

        - ``wakes`` and ``dozes``: change of the radio state,
        - ``beacon``: beacon received while dozing,
        - ``rest``: sleep decision with ``awake_s``, ``beacons`` and ``repeat``, after a poll with
          ``slept_ms``, ``buffered_frames`` and ``buffered_bytes``,
        - ``weights``: changed ``weights`` of the policy's learner, by polling time,
        - ``buffered``: new number of ``buffered_frames``,
        - ``frame``: ``bytes`` queued on a ``link``, which arrive at ``arrives_s``,
        - ``frame lost``: ``bytes`` that a fault removes on a ``link``,
        - ``transfer``: ``bytes`` of a ``kind``, such as a reply, a message or a datagram, which have arrived
          at ``arrives_s``; a reply has a ``connection``, ``request_bytes`` and ``server_delay_s``,
        - ``page requested``: page with a number of ``objects``, its ``bytes`` and its ``think_s``,
        - ``page complete``: page with a number of ``objects``,
        - ``page failed``: page that failed for a ``reason``.

        Columns that do not apply to an event are nan.

    Raises
    ------
    InputError
        See :func:`observe`.

    Examples
    --------
    >>> import psm_sim
    >>> events = psm_sim.timeline(psm_sim.simulate("psm", pages=5), pages=1)
    >>> events["event"].iloc[0]
    'rest'
    """
    import pandas as pd

    recorder = DetailedRecorder()
    observe(result, [recorder], pages)
    return pd.DataFrame(recorder.events)

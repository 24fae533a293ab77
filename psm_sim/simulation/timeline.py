"""Timeline of a run as a DataFrame, with one row per event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from psm_sim.common.errors import InputError, safe_repr
from psm_sim.network import Observer
from psm_sim.network.browser import Visit
from psm_sim.network.link import Link
from psm_sim.network.segment import Segment
from psm_sim.policies import Poll, Rest
from psm_sim.simulation.result import Result
from psm_sim.simulation.run import prepare
from psm_sim.simulation.run_averages import Average

if TYPE_CHECKING:
    import pandas as pd

Event = dict[str, Any]


class Recorder(Observer):
    """Observer that records every event as a dictionary with ``time_s`` and ``event``."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def radio(self, time_s: float, awake: bool) -> None:
        """Record a change of the radio state."""
        self._record(time_s, "wakes" if awake else "dozes")

    def beacons(self, first_s: float, count: int, every_s: float) -> None:
        """Record received beacons, one event for each."""
        for number in range(count):
            self._record(first_s + number * every_s, "beacon")

    def rest(self, time_s: float, poll: Poll | None, rest: Rest) -> None:
        """Record a sleep decision with the preceding observation."""
        observation = (
            {} if poll is None else {"slept_ms": poll.slept_ms, "buffered_frames": poll.buffered_frames}
        )
        self._record(
            time_s, "rest", **observation, awake_s=rest.awake_s, beacons=rest.beacons, repeat=rest.repeat
        )

    def frame(self, link: Link, queued_s: float, arrives_s: float, segment: Segment) -> None:
        """Record a frame that is queued on a link."""
        self._record(queued_s, "frame", link=link.name, arrives_s=float(arrives_s), bytes=segment.wire_bytes)

    def lost(self, link: Link, time_s: float, segment: Segment) -> None:
        """Record a frame that a fault removes at the end of a link."""
        self._record(time_s, "frame lost", link=link.name, bytes=segment.wire_bytes)

    def page(self, visit: Visit) -> None:
        """Record the request of a page and its end."""
        self._record(visit.started_s, "page requested", objects=visit.page.objects)
        if visit.failure:
            self._record(visit.ended_s, "page failed", objects=visit.page.objects, reason=visit.failure)
        else:
            self._record(visit.ended_s, "page complete", objects=visit.page.objects)

    def _record(self, time_s: float, event: str, **facts: Any) -> None:
        self.events.append({"time_s": float(time_s), "event": event, **facts})


def observe(result: Result, observers: Sequence[Observer], pages: int | None = None) -> None:
    """Repeat the run of a result with observers. The repeated run has the same events.

    Parameters
    ----------
    result : Result
        Result of a single run.
    observers : sequence of Observer
        Observers of the repeated run.
    pages : int or None
        Number of pages from the first one on; None for all.

    Raises
    ------
    InputError
        If the result is an average of several runs or has no origin.
    """
    if not isinstance(result, Result):
        raise InputError(f"result must be that of psm_sim.simulate, got {safe_repr(result)}.")
    origin = result.origin
    if origin is None or isinstance(result, Average):
        raise InputError(
            f"result must be that of a single run, got an average of several runs of {result.policy}; use "
            "e.g. result.results[0]."
        )
    if origin.rerun is not None:
        origin.rerun(observers, pages)
    else:
        prepare(origin.policy_spec, origin.resolved_topology, observers).execute(
            origin.pages[:pages], messages=origin.messages
        )


def timeline(result: Result, pages: int | None = None) -> pd.DataFrame:
    """Return the events of a run, ordered by time, with one row per event.

    The run is simulated again with bit-for-bit identical events.

    Parameters
    ----------
    result : Result
        Result of :func:`psm_sim.simulate`, or one of a comparison.
    pages : int or None
        Number of pages from the first one on; None for all.

    Returns
    -------
    DataFrame
        Columns ``time_s`` and ``event``, and further columns for some events:

        - ``wakes`` and ``dozes``: change of the radio state,
        - ``beacon``: beacon received while dozing,
        - ``rest``: sleep decision with ``awake_s``, ``beacons`` and ``repeat``, after a poll with
          ``slept_ms`` and ``buffered_frames``,
        - ``frame``: ``bytes`` queued on a ``link``, which arrive at ``arrives_s``,
        - ``frame lost``: ``bytes`` that a fault removes on a ``link``,
        - ``page requested`` and ``page complete``: page with a number of ``objects``,
        - ``page failed``: page that failed for a ``reason``.

        Values that do not apply to an event are missing.

    Raises
    ------
    InputError
        As for :func:`observe`.

    Examples
    --------
    >>> import psm_sim
    >>> events = psm_sim.timeline(psm_sim.simulate("psm", pages=5), pages=1)
    >>> events["event"].iloc[0]
    'rest'
    """
    import pandas as pd

    recorder = Recorder()
    observe(result, [recorder], pages)
    return pd.DataFrame(recorder.events).sort_values("time_s", kind="stable", ignore_index=True)

"""Timeline of a run: what the radio, the links, the policy and the browser did, one row per event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from psm_sim.errors import InputError
from psm_sim.network import Observer
from psm_sim.network.browser import Visit
from psm_sim.network.link import Link
from psm_sim.network.segment import Segment
from psm_sim.policies import Poll, Rest
from psm_sim.simulation.result import Result
from psm_sim.simulation.run import prepare
from psm_sim.simulation.seed_average import Average

if TYPE_CHECKING:
    import pandas as pd

Event = dict[str, Any]


class Recorder(Observer):
    """Recorder of every event of a run, as a dictionary with ``time_s`` and ``event``."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def radio(self, time_s: float, awake: bool) -> None:
        """Keep a change of state."""
        self._keep(time_s, "wakes" if awake else "dozes")

    def beacons(self, first_s: float, count: int, every_s: float) -> None:
        """Keep beacons heard, one event for each."""
        for number in range(count):
            self._keep(first_s + number * every_s, "beacon")

    def rest(self, time_s: float, poll: Poll | None, rest: Rest) -> None:
        """Keep a question to the policy and its answer."""
        seen = {} if poll is None else {"slept_ms": poll.slept_ms, "buffered_frames": poll.buffered_frames}
        self._keep(time_s, "rest", **seen, awake_s=rest.awake_s, beacons=rest.beacons, repeat=rest.repeat)

    def frame(self, link: Link, queued_s: float, arrives_s: float, segment: Segment) -> None:
        """Keep a frame that is queued on a link."""
        self._keep(queued_s, "frame", link=link.name, arrives_s=float(arrives_s), bytes=segment.wire_bytes)

    def lost(self, link: Link, time_s: float, segment: Segment) -> None:
        """Keep a frame that a fault has taken at the end of a link."""
        self._keep(time_s, "frame lost", link=link.name, bytes=segment.wire_bytes)

    def page(self, visit: Visit) -> None:
        """Keep a page: its request and its end."""
        self._keep(visit.started_s, "page requested", objects=visit.page.objects)
        if visit.failure:
            self._keep(visit.ended_s, "page failed", objects=visit.page.objects, reason=visit.failure)
        else:
            self._keep(visit.ended_s, "page complete", objects=visit.page.objects)

    def _keep(self, time_s: float, event: str, **facts: Any) -> None:
        self.events.append({"time_s": float(time_s), "event": event, **facts})


class Polling(Observer):
    """Recorder of polling times: for how many beacons the policy lets the radio doze, when it is asked."""

    def __init__(self) -> None:
        self.times_s: list[float] = []
        self.beacons_of: list[int] = []

    def rest(self, time_s: float, poll: Poll | None, rest: Rest) -> None:
        """Keep an answer."""
        self.times_s.append(time_s)
        self.beacons_of.append(rest.beacons)


def observe(result: Result, observers: Sequence[Observer], pages: int | None = None) -> None:
    """Run a result again, and let observers watch; the events are those of the run that gave it.

    Parameters
    ----------
    result
        Of a single run.
    observers
        Told what happens.
    pages
        The number of pages from the first on; None for all.

    Raises
    ------
    InputError
        If the result is an average of several runs, or does not say where it comes from.
    """
    origin = result.origin
    if origin is None or isinstance(result, Average):
        raise InputError(
            f"the result of {result.policy} is an average over several runs; expected a single one, such as "
            "result.results[0]."
        )
    if origin.watch is not None:
        origin.watch(observers, pages)
    else:
        prepare(origin.policy_spec, origin.resolved_topology, observers).execute(
            origin.pages[:pages], messages=origin.messages
        )


def timeline(result: Result, pages: int | None = None) -> pd.DataFrame:
    """Return every event of a run, one row per event, in the order of time.

    The run is simulated once more: it is the same to the last bit.

    Parameters
    ----------
    result
        Of :func:`psm_sim.simulate`, or one of a comparison.
    pages
        The number of pages from the first on; None for all.

    Returns
    -------
    DataFrame
        ``time_s`` and ``event``: ``wakes``, ``dozes``, ``beacon`` (heard while dozing), ``rest`` (the policy
        is asked, and answers with ``awake_s``, ``beacons``, ``repeat`` after it ``slept_ms`` and saw
        ``buffered_frames``), ``frame`` (``bytes`` queued on a ``link``, to arrive at ``arrives_s``), ``frame
        lost`` (by a fault), ``page requested``, ``page complete`` and ``page failed`` (for a ``reason``).
        What an event does not have is missing.

    Raises
    ------
    InputError
        As :func:`observe`.
    """
    import pandas as pd

    recorder = Recorder()
    observe(result, [recorder], pages)
    return pd.DataFrame(recorder.events).sort_values("time_s", kind="stable", ignore_index=True)

"""Page views: the objects of a page, the think time before it, and the dependencies among its objects."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, NamedTuple

from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_OBJECT_BYTES, MAX_OBJECTS, MAX_TIME_S


@dataclass(frozen=True, slots=True)
class Page:
    """Page view.

    Attributes
    ----------
    think_s
        Seconds from the end of the previous page to the request of this one.
    main_bytes
        Size of the main object, in bytes.
    image_bytes
        Sizes of the embedded objects, in bytes.
    request_bytes
        Size of each object's request in bytes, main object first.
    server_delay_s
        Seconds that the server needs before it answers each request, main object first.

    Raises
    ------
    InputError
        If a time is not between 0 and :data:`~psm_sim.common.input_limits.MAX_TIME_S`, if a size is not
        between 1 (requests: 0) and :data:`~psm_sim.common.input_limits.MAX_OBJECT_BYTES`, or if the numbers
        of requests, delays and objects differ.
    """

    think_s: float
    main_bytes: int
    image_bytes: tuple[int, ...]
    request_bytes: tuple[int, ...]
    server_delay_s: tuple[float, ...]

    def __post_init__(self) -> None:
        check_times("think_s", (self.think_s,))
        _check_sizes("main_bytes", (self.main_bytes,), 1)
        _check_sizes("image_bytes", self.image_bytes, 1)
        _check_sizes("request_bytes", self.request_bytes, 0)
        check_times("server_delay_s", self.server_delay_s)
        for name in ("request_bytes", "server_delay_s"):
            if len(getattr(self, name)) != self.objects:
                count = len(getattr(self, name))
                raise InputError(
                    f"page: {name} must have one value for each of the {self.objects} objects, got {count}."
                )

    @property
    def objects(self) -> int:
        """Number of objects, including the main object."""
        return 1 + len(self.image_bytes)

    @property
    def total_bytes(self) -> int:
        """Total size of all objects in bytes, without protocol headers."""
        return self.main_bytes + sum(self.image_bytes)

    @property
    def waiting_s(self) -> float:
        """Think time and server delays, in seconds."""
        return self.think_s + sum(self.server_delay_s)


def check_times(name: str, values: Iterable[Any]) -> None:
    """Raise InputError if one of the *values* of field *name* is not a time from 0 to the limit."""
    for value in values:
        is_valid = isinstance(value, Real) and 0.0 <= float(value) <= MAX_TIME_S
        if not is_valid:
            raise InputError(f"page: {name} must be a time from 0 to {MAX_TIME_S:g} s, got {value!r}.")


def _check_sizes(name: str, values: Iterable[Any], minimum: int) -> None:
    for value in values:
        is_valid = isinstance(value, Integral) and minimum <= int(value) <= MAX_OBJECT_BYTES
        if not is_valid:
            raise InputError(
                f"page: {name} must be an integer from {minimum} to {MAX_OBJECT_BYTES} bytes, got {value!r}."
            )


@dataclass(frozen=True, slots=True)
class Pause(Page):
    """Interval of ``think_s`` seconds without a page view.

    A pause counts as a page without objects. Its page time is 0 s, its slowdown is 1, and its energy is the
    energy during the interval.
    """

    main_bytes: int = 0
    image_bytes: tuple[int, ...] = ()
    request_bytes: tuple[int, ...] = ()
    server_delay_s: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        check_times("think_s", (self.think_s,))

    @property
    def objects(self) -> int:
        """Number of objects, always 0."""
        return 0


def check_objects(objects: int, owner: str) -> None:
    """Raise an error if *objects* exceeds the limit. *owner* names the source, e.g. ``"trace ucb"``."""
    if objects > MAX_OBJECTS:
        raise InputError(
            f"{owner}: expected at most {MAX_OBJECTS:,} objects in all pages, got {objects:,}; use fewer "
            "pages."
        )


PAGE_START = -1
"""Value of ``depends_on`` for objects that are requested at the start of the page."""


class PageHost(NamedTuple):
    """Host of some objects of a page.

    Attributes
    ----------
    rtt_s : float
        Recorded round-trip time, in seconds.
    dns_s, tls_s : float
        Recorded times of the name look-up and of the TLS handshake, in seconds; 0 if there were none.
    secure : bool
        Whether its connections use TLS.
    """

    rtt_s: float
    dns_s: float
    tls_s: float
    secure: bool


class Release(NamedTuple):
    """Event that releases an object, and the connection on which it is requested.

    Attributes
    ----------
    host : int
        Index of its host.
    multiplexed : bool
        Whether its connection carries several requests at once (HTTP/2). Otherwise it carries one at a time
        (HTTP/1.1).
    depends_on : int
        Index of an earlier object, or :data:`PAGE_START`.
    at_first_byte : bool
        Whether the event is the first byte of that object. Otherwise it is the end of the object.
    gap_s : float
        Time from the event to the request, in seconds: parsing, scripts, timers.
    """

    host: int
    multiplexed: bool
    depends_on: int
    at_first_byte: bool
    gap_s: float


@dataclass(frozen=True, slots=True)
class PageGraph:
    """Hosts of a page, and the condition under which each object is requested, main object first.

    As in WProf and Epload (NSDI 2013), a request is sent once the object that it depends on has arrived and
    the browser has worked for as long as recorded. Here each object depends on one other object.

    ``recorded_s`` is the recorded time from the first request to the last byte, or None if unknown.

    Raises
    ------
    InputError
        If an object depends on itself or on a later one, or if a host or a time is invalid. Graphs therefore
        have no cycles.
    """

    hosts: tuple[PageHost, ...]
    releases: tuple[Release, ...]
    recorded_s: float | None = None

    def __post_init__(self) -> None:
        for index, release in enumerate(self.releases):
            if not PAGE_START <= release.depends_on < index:
                raise InputError(
                    f"page: depends_on of object {index} must be from {PAGE_START} to {index - 1}, "
                    f"got {release.depends_on}."
                )
            if not 0 <= release.host < len(self.hosts):
                raise InputError(
                    f"page: host of object {index} must be from 0 to {len(self.hosts) - 1}, "
                    f"got {release.host}."
                )
        for host in self.hosts:
            check_times("each time of a host", host[:3])
        check_times("gap_s", (release.gap_s for release in self.releases))
        check_times("recorded_s", () if self.recorded_s is None else (self.recorded_s,))


@dataclass(frozen=True, slots=True)
class DependencyPage(Page):
    """Page whose objects are released by their dependencies.

    ``server_delay_s`` excludes the round trip to the host.
    """

    graph: PageGraph

    def __post_init__(self) -> None:
        Page.__post_init__(self)
        if len(self.graph.releases) != self.objects:
            raise InputError(
                f"page: the graph must have one release for each of the {self.objects} objects, "
                f"got {len(self.graph.releases)}."
            )

    @property
    def waiting_s(self) -> float:
        """Think time, server delays and recorded times of browser and hosts, in seconds."""
        graph = self.graph
        gaps_s = sum(release.gap_s for release in graph.releases)
        delays_s = (sum(self.server_delay_s), gaps_s, *(sum(host[:3]) for host in graph.hosts))
        return self.think_s + sum(delays_s)

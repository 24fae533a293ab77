"""Page views, which consist of a think time and of objects that can depend on each other."""

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
        Seconds from the end of the previous page to the first request of this page.
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
        If a time is not from 0 to :data:`~psm_sim.common.input_limits.MAX_TIME_S`, if the size of an object
        is not from 1 (of a request, from 0) to :data:`~psm_sim.common.input_limits.MAX_OBJECT_BYTES`, or if
        the numbers of requests, delays and objects differ.
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
        """Sum of think time and server delays, in seconds."""
        return self.think_s + sum(self.server_delay_s)


def check_times(name: str, values: Iterable[Any]) -> None:
    """Raise InputError if a value of the field *name* is not a time from 0 to ``MAX_TIME_S``."""
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

    A pause counts as a page without objects. It has page time 0 s, slowdown 1, and the energy of the
    interval.
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
    """Raise InputError if *objects* are too many. *owner*, such as ``"trace ucb"``, begins the message."""
    if objects > MAX_OBJECTS:
        raise InputError(
            f"{owner}: expected at most {MAX_OBJECTS:,} objects in all pages, got {objects:,}; use fewer "
            "pages."
        )


PAGE_START = -1
"""Value of ``depends_on`` for objects that are requested at the start of the page."""


class PageHost(NamedTuple):
    """Server from which objects of a page are loaded.

    Attributes
    ----------
    rtt_s : float
        Recorded round-trip time, in seconds.
    dns_s, tls_s : float
        Recorded durations of the DNS lookup and of the TLS handshake, in seconds; 0 if absent.
    secure : bool
        Whether connections to the host use TLS.
    """

    rtt_s: float
    dns_s: float
    tls_s: float
    secure: bool


class Release(NamedTuple):
    """Condition for the request of an object, and the connection that carries the request.

    Attributes
    ----------
    host : int
        Index of the host of the object.
    multiplexed : bool
        Whether the connection carries several requests at once (HTTP/2), or one at a time (HTTP/1.1).
    depends_on : int
        Index of the earlier object that the browser needs before the request, or :data:`PAGE_START`.
    at_first_byte : bool
        Whether the first byte of that object is enough. If False, the browser needs the whole object.
    gap_s : float
        Time of the browser between that byte and the request, in seconds, for parsing, scripts and timers.
    """

    host: int
    multiplexed: bool
    depends_on: int
    at_first_byte: bool
    gap_s: float


@dataclass(frozen=True, slots=True)
class PageGraph:
    """Dependencies among the objects of a page, and its hosts.

    ``releases`` has an entry for each object, main object first. As in WProf and Epload (NSDI 2013), an
    object is requested after another object has arrived and the browser has worked for the recorded time.
    Here each object depends on one other object. ``recorded_s`` is the recorded time from the first request
    to the last byte, or None if unknown.

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
    """Page whose objects are requested after the objects on which they depend.

    The fields are those of :class:`Page`. ``server_delay_s`` excludes the round trip to the host.
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
        """Sum of think time, server delays, and recorded times of browser and hosts, in seconds."""
        graph = self.graph
        gaps_s = sum(release.gap_s for release in graph.releases)
        delays_s = (sum(self.server_delay_s), gaps_s, *(sum(host[:3]) for host in graph.hosts))
        return self.think_s + sum(delays_s)

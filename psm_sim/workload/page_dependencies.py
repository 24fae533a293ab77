"""Dependencies among the objects of a page, and pages that are loaded by them.

The graph follows WProf and Epload (NSDI 2013): a request is sent once the object that it depends on has
arrived and the browser has worked for as long as recorded. Here each object depends on one other object.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from psm_sim.common.errors import InputError
from psm_sim.workload.page_view import Page, check_times

PAGE_START = -1
"""Value of ``depends_on`` for objects that are requested when the page is."""


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
        Whether its connection carries several requests at once (HTTP/2) or one at a time (HTTP/1.1).
    depends_on : int
        Index of an earlier object, or :data:`PAGE_START`.
    at_first_byte : bool
        Whether the event is the first byte of that object or its end.
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
    """Hosts of a page, and the release of each object, the main object first.

    ``recorded_s`` is the recorded time from the first request to the last byte, or None if unknown.

    Raises
    ------
    InputError
        If an object depends on itself or on a later one, or if a host or a time is invalid. Graphs hence have
        no cycles.
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

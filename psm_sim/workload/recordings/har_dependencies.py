"""Dependencies, round-trip times and rate of the network, estimated from the entries of a HAR file.

An object depends on the first of these events:

1. the end of the entry that redirects to it,
2. the end of its initiator, or the first byte of one that has not ended,
3. the end of the last document, script, style sheet, JSON object or redirect,
4. the first byte of the main object, or the start of the page.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush
from statistics import median
from typing import NamedTuple

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.workload.page_view import PAGE_START, PageGraph, PageHost, Release
from psm_sim.workload.recordings.har_entries import Entry
from psm_sim.workload.recordings.recording import UNKNOWN

MIN_WAIT_S = 0.002
"""Waits up to this time are those of replies that were already there, and say nothing of the round trip."""

_WINDOW_S = 0.5
"""Time over which the rate is measured. Shorter ones measure bursts, longer ones the gaps between replies."""

_SHORTEST_S = 0.02
"""Shortest time over which a response is spread."""

_ROUNDING_S = 0.001
"""Resolution of the times in some files."""


class RoundTrips(NamedTuple):
    """Round-trip time of each host in seconds, and the hosts whose handshakes were recorded."""

    seconds: Mapping[str, float]
    measured: frozenset[str]

    @property
    def median_s(self) -> float:
        """Median over the hosts, in seconds."""
        return median(self.seconds.values())


def round_trips(entries: Iterable[Entry]) -> RoundTrips:
    """Return the round-trip time of each host.

    It is the shortest TCP handshake, because others contain queueing, or the shortest wait, if that is
    shorter. A host without a handshake is at the median distance of the others.
    """
    handshakes_s: defaultdict[str, list[float]] = defaultdict(list)
    waits_s: defaultdict[str, list[float]] = defaultdict(list)
    for entry in entries:
        waits_s[entry.host] += [entry.delay_us / 1e6] if entry.delay_us > 1e6 * MIN_WAIT_S else []
        handshakes_s[entry.host] += [entry.tcp_s] if entry.tcp_s > 0 else []
    known_s = {host: min(times_s + waits_s[host]) for host, times_s in handshakes_s.items() if times_s}
    others_s = [median(known_s.values())] if known_s else []
    seconds = {
        host: known_s[host] if host in known_s else min([*others_s, *waits_s[host]], default=0.0)
        for host in handshakes_s
    }
    return RoundTrips(seconds, frozenset(known_s))


def received_bytes(entries: Sequence[Entry]) -> tuple[FloatArray, FloatArray]:
    """Return times, and the bytes of all responses received until then, which are linear in between.

    Each response is spread evenly from its first to its last byte.
    """
    first_s = np.array([entry.first_s for entry in entries])
    end_s = np.maximum(np.array([entry.end_s for entry in entries]), first_s + _SHORTEST_S)
    sizes = np.array([entry.size for entry in entries], dtype=float)
    slope = sizes / (end_s - first_s)
    times_s = np.concatenate([first_s, end_s])
    order = np.argsort(times_s, kind="stable")
    times_s = times_s[order]
    rates = np.cumsum(np.concatenate([slope, -slope])[order])
    return times_s, np.concatenate([[0.0], np.cumsum(rates[:-1] * np.diff(times_s))])


def highest_rate(entries: Sequence[Entry]) -> float:
    """Return the largest number of bytes per second in any 0.5 s, a lower bound of the link's rate."""
    times_s, received = received_bytes(entries)
    # The sum is piecewise linear, so a window is fullest with an end where the rate changes.
    starts_s = np.concatenate([times_s, times_s - _WINDOW_S])
    in_windows = np.interp(starts_s + _WINDOW_S, times_s, received) - np.interp(starts_s, times_s, received)
    return float(in_windows.max()) / _WINDOW_S


def server_delays_us(entries: Sequence[Entry], trips: RoundTrips) -> tuple[list[int], list[int]]:
    """Return the server delay of each object in microseconds, and a lower bound of it, or ``UNKNOWN``.

    The delay is the wait without the round trip, and 0 for a pushed object. It contains queueing. The lower
    bound also lacks the time that the other bytes received during the wait took on the link.
    """
    times_s, received = received_bytes(entries)
    first_s = np.array([entry.first_s for entry in entries])
    wait_s = np.array([entry.delay_us / 1e6 for entry in entries])
    beside = np.interp(first_s, times_s, received) - np.interp(first_s - wait_s, times_s, received)
    queued_us = 1e6 * beside / highest_rate(entries)
    delays_us, low_us = [], []
    for entry, longest_us in zip(entries, queued_us.tolist(), strict=True):
        is_known, trip_us = entry.delay_us >= 0, round(1e6 * trips.seconds[entry.host])
        delay_us = 0 if entry.is_pushed else max(0, entry.delay_us - trip_us)
        delays_us.append(delay_us if is_known else UNKNOWN)
        low_us.append(max(0, delay_us - round(longest_us)) if is_known else UNKNOWN)
    return delays_us, low_us


def page_graph(
    nodes: Sequence[Entry], trips: RoundTrips, protocols: Mapping[str, bool]
) -> tuple[PageGraph, Counter[str]]:
    """Return the graph of a page, and the numbers of its dependencies that are known, inferred and none.

    Parameters
    ----------
    nodes : sequence of Entry
        All entries of the page, ordered by release. Omitted ones have no release in the graph. The objects
        that they requested depend on the object on which they depend themselves.
    trips : RoundTrips
        Round-trip times of the hosts.
    protocols : mapping of str to bool
        Whether connections to a host are multiplexed, for entries without a protocol.
    """
    objects = [node for node in nodes if not node.omitted]
    hosts = {host: index for index, host in enumerate(dict.fromkeys(node.host for node in objects))}
    start_s = objects[0].release_s
    finder = _AnchorFinder(start_s)
    releases, found = [], Counter[str]()
    for node in nodes:
        anchor = finder.anchor(node)
        finder.add(node, anchor)
        if not node.omitted:
            gap_s = round(max(node.release_s - anchor.time_s, 0.0), 6)
            multiplexed = protocols[node.host] if node.multiplexed is None else node.multiplexed
            releases.append(
                Release(hosts[node.host], multiplexed, anchor.depends_on, anchor.at_first_byte, gap_s)
            )
            found[anchor.kind] += len(releases) > 1
    graph_hosts = tuple(_page_host(host, objects, trips) for host in hosts)
    recorded_s = round(max(node.end_s for node in objects) - start_s, 6)
    return PageGraph(graph_hosts, tuple(releases), recorded_s), found


def _page_host(host: str, objects: Sequence[Entry], trips: RoundTrips) -> PageHost:
    own = [node for node in objects if node.host == host]
    dns_s, tls_s = max(node.dns_s for node in own), max(node.tls_s for node in own)
    return PageHost(trips.seconds[host], dns_s, tls_s, secure=host.startswith(("https:", "wss:")))


class _Anchor(NamedTuple):
    """Event on which an object depends: object, kind of event, its time, and how it was found."""

    depends_on: int
    at_first_byte: bool
    time_s: float
    kind: str


class _AnchorFinder:
    """Search for the event on which each entry of a page depends, in the order of their release."""

    def __init__(self, start_s: float) -> None:
        self._start = _Anchor(PAGE_START, False, start_s, "none")
        self._objects = 0
        self._main_first_s = np.inf
        self._latest: dict[str, tuple[Entry, _Anchor]] = {}
        self._redirects: dict[str, tuple[float, _Anchor]] = {}
        self._running: list[tuple[float, int, _Anchor]] = []
        self._last_ended: tuple[float, _Anchor] | None = None

    def anchor(self, node: Entry) -> _Anchor:
        """Return the event on which an entry depends."""
        while self._running and self._running[0][0] <= node.release_s:
            end_s, _, anchor = heappop(self._running)
            self._last_ended = end_s, anchor
        if node.url in self._redirects and self._redirects[node.url][0] <= node.release_s + _ROUNDING_S:
            return self._redirects.pop(node.url)[1]._replace(kind="known")
        if node.initiator in self._latest:
            initiator, end = self._latest[node.initiator]
            if initiator.omitted or initiator.end_s <= node.release_s:
                return end._replace(kind="known")
            if initiator.first_s <= node.release_s:
                return _Anchor(end.depends_on, True, initiator.first_s, "known")
        if self._last_ended is not None:
            return self._last_ended[1]._replace(kind="inferred")
        if self._main_first_s <= node.release_s:
            return _Anchor(0, True, self._main_first_s, "inferred")
        return self._start

    def add(self, node: Entry, anchor: _Anchor) -> None:
        """Add an entry, on which later ones can depend. An omitted one stands for its own anchor."""
        end = anchor
        if not node.omitted:
            end = _Anchor(self._objects, False, node.end_s, "")
            if not self._objects:
                self._main_first_s = node.first_s
            self._objects += 1
            if node.can_request:
                heappush(self._running, (node.end_s, self._objects, end))
        self._latest[node.url] = node, end
        if node.redirect_url:
            self._redirects[node.redirect_url] = node.end_s, end


def protocols_of(entries: Iterable[Entry]) -> tuple[dict[str, bool], bool]:
    """Return whether most entries of each host are multiplexed, and whether this is unknown for any host.

    Hosts of unknown protocol are multiplexed.
    """
    votes: defaultdict[str, Counter[bool | None]] = defaultdict(Counter)
    for entry in entries:
        votes[entry.host][entry.multiplexed] += 1
    majority = {host: counts[True] >= counts[False] for host, counts in votes.items()}
    return majority, any(not (counts[True] or counts[False]) for counts in votes.values())


def remarks(
    nodes: Sequence[Entry], objects: Sequence[Entry], found: Counter[str], trips: RoundTrips
) -> list[str]:
    """Return what was replayed and estimated, and what the file lacks.

    Parameters
    ----------
    nodes, objects : sequence of Entry
        All entries, and those that are objects.
    found : Counter
        Numbers of dependencies that are known, inferred and none.
    trips : RoundTrips
        Round-trip times of the hosts.
    """
    omitted = Counter(node.omitted for node in nodes if node.omitted)
    hosts, measured = len(trips.seconds), len(trips.measured)
    left_out = ", ".join(f"{omitted[reason]:,} {reason}" for reason in ("cached", "failed", "other"))
    rate_mbps = highest_rate(objects) * 8e-6
    wired_ms = max(0.0, 500 * trips.median_s - 0.1)
    lacking = {
        "dependencies are inferred from request order": (
            found.total() > 0 and not any(node.initiator for node in objects)
        ),
        "round-trip times are inferred from waits": not trips.measured,
        "protocol unknown, HTTP/2 assumed": protocols_of(objects)[1],
        "sizes are uncompressed": any(node.is_uncompressed for node in objects),
        "server delays unknown, 0 assumed; page times are lower bounds": (
            sum(node.delay_us < 0 for node in objects) > len(objects) / 2
        ),
    }
    return [
        f"{len(objects):,} objects replayed, {omitted.total():,} entries left out ({left_out})",
        "dependencies: " + ", ".join(f"{found[kind]:,} {kind}" for kind in ("known", "inferred", "none")),
        (
            f"recorded network: median round trip {1000 * trips.median_s:.3g} ms ({measured:,} of {hosts:,} "
            f"hosts measured), at least {rate_mbps:.3g} Mbit/s; with topology modern this is "
            f"links.wired.latency_ms={wired_ms:.4g}, links.wired.rate_mbps={rate_mbps:.4g}"
        ),
        *(remark for remark, holds in lacking.items() if holds),
    ]

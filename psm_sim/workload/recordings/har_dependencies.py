"""Dependencies, round-trip times and rate of the network, estimated from the entries of a HAR file.

An object depends on the first event in this list that precedes its request:

1. the end of the entry that redirects to it,
2. the end of its initiator, or the first byte of an initiator that has not ended,
3. the end of the last document, script, style sheet, JSON object or redirect,
4. the first byte of the main object, or the start of the page.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from heapq import heappop, heappush
from statistics import median
from typing import NamedTuple

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.formatting import pluralize
from psm_sim.workload.page_view import PAGE_START, PageGraph, PageHost, Release
from psm_sim.workload.recordings.har_entries import HarEntry
from psm_sim.workload.recordings.recording import UNKNOWN

MIN_WAIT_S = 0.002
"""Longest wait that is taken for a reply that had already arrived, and contains no round trip."""

_WINDOW_S = 0.5
"""Time over which the rate is measured. Shorter windows measure bursts; longer windows include gaps."""

_SHORTEST_S = 0.02
"""Shortest time over which a response is spread.

With 10 or 40 ms, the rate of ``recorded`` changes by at most 1.5 %, and its mean server delay does not
change.
"""

_ROUNDING_S = 0.001
"""Resolution of the times in some files."""


class RecordedNetwork:
    """Round-trip times, protocols and rate of the network on which objects were recorded.

    The round-trip time of a host is its shortest TCP handshake, because longer handshakes contain queueing.
    Without a handshake, it is the median of the other hosts. If a reply of the host took even less time, that
    time is the round-trip time.

    Attributes
    ----------
    round_trip_s : dict of str to float
        Round-trip time of each host in seconds.
    measured : int
        Number of hosts whose handshakes were recorded.
    multiplexed : dict of str to bool
        Whether each host sends several responses at once (HTTP/2), as most of its entries do. True if the
        protocol is unknown.
    lacks_protocols : bool
        Whether the protocol of any host is unknown.
    bytes_per_s : float
        Highest mean rate over 0.5 s, a lower bound of the link's rate.
    """

    def __init__(self, objects: Sequence[HarEntry]) -> None:
        by_host = defaultdict[str, list[HarEntry]](list)
        for entry in objects:
            by_host[entry.host].append(entry)
        waits_s = {
            host: [entry.delay_us / 1e6 for entry in own if entry.delay_us > 1e6 * MIN_WAIT_S]
            for host, own in by_host.items()
        }
        handshakes_s = {
            host: [entry.tcp_s for entry in own if entry.tcp_s > 0] for host, own in by_host.items()
        }
        known_s = {host: min(times_s + waits_s[host]) for host, times_s in handshakes_s.items() if times_s}
        others_s = [median(known_s.values())] if known_s else []
        self.round_trip_s = {
            host: known_s[host] if host in known_s else min([*others_s, *times_s], default=0.0)
            for host, times_s in waits_s.items()
        }
        self.measured = len(known_s)
        votes = {host: Counter(entry.multiplexed for entry in own) for host, own in by_host.items()}
        self.multiplexed = {host: counts[True] >= counts[False] for host, counts in votes.items()}
        self.lacks_protocols = any(not (counts[True] or counts[False]) for counts in votes.values())
        self._times_s, self._received = _received_bytes(objects)
        # The sum is piecewise linear, so the fullest window starts or ends where the rate changes.
        starts_s = np.concatenate([self._times_s, self._times_s - _WINDOW_S])
        self.bytes_per_s = float(self._received_between(starts_s, starts_s + _WINDOW_S).max()) / _WINDOW_S

    def _received_between(self, start_s: FloatArray, end_s: FloatArray) -> FloatArray:
        """Return the number of bytes that all responses received from *start_s* to *end_s*."""
        end, start = (np.interp(at_s, self._times_s, self._received) for at_s in (end_s, start_s))
        return np.asarray(end - start)

    def server_delays_us(self, objects: Sequence[HarEntry]) -> tuple[list[int], list[int]]:
        """Return the server delays and their lower bounds, one per object, in microseconds or ``UNKNOWN``.

        The delay is the wait for the first byte minus the round-trip time, or 0 for a pushed object. It
        includes queueing on the link. The lower bound subtracts the time that the link needs for the bytes
        received during the wait.
        """
        first_s = np.array([entry.first_s for entry in objects])
        wait_s = np.array([entry.delay_us / 1e6 for entry in objects])
        queued_us = 1e6 * self._received_between(first_s - wait_s, first_s) / self.bytes_per_s
        delays_us, low_us = [], []
        for entry, longest_us in zip(objects, queued_us.tolist(), strict=True):
            is_known, trip_us = entry.delay_us >= 0, round(1e6 * self.round_trip_s[entry.host])
            delay_us = 0 if entry.is_pushed else max(0, entry.delay_us - trip_us)
            delays_us.append(delay_us if is_known else UNKNOWN)
            low_us.append(max(0, delay_us - round(longest_us)) if is_known else UNKNOWN)
        return delays_us, low_us


def _received_bytes(objects: Sequence[HarEntry]) -> tuple[FloatArray, FloatArray]:
    """Return times, and the total number of bytes received until each time.

    Each response is assumed to arrive at a constant rate from its first to its last byte, so the total is
    linear between the times.
    """
    first_s = np.array([entry.first_s for entry in objects])
    end_s = np.maximum(np.array([entry.end_s for entry in objects]), first_s + _SHORTEST_S)
    slope = np.array([entry.size for entry in objects], dtype=float) / (end_s - first_s)
    times_s = np.concatenate([first_s, end_s])
    order = np.argsort(times_s, kind="stable")
    times_s = times_s[order]
    rates = np.cumsum(np.concatenate([slope, -slope])[order])
    return times_s, np.concatenate([[0.0], np.cumsum(rates[:-1] * np.diff(times_s))])


def page_graph(nodes: Sequence[HarEntry], network: RecordedNetwork) -> tuple[PageGraph, Counter[str]]:
    """Return the dependencies of a page, and how many are known, inferred and missing.

    Parameters
    ----------
    nodes : sequence of HarEntry
        All entries of the page, in the order of their requests. The graph has no omitted entries. If object
        A requests an omitted entry, and this entry requests object B, then B depends on A.
    network : RecordedNetwork
        Round-trip time of each host, and its protocol for entries that state none.
    """
    objects = [node for node in nodes if not node.omitted]
    hosts = {host: index for index, host in enumerate(dict.fromkeys(node.host for node in objects))}
    start_s = objects[0].release_s
    finder = _AnchorFinder(start_s)
    releases, kinds = [], Counter[str]()
    for node in nodes:
        anchor = finder.anchor(node)
        finder.add(node, anchor)
        if not node.omitted:
            gap_s = round(max(node.release_s - anchor.time_s, 0.0), 6)
            multiplexed = network.multiplexed[node.host] if node.multiplexed is None else node.multiplexed
            releases.append(
                Release(hosts[node.host], multiplexed, anchor.depends_on, anchor.at_first_byte, gap_s)
            )
            kinds[anchor.kind] += len(releases) > 1
    graph_hosts = tuple(_page_host(host, objects, network.round_trip_s[host]) for host in hosts)
    recorded_s = round(max(node.end_s for node in objects) - start_s, 6)
    return PageGraph(graph_hosts, tuple(releases), recorded_s), kinds


def _page_host(host: str, objects: Sequence[HarEntry], round_trip_s: float) -> PageHost:
    own = [node for node in objects if node.host == host]
    dns_s, tls_s = max(node.dns_s for node in own), max(node.tls_s for node in own)
    return PageHost(round_trip_s, dns_s, tls_s, secure=host.startswith(("https:", "wss:")))


class _Anchor(NamedTuple):
    """Event on which an object depends. The ``kind`` of the dependency is known, inferred or none."""

    depends_on: int
    at_first_byte: bool
    time_s: float
    kind: str


class _AnchorFinder:
    """Search for the events on which the entries of a page depend. Entries are added in order of request."""

    def __init__(self, start_s: float) -> None:
        self._start = _Anchor(PAGE_START, False, start_s, "none")
        self._objects = 0
        self._main_first_s = np.inf
        self._latest: dict[str, tuple[HarEntry, _Anchor]] = {}
        self._redirects: dict[str, tuple[float, _Anchor]] = {}
        self._running: list[tuple[float, int, _Anchor]] = []
        self._last_ended: _Anchor | None = None

    def anchor(self, node: HarEntry) -> _Anchor:
        """Return the event on which an entry depends."""
        while self._running and self._running[0][0] <= node.release_s:
            self._last_ended = heappop(self._running)[2]
        if node.url in self._redirects and self._redirects[node.url][0] <= node.release_s + _ROUNDING_S:
            return self._redirects.pop(node.url)[1]._replace(kind="known")
        if node.initiator in self._latest:
            initiator, end = self._latest[node.initiator]
            if initiator.omitted or initiator.end_s <= node.release_s:
                return end._replace(kind="known")
            if initiator.first_s <= node.release_s:
                return _Anchor(end.depends_on, True, initiator.first_s, "known")
        if self._last_ended is not None:
            return self._last_ended._replace(kind="inferred")
        if self._main_first_s <= node.release_s:
            return _Anchor(0, True, self._main_first_s, "inferred")
        return self._start

    def add(self, node: HarEntry, anchor: _Anchor) -> None:
        """Add an entry, so that later entries can depend on its end.

        If the entry is omitted, later entries depend on its own *anchor* instead.
        """
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


def remarks(
    nodes: Sequence[HarEntry], objects: Sequence[HarEntry], kinds: Counter[str], network: RecordedNetwork
) -> list[str]:
    """Return remarks on left-out entries, on dependencies, on the network, and on missing data."""
    omitted = Counter(node.omitted for node in nodes if node.omitted)
    median_s = median(network.round_trip_s.values())
    reasons = ", ".join(f"{omitted[reason]:,} {reason}" for reason in ("cached", "failed", "other"))
    left_out = f"{pluralize(omitted.total(), 'entry')} left out ({reasons})"
    rate_mbps = network.bytes_per_s * 8e-6
    wired_ms = max(0.0, 500 * median_s - 0.1)
    lacking = {
        "dependencies are inferred from request order": (
            kinds.total() > 0 and not any(node.initiator for node in objects)
        ),
        "round-trip times are inferred from waits": not network.measured,
        "protocol unknown, HTTP/2 assumed": network.lacks_protocols,
        "sizes are uncompressed": any(node.is_uncompressed for node in objects),
        "server delays unknown, 0 assumed; page times are lower bounds": (
            sum(node.delay_us < 0 for node in objects) > len(objects) / 2
        ),
    }
    return [
        f"{pluralize(len(objects), 'object')} replayed, {left_out}",
        "dependencies: " + ", ".join(f"{kinds[kind]:,} {kind}" for kind in ("known", "inferred", "none")),
        (
            f"recorded network: median round trip {1000 * median_s:.3g} ms ({network.measured:,} of "
            f"{len(network.round_trip_s):,} hosts measured), at least {rate_mbps:.3g} Mbit/s; with topology "
            f"modern this is links.wired.latency_ms={wired_ms:.4g}, links.wired.rate_mbps={rate_mbps:.4g}"
        ),
        *(remark for remark, holds in lacking.items() if holds),
    ]

"""Recorded pages: one client's pages in the recorded order, with the recorded gaps."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from psm_sim.errors import InputError
from psm_sim.limits import MAX_S
from psm_sim.parameters import check_all, parameter
from psm_sim.random_streams import random_stream
from psm_sim.workload.constant_distribution import AS_TRACE, constant_distribution
from psm_sim.workload.page_view import Page
from psm_sim.workload.recordings.recording import UNKNOWN, Recording
from psm_sim.workload.stratified_sampling import stratified_draws, stratified_integers
from psm_sim.workload.trace_profile import berkeley_profile


@dataclass(frozen=True)
class Playback:
    """Playback of a recording: what stands in for values that it does not hold."""

    max_think_s: float | None = parameter(
        1000.0,
        "a longer gap ends a session; the next one follows after a wait of this length; none: no limit",
        unit="s",
        above=0,
        at_most=MAX_S,
        optional=True,
    )
    server_delay_ms: str = parameter(
        AS_TRACE,
        "time the server takes before it answers each object: a constant, 'none', or 'trace' as recorded, "
        "and nothing where the recording does not tell",
        unit="ms",
    )
    request_bytes: str = parameter(
        AS_TRACE,
        "size of requests: a constant, or 'trace' as recorded, and drawn from the published table where the "
        "recording does not tell",
        unit="bytes",
    )

    def __post_init__(self) -> None:
        check_all(self, "trace")
        constant_distribution("server_delay_ms", self.server_delay_ms, at_least=0)
        constant_distribution("request_bytes", self.request_bytes, at_least=1)


def playback_pages(
    recording: Recording, client: int, pages: int, playback: Playback, seed: int, replication: int = 0
) -> tuple[Page, ...]:
    """Return the first *pages* pages of one client, or all it has.

    The first page is requested at once. A think time that the recording does not hold (independent runs in
    one file) is drawn from the published Berkeley distribution up to ``max_think_s``.

    Parameters
    ----------
    recording : Recording
        The recorded pages.
    client : int
        The index of the client.
    pages : int
        The largest number of pages, at least 1.
    playback : Playback
        What stands in for values that the recording does not hold.
    seed, replication : int
        The seed of what is drawn, and the number of the replication, each 0 or more.
    """
    span = recording.pages_of(client)
    chosen = slice(span.start, min(span.start + pages, span.stop))
    first = recording.first[chosen.start : chosen.stop + 1]
    objects = slice(int(first[0]), int(first[-1]))
    fill = _Fill(recording, recording.clients[client], playback, seed, replication)
    think = fill.think_s(chosen)
    sizes = recording.size[objects].tolist()
    delays, requests = fill.delays_s(objects), fill.requests(objects)
    made = []
    for wait, low, high in zip(think, first - objects.start, first[1:] - objects.start, strict=False):
        mine = slice(int(low), int(high))
        main, *images = sizes[mine]
        made.append(Page(wait, main, tuple(images), tuple(requests[mine]), tuple(delays[mine])))
    return tuple(made)


class _Fill:
    """Values of a recording, gaps filled as the parameters say; each client has draws of its own."""

    def __init__(
        self, recording: Recording, client: str, playback: Playback, seed: int, replication: int
    ) -> None:
        self._recording, self._client, self._playback = recording, client, playback
        self._seed, self._replication = seed, replication

    def _random(self, name: str) -> np.random.Generator:
        return random_stream(self._seed, f"workload.replay.{name}.{self._client}", self._replication)

    def think_s(self, pages: slice) -> list[float]:
        """Return think times in seconds, long gaps cut and unknown ones drawn."""
        limit = math.inf if self._playback.max_think_s is None else self._playback.max_think_s
        think = np.minimum(self._recording.think_s[pages], limit)
        think[0] = 0.0
        unknown = np.isnan(think)
        if unknown.any():
            table = berkeley_profile().tables["think_s"]
            upto = table.probability(limit)
            if upto == 0:
                raise InputError(
                    f"trace: max_think_s is {limit:g}; expected more than {table.values[0]:g}, the smallest "
                    "think time drawn for pages without one."
                )
            think[unknown] = stratified_draws(table, int(unknown.sum()), self._random("think_s"), upto)
        values: list[float] = think.tolist()
        return values

    def delays_s(self, objects: slice) -> list[float]:
        """Return server delays in seconds, 0 where unknown."""
        fixed_ms = constant_distribution("server_delay_ms", self._playback.server_delay_ms, 0)
        delays = self._recording.delay_us[objects].astype(float) / 1e6
        values: list[float] = np.maximum(delays, 0.0).tolist()
        return values if fixed_ms is None else [fixed_ms / 1000] * len(values)

    def requests(self, objects: slice) -> list[int]:
        """Return request sizes in bytes, unknown ones drawn."""
        count = objects.stop - objects.start
        fixed = constant_distribution("request_bytes", self._playback.request_bytes, 1)
        if fixed is not None:
            return [round(fixed)] * count
        recorded = self._recording.request_bytes
        sizes = np.full(count, UNKNOWN) if recorded is None else recorded[objects].astype(np.int64)
        unknown = sizes == UNKNOWN
        if unknown.any():
            random = self._random("request_bytes")
            table = berkeley_profile().tables["request_bytes"]
            sizes[unknown] = stratified_integers(stratified_draws(table, int(unknown.sum()), random), random)
        values: list[int] = sizes.tolist()
        return values

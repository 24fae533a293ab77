"""Workloads from a recording, either replayed per client or sampled from fitted distributions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.condition import Condition
from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_S
from psm_sim.common.parameters import (
    build,
    check_all,
    parameter,
    parameters_of,
    values_of,
)
from psm_sim.common.progress import Progress
from psm_sim.common.random_streams import random_stream
from psm_sim.common.registry import unknown_name_error
from psm_sim.workload.distributions import AS_TRACE, constant_distribution
from psm_sim.workload.page_sampler import (
    MAH,
    PageSampling,
    sample_pages,
    stratified_draws,
    stratified_integers,
)
from psm_sim.workload.page_view import DependencyPage, Page
from psm_sim.workload.profile_fitting import fit_profile
from psm_sim.workload.recordings.page_grouping import PageRule
from psm_sim.workload.recordings.recording import UNKNOWN, Recording
from psm_sim.workload.recordings.recording_reader import read_recording
from psm_sim.workload.trace_profile import berkeley_profile
from psm_sim.workload.workload import Workload, describe_page_count

LOW = "low"
"""Value of ``server_delay_ms`` for the lower bounds."""


@dataclass(frozen=True)
class Playback:
    """Parameters of a playback, which replace values missing in the recording."""

    max_think_s: float | None = parameter(
        1000.0,
        "maximum think time; longer gaps between sessions are shortened to it; none: no limit",
        unit="s",
        above=0,
        at_most=MAX_S,
    )
    think_s: str = parameter(
        MAH,
        "think time of pages whose think time is not recorded: a constant, or 'mah' to sample it from the "
        "published table",
        unit="s",
    )
    server_delay_ms: str = parameter(
        AS_TRACE,
        "server delay of each object: a constant, 'none', 'trace' as recorded (0 if unknown), or 'low' for "
        "the lower bound of HAR files, without queueing",
        unit="ms",
    )
    request_bytes: str = parameter(
        AS_TRACE,
        "size of requests: a constant, or 'trace' as recorded (if unknown, sampled from the published table)",
        unit="bytes",
    )

    def __post_init__(self) -> None:
        check_all(self, "trace")
        self.constant_think_s()
        self.constant_delay_ms()
        constant_distribution("request_bytes", self.request_bytes, at_least=1)

    def constant_think_s(self) -> float | None:
        """Return the constant for unknown think times in seconds, or None to sample them."""
        if self.think_s.strip() == MAH:
            return None
        return constant_distribution("think_s", self.think_s, at_least=0)

    def constant_delay_ms(self) -> float | None:
        """Return the constant server delay in milliseconds, or None for the recorded ones."""
        if self.server_delay_ms.strip() == LOW:
            return None
        return constant_distribution("server_delay_ms", self.server_delay_ms, at_least=0)

    def describe_unknown_think_times(self, think_s: NDArray[np.float64]) -> str:
        """Return where the unknown ones among *think_s* come from, as text for the remark; empty if none."""
        unknown = int(np.isnan(think_s).sum())
        if not unknown:
            return ""
        times = "think time is" if unknown == 1 else "think times are"
        sampled = self.constant_think_s() is None
        source = (
            "sampled from the published table (Mah 1997); see think_s"
            if sampled
            else f"set to {self.think_s} s"
        )
        return f"; {unknown:,} {times} not recorded and {source}"


def playback_pages(
    recording: Recording, client: int, pages: int, playback: Playback, seed: int
) -> tuple[Page, ...]:
    """Return the first *pages* pages of one client, or all if it has fewer.

    The first page is requested at time 0. Think times missing in the recording, as between independent runs
    in one file, are replaced as ``think_s`` says, and at most ``max_think_s``.

    Parameters
    ----------
    recording : Recording
        Recorded pages.
    client : int
        Index of the client.
    pages : int
        Maximum number of pages, at least 1.
    playback : Playback
        Replacements for missing values.
    seed : int
        Random seed, 0 or more.
    """
    client_range = recording.pages_of(client)
    page_range = slice(client_range.start, min(client_range.start + pages, client_range.stop))
    first = recording.first[page_range.start : page_range.stop + 1]
    objects = slice(int(first[0]), int(first[-1]))
    name = recording.clients[client]
    think_random = random_stream(seed, f"workload.replay.think_s.{name}")
    request_random = random_stream(seed, f"workload.replay.request_bytes.{name}")
    think = _think_times(recording, page_range, playback, think_random)
    sizes = recording.size[objects].tolist()
    delays = _delays(recording, objects, playback)
    requests = _request_sizes(recording, objects, playback, request_random)
    replayed = []
    bounds = zip(think, first - objects.start, first[1:] - objects.start, strict=False)
    for page, (wait, start, stop) in enumerate(bounds, page_range.start):
        span = slice(int(start), int(stop))
        main, *images = sizes[span]
        values = wait, main, tuple(images), tuple(requests[span]), tuple(delays[span])
        replayed.append(
            DependencyPage(*values, recording.graphs[page]) if recording.graphs else Page(*values)
        )
    return tuple(replayed)


def _think_times(
    recording: Recording, pages: slice, playback: Playback, random: np.random.Generator
) -> list[float]:
    """Return think times in seconds, with long gaps shortened and missing values sampled."""
    limit = math.inf if playback.max_think_s is None else playback.max_think_s
    think = np.minimum(recording.think_s[pages], limit)
    think[0] = 0.0
    unknown, constant_s = np.isnan(think), playback.constant_think_s()
    if constant_s is not None:
        think[unknown] = min(constant_s, limit)
    elif unknown.any():
        table = berkeley_profile().tables["think_s"]
        max_probability = table.probability(limit)
        if max_probability == 0:
            raise InputError(
                f"trace: max_think_s must be greater than {table.values[0]:g}, the smallest think time "
                f"sampled for pages without one, got {limit:g}."
            )
        think[unknown] = stratified_draws(table, int(unknown.sum()), random, max_probability)
    values: list[float] = think.tolist()
    return values


def _delays(recording: Recording, objects: slice, playback: Playback) -> list[float]:
    """Return server delays in seconds; 0 if unknown."""
    constant_ms, recorded_us = playback.constant_delay_ms(), recording.delay_us
    if playback.server_delay_ms.strip() == LOW:
        if recording.low_delay_us is None:
            raise InputError(
                f"trace: server_delay_ms=low requires a HAR file, got a file in the format "
                f"{recording.format}."
            )
        recorded_us = recording.low_delay_us
    values: list[float] = np.maximum(recorded_us[objects] / 1e6, 0.0).tolist()
    return values if constant_ms is None else [constant_ms / 1000] * len(values)


def _request_sizes(
    recording: Recording, objects: slice, playback: Playback, random: np.random.Generator
) -> list[int]:
    """Return request sizes in bytes; unknown ones are sampled."""
    count = objects.stop - objects.start
    constant = constant_distribution("request_bytes", playback.request_bytes, 1)
    if constant is not None:
        return [round(constant)] * count
    recorded = recording.request_bytes
    sizes = np.full(count, UNKNOWN) if recorded is None else recorded[objects].astype(np.int64)
    unknown = sizes == UNKNOWN
    if unknown.any():
        table = berkeley_profile().tables["request_bytes"]
        sizes[unknown] = stratified_integers(stratified_draws(table, int(unknown.sum()), random), random)
    values: list[int] = sizes.tolist()
    return values


@dataclass(frozen=True)
class RecordingOptions:
    """Parameters that select the use of a recording and its clients."""

    workload: str = parameter(
        "replay",
        "replay: a client's pages in order; sample: pages sampled from the recording's distributions",
        choices=("replay", "sample"),
    )
    clients: str = parameter(
        "auto",
        "all, the number of busiest clients, or one client's identifier; auto: the busiest client with "
        "workload=replay, all with workload=sample",
    )

    def __post_init__(self) -> None:
        check_all(self, "trace")


_PAGE_SOURCES: dict[str, type[Playback | PageSampling]] = {"replay": Playback, "sample": PageSampling}
"""Parameters of the pages, by the parameter ``workload``."""


@dataclass(frozen=True, eq=False)
class ClientSelection:
    """Recording with its selected clients and parameters.

    Attributes
    ----------
    path
        File of the recording.
    recording
        Recorded pages.
    clients
        Indices of the selected clients, the busiest first, shape (k,).
    use
        Parameters that selected the clients.
    rule
        Rule that grouped the requests into pages.
    page_source
        Parameters of the playback or of the sampling.
    """

    path: Path
    recording: Recording
    clients: NDArray[np.intp]
    use: RecordingOptions
    rule: PageRule
    page_source: Playback | PageSampling

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters as plain values."""
        return values_of(self.use) | values_of(self.rule) | values_of(self.page_source)


def select_clients(path: Path, texts: Mapping[str, str], progress: Progress | None = None) -> ClientSelection:
    """Read a recording and select clients. The parameters are checked before the file is read.

    Parameters
    ----------
    path : Path
        File of the recording.
    texts : mapping of str to str
        Parameters of the trace as text, by name.
    progress : callable, optional
        Callback that reports the progress of reading.

    Raises
    ------
    InputError
        If a parameter, the file or the selection is invalid.
    """
    owner = f"trace {path.name}"
    chosen = _PAGE_SOURCES.get(texts.get("workload", "replay").strip(), Playback)
    classes = (RecordingOptions, PageRule, chosen)
    names = [name for cls in classes for name in parameters_of(cls)]
    for name in [name for name in texts if name not in names]:
        for mode, cls in _PAGE_SOURCES.items():
            if name in parameters_of(cls):
                raise Condition.parse(f"workload={mode}").error(owner, name)
        raise unknown_name_error(f"parameter of {owner}", name, sorted(names))
    use, rule, page_source = (
        build(cls, {name: texts[name] for name in parameters_of(cls) if name in texts}, owner)
        for cls in classes
    )
    recording = read_recording(path, rule, progress)
    return ClientSelection(
        path, recording, _select_client_indices(recording, use, owner), use, rule, page_source
    )


def recorded_workloads(chosen: ClientSelection, pages: int, seed: int) -> tuple[Workload, ...]:
    """Return one workload per selected client, or a single one if pages are sampled.

    Parameters
    ----------
    chosen : ClientSelection
        Recording and its selected clients.
    pages : int
        Number of pages, at least 1. A client with fewer recorded pages returns all of them.
    seed : int
        Random seed, 0 or more.
    """
    if isinstance(chosen.page_source, PageSampling):
        profile = fit_profile(chosen.recording, chosen.path.name, chosen.clients)
        sampled = sample_pages(profile, chosen.page_source, pages, seed)
        return (_workload(chosen, sampled, True, profile.remark),)
    return tuple(_replay_client(chosen, int(client), pages, seed) for client in chosen.clients)


def _replay_client(chosen: ClientSelection, client: int, pages: int, seed: int) -> Workload:
    recording, playback = chosen.recording, chosen.page_source
    assert isinstance(playback, Playback)  # noqa: S101
    replayed = playback_pages(recording, client, pages, playback, seed)
    client_range = recording.pages_of(client)
    remark = (
        f"client {recording.clients[client]} of {len(recording.clients):,} in {chosen.path.name} "
        f"({recording.format}), {describe_page_count(client_range.stop - client_range.start, pages)}"
        f"{playback.describe_unknown_think_times(recording.think_s[client_range][1:pages])}"
    )
    return _workload(chosen, replayed, False, remark, recording.clients[client])


def _workload(
    chosen: ClientSelection, pages: tuple[Any, ...], synthetic: bool, remark: str, client: str = ""
) -> Workload:
    notes = chosen.recording.warnings
    full_remark = "; ".join((remark, *notes))
    return Workload(chosen.path.name, pages, synthetic, full_remark, chosen.parameters, client, notes)


def _select_client_indices(recording: Recording, use: RecordingOptions, owner: str) -> NDArray[np.intp]:
    """Return the indices of the selected clients, the busiest first."""
    selection, busiest = use.clients.strip(), recording.busiest()
    if selection == "auto":
        selection = "all" if use.workload == "sample" else "1"
    if selection == "all":
        return busiest
    if selection.isascii() and selection.isdecimal():
        # Check the length first, because int() rejects strings of several thousand digits.
        if len(selection) > 10 or not 1 <= int(selection) <= busiest.size:
            expected = f"1 to {busiest.size}, all or an identifier"
            raise InputError(f"{owner}: clients must be {expected}, got {selection}.")
        return busiest[: int(selection)]
    if selection not in recording.clients:
        raise unknown_name_error(f"client of {owner}", selection, [recording.clients[k] for k in busiest[:5]])
    return np.array([recording.clients.index(selection)])

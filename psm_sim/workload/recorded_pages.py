"""Workloads from recorded pages, which are replayed, or sampled from fitted distributions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.errors import InputError
from psm_sim.common.parameters import (
    SECONDS,
    Condition,
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
from psm_sim.workload.recordings.recording import UNKNOWN, PageRecording
from psm_sim.workload.recordings.recording_reader import read_page_recording
from psm_sim.workload.trace_profile import berkeley_profile
from psm_sim.workload.workload import Workload, describe_page_count

LOW = "low"
"""Value of ``server_delay_ms`` for the lower bounds."""


@dataclass(frozen=True)
class Playback:
    """Parameters for replaying pages. They also replace values that the recording lacks."""

    max_think_s: float | None = parameter(
        1000.0,
        "maximum think time; longer gaps between sessions are shortened to it; none: no limit",
        **SECONDS,
        above=0,
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
        """Return the constant that replaces unknown think times, in seconds; None if they are sampled."""
        if self.think_s.strip() == MAH:
            return None
        return constant_distribution("think_s", self.think_s, at_least=0)

    def constant_delay_ms(self) -> float | None:
        """Return the constant server delay in milliseconds; None if recorded delays are used."""
        if self.server_delay_ms.strip() == LOW:
            return None
        return constant_distribution("server_delay_ms", self.server_delay_ms, at_least=0)

    def describe_unknown_think_times(self, think_s: NDArray[np.float64]) -> str:
        """Return a remark on the number and the source of replaced think times; empty without any."""
        sampled = self.constant_think_s() is None
        if sampled and think_s.size == 1:
            return "; a single page has no think time, unless think_s is set"
        unknown = int(np.isnan(think_s[1 if sampled else 0 :]).sum())
        if not unknown:
            return ""
        times = "think time is" if unknown == 1 else "think times are"
        source = (
            "sampled from the published table (Mah 1997); see think_s"
            if sampled
            else f"set to {self.think_s} s"
        )
        return f"; {unknown:,} {times} not recorded and {source}"

    def pages(self, recording: PageRecording, client: int, count: int, seed: int) -> tuple[Page, ...]:
        """Return the first *count* pages of a client, or all pages if there are fewer.

        Unknown think times, such as those between independent runs in one file, are replaced according to
        ``think_s``. Unless ``think_s`` is a constant, the first page is requested at time 0. Think times
        above ``max_think_s`` are shortened to this limit.
        """
        pages = recording.pages_of(client)
        pages = slice(pages.start, min(pages.start + count, pages.stop))
        first = recording.first[pages.start : pages.stop + 1].tolist()
        objects, name = slice(first[0], first[-1]), recording.clients[client]
        think_s = self._think_s(
            recording.think_s[pages], random_stream(seed, f"workload.replay.think_s.{name}")
        )
        requests = self._request_bytes(
            recording, objects, random_stream(seed, f"workload.replay.request_bytes.{name}")
        )
        sizes, delays_s = recording.size[objects].tolist(), self._delays_s(recording, objects)
        replayed = []
        for page, wait_s, (start, stop) in zip(
            range(pages.start, pages.stop), think_s, pairwise(first), strict=True
        ):
            span = slice(start - first[0], stop - first[0])
            main, *images = sizes[span]
            values = wait_s, main, tuple(images), tuple(requests[span]), tuple(delays_s[span])
            replayed.append(
                DependencyPage(*values, recording.graphs[page]) if recording.graphs else Page(*values)
            )
        return tuple(replayed)

    def _think_s(self, recorded_s: NDArray[np.float64], random: np.random.Generator) -> list[float]:
        """Return think times in seconds. Long ones are shortened, and unknown ones are replaced."""
        limit = math.inf if self.max_think_s is None else self.max_think_s
        think, constant_s = np.minimum(recorded_s, limit), self.constant_think_s()
        if constant_s is None:
            think[0] = 0.0
        unknown = np.isnan(think)
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

    def _delays_s(self, recording: PageRecording, objects: slice) -> list[float]:
        """Return server delays in seconds. An unknown delay becomes 0."""
        constant_ms, recorded_us = self.constant_delay_ms(), recording.delay_us
        if self.server_delay_ms.strip() == LOW:
            if recording.low_delay_us is None:
                raise InputError(
                    f"trace: server_delay_ms=low requires a HAR file, got a file in the format "
                    f"{recording.format}."
                )
            recorded_us = recording.low_delay_us
        values: list[float] = np.maximum(recorded_us[objects] / 1e6, 0.0).tolist()
        return values if constant_ms is None else [constant_ms / 1000] * len(values)

    def _request_bytes(
        self, recording: PageRecording, objects: slice, random: np.random.Generator
    ) -> list[int]:
        """Return request sizes in bytes. Unknown sizes are sampled from the published table."""
        count, recorded = objects.stop - objects.start, recording.request_bytes
        constant = constant_distribution("request_bytes", self.request_bytes, 1)
        if constant is not None:
            return [round(constant)] * count
        sizes = np.full(count, UNKNOWN) if recorded is None else recorded[objects].astype(np.int64)
        unknown = sizes == UNKNOWN
        if unknown.any():
            table = berkeley_profile().tables["request_bytes"]
            sizes[unknown] = stratified_integers(stratified_draws(table, int(unknown.sum()), random), random)
        values: list[int] = sizes.tolist()
        return values


@dataclass(frozen=True)
class RecordingOptions:
    """Parameters that select clients, and whether their pages are replayed or sampled."""

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

    def select(self, recording: PageRecording, owner: str) -> NDArray[np.intp]:
        """Return the indices of the selected clients, the busiest first."""
        selection, busiest = self.clients.strip(), recording.busiest()
        if selection == "auto":
            selection = "all" if self.workload == "sample" else "1"
        if selection == "all":
            return busiest
        if selection.isascii() and selection.isdecimal():
            # Check the length first, because int() rejects strings of several thousand digits.
            if len(selection) > 10 or not 1 <= int(selection) <= busiest.size:
                expected = f"1 to {busiest.size}, all or an identifier"
                raise InputError(f"{owner}: clients must be {expected}, got {selection}.")
            return busiest[: int(selection)]
        if selection not in recording.clients:
            nearest = [recording.clients[client] for client in busiest[:5]]
            raise unknown_name_error(f"client of {owner}", selection, nearest)
        return np.array([recording.clients.index(selection)])


_PAGE_SOURCES: dict[str, type[Playback | PageSampling]] = {"replay": Playback, "sample": PageSampling}
"""Class of the page parameters, by the value of the parameter ``workload``."""


class ClientSelection(NamedTuple):
    """Recording and selected clients of a trace.

    ``clients`` are the indices of the selected clients, the busiest first. ``page_source`` replays or samples
    the pages. ``parameters`` are all parameters of the trace as plain values.
    """

    path: Path
    recording: PageRecording
    clients: NDArray[np.intp]
    page_source: Playback | PageSampling
    parameters: dict[str, Any]


def select_clients(path: Path, texts: Mapping[str, str], progress: Progress | None = None) -> ClientSelection:
    """Read a recording and select clients. *texts* are checked before the file is read.

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
    options, rule, page_source = built = [
        build(cls, {name: texts[name] for name in parameters_of(cls) if name in texts}, owner)
        for cls in classes
    ]
    recording = read_page_recording(path, rule, progress)
    parameters = {name: value for part in built for name, value in values_of(part).items()}
    return ClientSelection(path, recording, options.select(recording, owner), page_source, parameters)


def recorded_workloads(chosen: ClientSelection, pages: int, seed: int) -> tuple[Workload, ...]:
    """Return a workload of at most *pages* pages for each selected client.

    If pages are sampled, return a single workload with *pages* pages.
    """
    path, recording, clients, page_source, parameters = chosen
    notes = recording.warnings
    if isinstance(page_source, PageSampling):
        profile = fit_profile(recording, path.name, clients)
        remark = "; ".join((profile.remark, *notes))
        sampled = sample_pages(profile, page_source, pages, seed)
        return (Workload(path.name, sampled, True, remark, parameters, "", notes),)
    workloads = []
    for client in clients.tolist():
        name, think_s = recording.clients[client], recording.think_s[recording.pages_of(client)]
        remark = (
            f"client {name} of {len(recording.clients):,} in {path.name} ({recording.format}), "
            f"{describe_page_count(think_s.size, pages)}"
            f"{page_source.describe_unknown_think_times(think_s[:pages])}"
        )
        replayed = page_source.pages(recording, client, pages, seed)
        remark = "; ".join((remark, *notes))
        workloads.append(Workload(path.name, replayed, False, remark, parameters, name, notes))
    return tuple(workloads)

"""Workloads from a recording, either replayed per client or sampled from fitted distributions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.errors import InputError
from psm_sim.common.parameters import (
    build,
    check_all,
    parameter,
    parameters_of,
    values_of,
    without_effect,
)
from psm_sim.common.progress import Progress
from psm_sim.common.registry import unknown_name_error
from psm_sim.workload.page_sampler import PageSampling, sample_pages
from psm_sim.workload.profile_fitting import fit_profile
from psm_sim.workload.recorded_page_playback import Playback, playback_pages
from psm_sim.workload.recordings.page_grouping import PageRule
from psm_sim.workload.recordings.recording import Recording
from psm_sim.workload.recordings.recording_reader import read_recording
from psm_sim.workload.workload import Workload, describe_page_count


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
        "all, the number of busiest clients, or one client's identifier (id:NAME if it is a number); auto: "
        "the busiest client with workload=replay, all with workload=sample",
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
    use = build(RecordingOptions, _select_texts(RecordingOptions, texts), owner)
    source_class = _PAGE_SOURCES[use.workload]
    names = {name for cls in (RecordingOptions, PageRule, source_class) for name in parameters_of(cls)}
    for name in texts:
        for workload, cls in _PAGE_SOURCES.items():
            if name not in names and name in parameters_of(cls):
                raise InputError(f"{owner}: {without_effect(name, f'workload={workload}')}")
        if name not in names:
            raise unknown_name_error(f"parameter of {owner}", name, sorted(names))
    rule = build(PageRule, _select_texts(PageRule, texts), owner)
    page_source = build(source_class, _select_texts(source_class, texts), owner)
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


def _select_texts(cls: type, texts: Mapping[str, str]) -> dict[str, str]:
    return {name: texts[name] for name in parameters_of(cls) if name in texts}


def _select_client_indices(recording: Recording, use: RecordingOptions, owner: str) -> NDArray[np.intp]:
    """Return the indices of the selected clients, the busiest first."""
    selection, busiest = use.clients.strip(), recording.busiest()
    if selection == "auto":
        selection = "all" if use.workload == "sample" else "1"
    if selection == "all":
        return busiest
    if selection.isdecimal():
        # Check the length first, because int() rejects strings of several thousand digits.
        if len(selection) > 10 or not 1 <= int(selection) <= busiest.size:
            expected = f"1 to {busiest.size}, all or an identifier"
            raise InputError(f"{owner}: clients must be {expected}, got {selection}.")
        return busiest[: int(selection)]
    name = selection.removeprefix("id:")
    if name not in recording.clients:
        raise unknown_name_error(f"client of {owner}", name, [recording.clients[k] for k in busiest[:5]])
    return np.array([recording.clients.index(name)])

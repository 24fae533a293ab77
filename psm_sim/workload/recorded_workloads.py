"""Workloads from a recording: replayed client by client, or sampled from distributions fitted to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psm_sim.errors import InputError
from psm_sim.parameters import build, check_all, parameter, parameters_of, values_of
from psm_sim.progress import Progress
from psm_sim.registry import unknown_name_error
from psm_sim.workload.page_sampling import PageSampling
from psm_sim.workload.page_synthesis import draw_pages
from psm_sim.workload.profile_fitting import fit_profile
from psm_sim.workload.recorded_pages import Playback, playback_pages
from psm_sim.workload.recordings.format_detection import read_recording
from psm_sim.workload.recordings.page_grouping import PageRule
from psm_sim.workload.recordings.recording import Recording
from psm_sim.workload.workload import Workload, how_many


@dataclass(frozen=True)
class RecordingOptions:
    """Use of a recording: replay or sample, and whose pages."""

    workload: str = parameter(
        "replay",
        "replay: a client's pages in order; sample: pages drawn from the distributions of the recording",
        choices=("replay", "sample"),
    )
    clients: str = parameter(
        "auto",
        "all, the number of the busiest ones, or one client's identifier (id:NAME if it is a number); "
        "auto: the busiest one to replay, all to sample from",
    )

    def __post_init__(self) -> None:
        check_all(self, "trace")


@dataclass(frozen=True, eq=False)
class ClientSelection:
    """Recording with the indices of the clients chosen, the busiest first, and how pages are made of it."""

    path: Path
    recording: Recording
    clients: NDArray[np.intp]
    use: RecordingOptions
    rule: PageRule
    making: Playback | PageSampling

    @property
    def parameters(self) -> dict[str, Any]:
        """Every parameter used, as plain values."""
        return values_of(self.use) | values_of(self.rule) | values_of(self.making)


def select_clients(path: Path, texts: Mapping[str, str], progress: Progress | None = None) -> ClientSelection:
    """Read a recording and choose clients; the parameters are checked before it is read.

    Parameters
    ----------
    path : Path
        The file of the recording.
    texts : mapping of str to str
        The parameters as a user writes them.
    progress : callable, optional
        Called while the file is read.

    Raises
    ------
    InputError
        If a parameter, the file or the choice is unusable.
    """
    owner = f"trace {path.name}"
    use = build(RecordingOptions, _those_of(RecordingOptions, texts), owner)
    making = PageSampling if use.workload == "sample" else Playback
    known = {name for cls in (RecordingOptions, PageRule, making) for name in parameters_of(cls)}
    for name in texts:
        if name not in known:
            raise unknown_name_error(f"parameter of {owner}", name, sorted(known))
    rule = build(PageRule, _those_of(PageRule, texts), owner)
    made = build(making, _those_of(making, texts), owner)
    recording = read_recording(path, rule, progress)
    return ClientSelection(path, recording, _clients(recording, use, owner), use, rule, made)


def recorded_workloads(
    chosen: ClientSelection, pages: int, seed: int, replication: int = 0
) -> tuple[Workload, ...]:
    """Make one workload per client chosen, or a single one if pages are sampled.

    Parameters
    ----------
    chosen : Chosen
        The recording and its clients.
    pages : int
        The number of pages, at least 1; a client gives its first *pages*, or all it has.
    seed, replication : int
        The seed of what is drawn, and the number of the replication, each 0 or more.
    """
    if isinstance(chosen.making, PageSampling):
        profile = fit_profile(chosen.recording, chosen.path.name, chosen.clients)
        drawn = draw_pages(profile, chosen.making, pages, seed, replication)
        return (_workload(chosen, drawn, True, profile.remark),)
    return tuple(_replayed(chosen, int(client), pages, seed, replication) for client in chosen.clients)


def _replayed(chosen: ClientSelection, client: int, pages: int, seed: int, replication: int) -> Workload:
    recording, playback = chosen.recording, chosen.making
    assert isinstance(playback, Playback)  # noqa: S101
    replayed = playback_pages(recording, client, pages, playback, seed, replication)
    span = recording.pages_of(client)
    remark = (
        f"client {recording.clients[client]} of {len(recording.clients):,} in {chosen.path.name} "
        f"({recording.format}), {how_many(span.stop - span.start, pages)}"
    )
    return _workload(chosen, replayed, False, remark, recording.clients[client])


def _workload(
    chosen: ClientSelection, pages: tuple[Any, ...], synthetic: bool, remark: str, client: str = ""
) -> Workload:
    notes = chosen.recording.warnings
    words = "; ".join((remark, *notes))
    return Workload(chosen.path.name, pages, synthetic, words, chosen.parameters, client, notes)


def _those_of(cls: type, texts: Mapping[str, str]) -> dict[str, str]:
    return {name: texts[name] for name in parameters_of(cls) if name in texts}


def _clients(recording: Recording, use: RecordingOptions, owner: str) -> NDArray[np.intp]:
    """Return the indices of the clients that are chosen, the busiest first."""
    word, busiest = use.clients.strip(), recording.busiest()
    if word == "auto":
        word = "all" if use.workload == "sample" else "1"
    if word == "all":
        return busiest
    if word.isdecimal():
        # The length first: Python refuses to read a number of some thousand digits.
        if len(word) > 10 or not 1 <= int(word) <= busiest.size:
            most = f"1 to {busiest.size}, all, or an identifier"
            raise InputError(f"{owner}: clients is {word}; expected {most}.")
        return busiest[: int(word)]
    name = word.removeprefix("id:")
    if name not in recording.clients:
        raise unknown_name_error(f"client of {owner}", name, [recording.clients[k] for k in busiest[:5]])
    return np.array([recording.clients.index(name)])

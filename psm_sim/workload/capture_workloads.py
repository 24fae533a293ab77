"""Workloads from a capture: packets as they came (open loop), or requests and replies (closed loop)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psm_sim.errors import InputError
from psm_sim.parameters import build, parameters_of, values_of
from psm_sim.progress import Progress
from psm_sim.random_streams import random_stream
from psm_sim.registry import unknown_name_error
from psm_sim.workload.capture_replay import CaptureOptions, open_loop
from psm_sim.workload.messages import Messages
from psm_sim.workload.network_activity import Activity, Transfer
from psm_sim.workload.recorded_pages import Playback, playback_pages
from psm_sim.workload.recordings.capture.http_exchanges import exchanges_of, recording_of
from psm_sim.workload.recordings.capture.reader import PacketCapture, is_capture, read_capture
from psm_sim.workload.recordings.chunk_reader import ChunkReader
from psm_sim.workload.recordings.recording import Recording
from psm_sim.workload.workload import Workload, how_many

_UNUSED = {"open": ("gap_s",), "closed": ("directions", "stretch_s", "phase_s")}
"""Parameters that belong to the other mode."""


@dataclass(frozen=True, eq=False)
class CapturedTrace:
    """Capture that was read, and the parameters of its use."""

    path: Path
    capture: PacketCapture
    use: CaptureOptions
    playback: Playback

    @property
    def recording(self) -> Recording:
        """The pages of its requests and replies."""
        return recording_of(self.capture, self.use.gap_s)

    @property
    def remark(self) -> str:
        """What it is, in words."""
        found = self.capture
        packets = f"{found.rows.size:,} of {found.packets:,} IP packets"
        return f"client {found.client} in {self.path.name} ({found.format}), {packets}"


def is_capture_file(path: Path) -> bool:
    """Say whether a file is a capture, by its content; an unreadable file is an InputError."""
    return is_capture(ChunkReader(path).head(4))


def capture_at(path: Path, texts: Mapping[str, str], progress: Progress | None = None) -> CapturedTrace:
    """Read a capture; the parameters are checked before it is read.

    Parameters
    ----------
    path
        The file.
    texts
        The parameters as a user writes them.
    progress
        Called while the file is read.

    Raises
    ------
    InputError
        If a parameter or the file is unusable.
    """
    owner = f"trace {path.name}"
    closed = texts.get("mode", "open").strip() == "closed"
    parts = (CaptureOptions, Playback) if closed else (CaptureOptions,)
    known = [name for cls in parts for name in parameters_of(cls)]
    for name in texts:
        if name not in known:
            raise unknown_name_error(f"parameter of {owner}", name, sorted(known))
    mode = "closed" if closed else "open"
    for name in _UNUSED[mode]:
        if name in texts:
            raise InputError(
                f"{owner}: {name} is {texts[name]!r}, but changes nothing with mode={mode}; leave it out."
            )
    use = build(CaptureOptions, _those_of(CaptureOptions, texts), owner)
    playback = build(Playback, _those_of(Playback, texts), owner)
    return CapturedTrace(path, read_capture(path, use.client, progress), use, playback)


def _those_of(cls: type, texts: Mapping[str, str]) -> dict[str, str]:
    return {name: texts[name] for name in parameters_of(cls) if name in texts}


def workload_of(captured: CapturedTrace, pages: int, seed: int, replication: int = 0) -> Workload:
    """Make the workload of a capture: messages beside pauses, or pages.

    Parameters
    ----------
    captured
        The capture.
    pages
        The largest number of stretches or pages, at least 1.
    seed, replication
        The seed of what is drawn (the phase, or values that the capture does not hold), and the replication.
    """
    use, warnings = captured.use, captured.capture.warnings
    if use.mode == "open":
        phase_s = random_stream(seed, "workload.capture.phase", replication).uniform(0.0, use.phase_s)
        messages, pauses = open_loop(captured.capture, use, pages, phase_s)
        words = f"{captured.remark}, replayed as {len(messages):,} frames at the times at which they came"
        return _workload(captured, pauses, (words, *warnings), values_of(use), messages)
    recording = captured.recording
    replayed = playback_pages(recording, 0, pages, captured.playback, seed, replication)
    words = f"{captured.remark}, requests and replies over TCP as pages: {how_many(recording.pages, pages)}"
    values = values_of(use) | values_of(captured.playback)
    return _workload(captured, replayed, (words, *recording.warnings), values, Messages())


def activity_of(captured: CapturedTrace) -> Activity:
    """Return the client's exchanges as transfers, as they were."""
    found, notes = exchanges_of(captured.capture)
    transfers = [Transfer(each.start_us, each.end_us, each.reply_bytes) for each in found]
    words = "; ".join((f"{captured.remark}, {len(found):,} requests as recorded", *notes))
    return Activity(captured.capture.client, transfers, False, words, values_of(captured.use))


def _workload(
    captured: CapturedTrace,
    pages: tuple[Any, ...],
    words: tuple[str, ...],
    values: dict[str, Any],
    sent: Messages,
) -> Workload:
    client, notes = captured.capture.client, words[1:]
    return Workload(captured.path.name, pages, False, "; ".join(words), values, client, notes, sent)

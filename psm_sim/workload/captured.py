"""Workloads from a capture: packets as they came (open loop), or requests and replies (closed loop)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psm_sim.parameters import build, parameters_of, values_of
from psm_sim.progress import Progress
from psm_sim.randomness import stream
from psm_sim.registry import unknown
from psm_sim.workload.messages import Messages
from psm_sim.workload.open_loop import CaptureUse, open_loop
from psm_sim.workload.recorded_pages import Playback, play_back
from psm_sim.workload.recordings.capture.exchanges import exchanges_of, recording_of
from psm_sim.workload.recordings.capture.reader import Capture, is_capture, read_capture
from psm_sim.workload.recordings.recording import Recording
from psm_sim.workload.recordings.source import Source
from psm_sim.workload.transfer import Activity, Transfer
from psm_sim.workload.workload import Workload, how_many


@dataclass(frozen=True, eq=False)
class Captured:
    """Capture that was read, and the parameters of its use."""

    path: Path
    capture: Capture
    use: CaptureUse
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
    return is_capture(Source(path).head(4))


def capture_at(path: Path, texts: Mapping[str, str], progress: Progress | None = None) -> Captured:
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
    parts = (CaptureUse, Playback) if closed else (CaptureUse,)
    known = [name for cls in parts for name in parameters_of(cls)]
    for name in texts:
        if name not in known:
            raise unknown(f"parameter of {owner}", name, sorted(known))
    use = build(CaptureUse, _those_of(CaptureUse, texts), owner)
    playback = build(Playback, _those_of(Playback, texts), owner)
    return Captured(path, read_capture(path, use.client, progress), use, playback)


def _those_of(cls: type, texts: Mapping[str, str]) -> dict[str, str]:
    return {name: texts[name] for name in parameters_of(cls) if name in texts}


def workload_of(captured: Captured, pages: int, seed: int, replication: int = 0) -> Workload:
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
        phase_s = stream(seed, "workload.capture.phase", replication).uniform(0.0, use.phase_s)
        messages, pauses = open_loop(captured.capture, use, pages, phase_s)
        words = f"{captured.remark}, replayed as {len(messages):,} frames at the times at which they came"
        return _workload(captured, pauses, (words, *warnings), values_of(use), messages)
    recording = captured.recording
    replayed = play_back(recording, 0, pages, captured.playback, seed, replication)
    words = f"{captured.remark}, requests and replies over TCP as pages: {how_many(recording.pages, pages)}"
    values = values_of(use) | values_of(captured.playback)
    return _workload(captured, replayed, (words, *recording.warnings), values, Messages())


def activity_of(captured: Captured) -> Activity:
    """Return the client's exchanges as transfers, as they were."""
    found, notes = exchanges_of(captured.capture)
    transfers = [Transfer(each.start_us, each.end_us, each.reply_bytes) for each in found]
    words = "; ".join((f"{captured.remark}, {len(found):,} requests as recorded", *notes))
    return Activity(captured.capture.client, transfers, False, words, values_of(captured.use))


def _workload(
    captured: Captured, pages: tuple[Any, ...], words: tuple[str, ...], values: dict[str, Any], sent: Messages
) -> Workload:
    client, notes = captured.capture.client, words[1:]
    return Workload(captured.path.name, pages, False, "; ".join(words), values, client, notes, sent)

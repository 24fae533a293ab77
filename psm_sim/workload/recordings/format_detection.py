"""Reading of recordings, whose format is detected by content."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from psm_sim.common.errors import InputError
from psm_sim.common.progress import Progress
from psm_sim.workload.recordings.bu_web_logs import bu_recording, is_bu
from psm_sim.workload.recordings.capture.reader import is_capture
from psm_sim.workload.recordings.chunk_reader import ChunkReader
from psm_sim.workload.recordings.har import har_recording, is_har
from psm_sim.workload.recordings.page_grouping import PageRule
from psm_sim.workload.recordings.recording import Recording
from psm_sim.workload.recordings.ucb_batches import Batch, binary_batches, is_binary, text_batches
from psm_sim.workload.recordings.ucb_recordings import ucb_recording

_SHOWTRACE = re.compile(rb"\s*\d+:\d+ \d+:\d+ ")
EXPECTED = (
    "a UCB Home IP trace (binary, gzipped or showtrace text), a HAR file, a BU-Web-Client log, a capture "
    "(pcap or pcapng), a page list (.csv) or a trace profile (.toml)"
)


def format_of(path: Path) -> str:
    """Return ``"ucb"``, ``"showtrace"``, ``"har"``, ``"bu"`` or ``"capture"`` from the file's first bytes.

    Raises
    ------
    InputError
        If the file is empty or has another format. The message shows its first bytes.
    """
    head = ChunkReader(path).head()
    if not head.strip():
        raise InputError(f"{path} is empty; expected {EXPECTED}.")
    detectors = {
        "capture": is_capture,
        "ucb": is_binary,
        "har": is_har,
        "showtrace": lambda data: bool(_SHOWTRACE.match(data)),
        "bu": is_bu,
    }
    for name, detect in detectors.items():
        if detect(head):
            return name
    raise InputError(f"{path} has an unknown format (it begins with {head[:24]!r}); expected {EXPECTED}.")


def ucb_batches_of(path: Path, progress: Progress | None = None) -> tuple[ChunkReader, Iterator[Batch]]:
    """Return a reader that collects warnings, and the records of a binary or text UCB file."""
    kind, source = format_of(path), ChunkReader(path, progress)
    if kind not in ("ucb", "showtrace"):
        raise InputError(f"{path} must be a UCB Home IP trace, binary or text, to convert its records.")
    return source, binary_batches(source) if kind == "ucb" else text_batches(source)


def read_recording(path: Path, rule: PageRule | None = None, progress: Progress | None = None) -> Recording:
    """Read a UCB, HAR or BU file.

    Parameters
    ----------
    path : Path
        File, plain or gzipped.
    rule : PageRule, optional
        Rule that groups requests into pages if the format does not define pages.
    progress : callable, optional
        Called with the bytes read, the size of the file and its name.

    Raises
    ------
    InputError
        If the file cannot be read or parsed, or contains no page.
    """
    kind, source, rule = format_of(path), ChunkReader(path, progress), rule or PageRule()
    if kind == "har":
        recording = har_recording(source)
    elif kind == "bu":
        recording = bu_recording(source, rule)
    elif kind == "showtrace":
        recording = ucb_recording(source, text_batches(source), rule, "UCB Home IP, showtrace text")
    else:
        recording = ucb_recording(source, binary_batches(source), rule, "UCB Home IP, binary")
    if not recording.pages:
        warnings = "".join(f" ({warning})" for warning in recording.warnings)
        raise InputError(f"{path} has no complete request with a response{warnings}; expected {EXPECTED}.")
    return recording

"""Readers of recordings, selected by the first bytes of a file."""

from __future__ import annotations

from pathlib import Path

from psm_sim.common.errors import InputError
from psm_sim.common.progress import Progress
from psm_sim.workload.recordings.capture.capture_files import is_capture
from psm_sim.workload.recordings.chunk_reader import ChunkReader
from psm_sim.workload.recordings.har import har_recording, is_har
from psm_sim.workload.recordings.page_grouping import PageRule, group_requests
from psm_sim.workload.recordings.recording import PageRecording
from psm_sim.workload.recordings.ucb import is_binary, is_showtrace, read_requests

EXPECTED = (
    "a UCB Home IP trace (binary, gzipped or showtrace text), a HAR file, a capture (pcap or pcapng), "
    "a page list (.csv) or a trace profile (.toml)"
)
_DETECTORS = {"capture": is_capture, "ucb": is_binary, "har": is_har, "showtrace": is_showtrace}


def format_of(path: Path) -> str:
    """Return the format of a recording: ``"ucb"``, ``"showtrace"``, ``"har"`` or ``"capture"``.

    Raises
    ------
    InputError
        If the file is empty or has another format. The message shows its first bytes.
    """
    head = ChunkReader(path).head()
    if not head.strip():
        raise InputError(f"{path} is empty; expected {EXPECTED}.")
    for name, detect in _DETECTORS.items():
        if detect(head):
            return name
    raise InputError(f"{path} has an unknown format (it begins with {head[:24]!r}); expected {EXPECTED}.")


def read_page_recording(
    path: Path, rule: PageRule | None = None, progress: Progress | None = None
) -> PageRecording:
    """Read a UCB or HAR file, plain or gzipped.

    *rule* groups the requests of a UCB file into pages. *progress* is called with the number of bytes read,
    the size of the file and its name.

    Raises
    ------
    InputError
        If the file cannot be read or parsed, or contains no page.
    """
    kind, source = format_of(path), ChunkReader(path, progress)
    if kind == "har":
        return har_recording(source)
    recording = group_requests(read_requests(source, is_text=kind == "showtrace"), rule or PageRule())
    if not recording.pages:
        warnings = "".join(f" ({warning})" for warning in recording.warnings)
        raise InputError(f"{path} has no complete request with a response{warnings}; expected {EXPECTED}.")
    return recording

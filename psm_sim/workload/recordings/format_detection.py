"""Reading of recordings: the format is recognised by content, not by name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from psm_sim.errors import InputError
from psm_sim.progress import Progress
from psm_sim.workload.recordings.bu import bu_recording, is_bu
from psm_sim.workload.recordings.capture.reader import is_capture
from psm_sim.workload.recordings.chunk_reader import ChunkReader
from psm_sim.workload.recordings.har import har_recording, is_har
from psm_sim.workload.recordings.page_grouping import PageRule
from psm_sim.workload.recordings.recording import Recording
from psm_sim.workload.recordings.ucb import ucb_recording
from psm_sim.workload.recordings.ucb_batches import Batch, binary_batches, is_binary, text_batches

_SHOWTRACE = re.compile(rb"\s*\d+:\d+ \d+:\d+ ")
EXPECTED = (
    "a UCB Home IP trace (binary, gzipped or showtrace text), a HAR file, a BU-Web-Client log, a capture "
    "(pcap or pcapng), a page list (.csv) or a trace profile (.toml)"
)


def format_of(path: Path) -> str:
    """Return ``"ucb"``, ``"showtrace"``, ``"har"``, ``"bu"`` or ``"capture"``, by the file's first bytes.

    Raises
    ------
    InputError
        If the file is empty or is none of these; the message shows how it begins.
    """
    head = ChunkReader(path).head()
    if not head.strip():
        raise InputError(f"{path} is empty; expected {EXPECTED}.")
    tests = {
        "capture": is_capture,
        "ucb": is_binary,
        "har": is_har,
        "showtrace": lambda data: bool(_SHOWTRACE.match(data)),
        "bu": is_bu,
    }
    for name, test in tests.items():
        if test(head):
            return name
    raise InputError(f"{path} begins with {head[:24]!r} and is no trace known here; expected {EXPECTED}.")


def ucb_batches_of(path: Path, progress: Progress | None = None) -> tuple[ChunkReader, Iterator[Batch]]:
    """Return the records of a UCB file in either form, and the source that collects warnings."""
    kind, source = format_of(path), ChunkReader(path, progress)
    if kind not in ("ucb", "showtrace"):
        raise InputError(f"{path} is no UCB Home IP trace; expected one, binary or text, to convert records.")
    return source, binary_batches(source) if kind == "ucb" else text_batches(source)


def read_recording(path: Path, rule: PageRule | None = None, progress: Progress | None = None) -> Recording:
    """Read a UCB, HAR or BU file.

    Parameters
    ----------
    path : the file, plain or gzipped.
    rule : how requests become pages, where the file does not say.
    progress : called with the bytes read, the file's size and its name.

    Raises
    ------
    InputError
        If the file cannot be read or understood, or no page can be made of it.
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
        odd = "".join(f" ({warning})" for warning in recording.warnings)
        raise InputError(f"{path} holds no complete request that was answered{odd}; expected {EXPECTED}.")
    return recording

"""Reading of recordings, as pages or as transfers. Their format is detected by content."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.errors import InputError
from psm_sim.common.progress import Progress
from psm_sim.workload.network_activity import Transfer
from psm_sim.workload.recordings.capture.packet_capture import is_capture
from psm_sim.workload.recordings.chunk_reader import ChunkReader
from psm_sim.workload.recordings.har import har_recording, is_har, log_entries, read_log
from psm_sim.workload.recordings.page_grouping import ClientRequests, PageRule
from psm_sim.workload.recordings.recording import Recording
from psm_sim.workload.recordings.ucb_format import Batch, binary_batches, is_binary, text_batches
from psm_sim.workload.recordings.ucb_recordings import collect as collect_ucb
from psm_sim.workload.recordings.ucb_recordings import ucb_recording

_SHOWTRACE = re.compile(rb"\s*\d+:\d+ \d+:\d+ ")
EXPECTED = (
    "a UCB Home IP trace (binary, gzipped or showtrace text), a HAR file, a capture (pcap or pcapng), "
    "a page list (.csv) or a trace profile (.toml)"
)


def format_of(path: Path) -> str:
    """Return ``"ucb"``, ``"showtrace"``, ``"har"`` or ``"capture"`` from the file's first bytes.

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
    """Read a UCB or HAR file.

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
    elif kind == "showtrace":
        recording = ucb_recording(source, text_batches(source), rule, "UCB Home IP, showtrace text")
    else:
        recording = ucb_recording(source, binary_batches(source), rule, "UCB Home IP, binary")
    if not recording.pages:
        warnings = "".join(f" ({warning})" for warning in recording.warnings)
        raise InputError(f"{path} has no complete request with a response{warnings}; expected {EXPECTED}.")
    return recording


def read_transfers(path: Path, clients: Sequence[str]) -> list[list[Transfer]]:
    """Return the transfers of each of *clients*, in the order sent.

    The file must contain all clients. A transfer lasts from the request to the last byte of its response. The
    file is read in one pass. Requests of other clients are written to temporary files to limit memory.

    Raises
    ------
    InputError
        If the file cannot be read or parsed.
    """
    if format_of(path) == "har":
        return [_har_transfers(path)]
    with ClientRequests() as requests:
        names = _collect(requests, path)
        codes = {names.index(client): index for index, client in enumerate(clients)}
        transfers: list[list[Transfer]] = [[] for _ in clients]
        for rows in requests.buckets():
            for code in np.unique(rows["client"]).tolist():
                if code in codes:
                    transfers[codes[code]] = _row_transfers(rows[rows["client"] == code])
    return transfers


def _collect(requests: ClientRequests, path: Path) -> tuple[str, ...]:
    """Add all requests of the file to *requests* and return the names of the clients, by number."""
    _, batches = ucb_batches_of(path)
    return collect_ucb(requests, batches)[0]


def _row_transfers(rows: NDArray[np.void]) -> list[Transfer]:
    start_us = rows["at_us"]
    columns = (start_us, start_us + rows["took_us"], rows["size"])
    return [Transfer(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def _har_transfers(path: Path) -> list[Transfer]:
    entries = log_entries(read_log(ChunkReader(path)), path)
    transfers = []
    for entry in sorted((e for e in entries if not e.omitted), key=lambda entry: entry.start_s):
        start_us = round(entry.start_s * 1e6)
        # Separate rounding of start and end could put the end one microsecond before the start.
        transfers.append(Transfer(start_us, max(round(entry.end_s * 1e6), start_us), entry.size))
    return transfers

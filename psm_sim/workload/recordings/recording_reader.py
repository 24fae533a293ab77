"""Reading of recordings, as pages or as transfers. Their format is detected by content."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from psm_sim.common.errors import InputError
from psm_sim.common.progress import Progress
from psm_sim.workload.network_activity import Transfer
from psm_sim.workload.recordings.capture.capture_files import is_capture
from psm_sim.workload.recordings.chunk_reader import ChunkReader
from psm_sim.workload.recordings.har import har_recording, is_har, log_entries, read_log
from psm_sim.workload.recordings.page_grouping import PageRule, Rows, group_requests
from psm_sim.workload.recordings.recording import Recording
from psm_sim.workload.recordings.ucb import is_binary, is_showtrace, read_requests

EXPECTED = (
    "a UCB Home IP trace (binary, gzipped or showtrace text), a HAR file, a capture (pcap or pcapng), "
    "a page list (.csv) or a trace profile (.toml)"
)
_DETECTORS = {"capture": is_capture, "ucb": is_binary, "har": is_har, "showtrace": is_showtrace}


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
    for name, detect in _DETECTORS.items():
        if detect(head):
            return name
    raise InputError(f"{path} has an unknown format (it begins with {head[:24]!r}); expected {EXPECTED}.")


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
    kind, source = format_of(path), ChunkReader(path, progress)
    if kind == "har":
        return har_recording(source)
    recording = group_requests(read_requests(source, is_text=kind == "showtrace"), rule or PageRule())
    if not recording.pages:
        warnings = "".join(f" ({warning})" for warning in recording.warnings)
        raise InputError(f"{path} has no complete request with a response{warnings}; expected {EXPECTED}.")
    return recording


def read_transfers(path: Path, clients: Sequence[str]) -> list[list[Transfer]]:
    """Return the transfers of each of *clients*, in the order sent.

    The file must contain all clients. A transfer lasts from the request to the last byte of its response.

    Raises
    ------
    InputError
        If the file cannot be read or parsed.
    """
    kind = format_of(path)
    if kind == "har":
        return [_har_transfers(path)]
    requests = read_requests(ChunkReader(path), is_text=kind == "showtrace")
    rows = requests.by_client()
    return [_row_transfers(rows[rows["client"] == requests.clients.index(client)]) for client in clients]


def _row_transfers(rows: Rows) -> list[Transfer]:
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

"""Transfers of a recording, per client."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from psm_sim.workload.network_activity import Transfer
from psm_sim.workload.recordings.bu_web_logs import collect as collect_bu
from psm_sim.workload.recordings.chunk_reader import ChunkReader
from psm_sim.workload.recordings.client_requests import ClientRequests
from psm_sim.workload.recordings.format_detection import format_of, ucb_batches_of
from psm_sim.workload.recordings.har import network_entries, read_log
from psm_sim.workload.recordings.ucb_recordings import collect as collect_ucb


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
    if format_of(path) == "bu":
        return collect_bu(requests, ChunkReader(path))[0]
    _, batches = ucb_batches_of(path)
    return collect_ucb(requests, batches)[0]


def _row_transfers(rows: NDArray[np.void]) -> list[Transfer]:
    start_us = rows["at_us"]
    columns = (start_us, start_us + rows["took_us"], rows["size"])
    return [Transfer(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def _har_transfers(path: Path) -> list[Transfer]:
    entries, _ = network_entries(read_log(ChunkReader(path)), path)
    transfers = []
    for entry in entries:
        start_us = round(entry.start_s * 1e6)
        # Separate rounding of start and end could put the end one microsecond before the start.
        transfers.append(Transfer(start_us, max(round(entry.end_s * 1e6), start_us), entry.size))
    return transfers

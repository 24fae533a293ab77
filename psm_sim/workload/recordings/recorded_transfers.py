"""Transfers of a recording: start, end and bytes of each recorded request, client by client."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from psm_sim.workload.network_activity import Transfer
from psm_sim.workload.recordings.bu import collect as collect_bu
from psm_sim.workload.recordings.chunk_reader import ChunkReader
from psm_sim.workload.recordings.client_requests import ClientRequests
from psm_sim.workload.recordings.format_detection import format_of, ucb_batches_of
from psm_sim.workload.recordings.har import network_entries, read_log
from psm_sim.workload.recordings.ucb import collect as collect_ucb


def read_transfers(path: Path, clients: Sequence[str]) -> list[list[Transfer]]:
    """Return the transfers of each of *clients* in the order sent, from a file that holds them all.

    A transfer lasts from the request to the last byte of its response. The file is read in one pass;
    other clients' requests go through temporary files, not through memory.

    Raises
    ------
    InputError
        If the file cannot be read or understood.
    """
    if format_of(path) == "har":
        return [_of_har(path)]
    with ClientRequests() as requests:
        names = _collect(requests, path)
        codes = {names.index(client): place for place, client in enumerate(clients)}
        found: list[list[Transfer]] = [[] for _ in clients]
        for rows in requests.buckets():
            for code in np.unique(rows["client"]).tolist():
                if code in codes:
                    found[codes[code]] = _of_rows(rows[rows["client"] == code])
    return found


def _collect(requests: ClientRequests, path: Path) -> tuple[str, ...]:
    """Read all requests of the file and return the clients' names, by number."""
    if format_of(path) == "bu":
        return collect_bu(requests, ChunkReader(path))[0]
    _, batches = ucb_batches_of(path)
    return collect_ucb(requests, batches)[0]


def _of_rows(rows: NDArray[np.void]) -> list[Transfer]:
    start_us = rows["at_us"]
    columns = (start_us, start_us + rows["took_us"], rows["size"])
    return [Transfer(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def _of_har(path: Path) -> list[Transfer]:
    entries, _ = network_entries(read_log(ChunkReader(path)), path)
    found = []
    for entry in entries:
        start_us = round(entry.start_s * 1e6)
        # Rounding start and end apart could put an end one microsecond before its start.
        found.append(Transfer(start_us, max(round(entry.end_s * 1e6), start_us), entry.size))
    return found

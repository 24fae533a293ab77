"""Requests of many clients, kept apart by client while a file is read.

A trace is ordered by time, pages are made client by client. Rows are therefore dealt into buckets by client,
each in memory while small and in a temporary file after that, so that a trace of any length can be sorted
one bucket at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psm_sim.errors import InputError
from psm_sim.limits import MAX_RECORDS

BUCKETS = 16
IN_MEMORY = 1 << 20

ROW = np.dtype(
    [
        ("client", np.int32),
        ("server", np.uint32),
        ("at_us", np.int64),
        ("took_us", np.uint32),
        ("delay_us", np.int32),
        ("size", np.uint32),
        ("secondary", np.bool_),
    ]
)
"""One request: client and server as numbers, when it was sent, how long until its last byte, the server's
delay or -1, the bytes answered, and whether its type is one that pages embed. Times in microseconds."""


class ClientRequests:
    """Requests in rows, dealt into buckets by client; a context manager, for the temporary files."""

    def __init__(self) -> None:
        self.count, self.first_us, self.last_us = 0, 0, 0
        self._buckets = [SpooledTemporaryFile(max_size=IN_MEMORY) for _ in range(BUCKETS)]  # noqa: SIM115 (closed in __exit__ or buckets)

    def __enter__(self) -> ClientRequests:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._buckets:
            file.close()

    def extend(self, **columns: Any) -> None:
        """Add requests: (n,) values for each field of :data:`ROW`."""
        rows = np.empty(len(columns["client"]), ROW)
        for name, values in columns.items():
            rows[name] = values
        if not rows.size:
            return
        first_us, last_us = int(rows["at_us"].min()), int(rows["at_us"].max())
        self.first_us = min(self.first_us, first_us) if self.count else first_us
        self.last_us = max(self.last_us, last_us) if self.count else last_us
        self.count += rows.size
        if self.count > MAX_RECORDS:
            raise InputError(f"the trace has over {MAX_RECORDS:,} requests; cut it into parts.")
        bucket = rows["client"] % BUCKETS
        for number in np.unique(bucket).tolist():
            self._buckets[number].write(rows[bucket == number].tobytes())

    def buckets(self) -> Iterator[NDArray[np.void]]:
        """Yield each bucket's rows by client and then time, equal times as in the file; and drop them."""
        while self._buckets:
            with self._buckets.pop(0) as file:
                file.seek(0)
                rows = np.frombuffer(file.read(), ROW)
            if rows.size:
                yield rows[np.lexsort((rows["at_us"], rows["client"]))]

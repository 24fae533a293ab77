"""Requests of many clients, partitioned by client in bounded memory.

A trace is ordered by time, but pages are grouped per client. Rows are therefore distributed over buckets by
client. A bucket is in memory while it is small and in a temporary file afterwards. Sorting one bucket at a
time bounds the memory for a trace of any length.
"""

from __future__ import annotations

from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_RECORDS

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
"""Request with the numbers of its client and server.

``at_us`` is the time of the request, ``took_us`` the time until the last byte, and ``delay_us`` the server
delay or -1, in microseconds. ``size`` is that of the response in bytes. ``secondary`` is whether the request
is for an embedded object.
"""


class ClientRequests:
    """Requests in buckets by client. The context manager closes the temporary files."""

    def __init__(self) -> None:
        self.count, self.first_us, self.last_us = 0, 0, 0
        self._buckets = [SpooledTemporaryFile(max_size=IN_MEMORY) for _ in range(BUCKETS)]  # noqa: SIM115 (closed in __exit__ or buckets)

    def __enter__(self) -> ClientRequests:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._buckets:
            file.close()

    def extend(self, **columns: Any) -> None:
        """Add requests. *columns* has an array of shape (n,) for each field of :data:`ROW`."""
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
            raise InputError(f"the trace has over {MAX_RECORDS:,} requests; split it into parts.")
        bucket = rows["client"] % BUCKETS
        for number in np.unique(bucket).tolist():
            self._buckets[number].write(rows[bucket == number].tobytes())

    def buckets(self) -> Iterator[NDArray[np.void]]:
        """Yield the rows of each bucket, sorted by client and time, and discard the bucket.

        Rows with equal times keep the order of the file.
        """
        while self._buckets:
            with self._buckets.pop(0) as file:
                file.seek(0)
                rows = np.frombuffer(file.read(), ROW)
            if rows.size:
                yield rows[np.lexsort((rows["at_us"], rows["client"]))]

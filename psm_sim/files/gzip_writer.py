"""Output files, gzipped if the name says so."""

from __future__ import annotations

import contextlib
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from psm_sim.files.atomic_file import atomic_write


@contextlib.contextmanager
def open_maybe_gzipped(path: Path) -> Iterator[BinaryIO]:
    """Open a file to write, gzipped if its name ends in ``.gz``; the same data give the same bytes.

    It takes its place when the block ends; if that fails, what was there stays.
    """
    with atomic_write(path) as file:
        if path.suffix.lower() == ".gz":
            # No name and no time in the header: the same data give the same bytes.
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=4) as packed:
                yield packed  # type: ignore[misc]
        else:
            yield file

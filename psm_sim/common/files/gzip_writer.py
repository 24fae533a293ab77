"""Atomic output files, gzip-compressed if the name ends in ``.gz``."""

from __future__ import annotations

import contextlib
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from psm_sim.common.files.atomic_file import atomic_write


@contextlib.contextmanager
def open_maybe_gzipped(path: Path) -> Iterator[BinaryIO]:
    """Open a file for atomic writing, gzip-compressed if its name ends in ``.gz``.

    Equal data give equal bytes. If the block fails, an existing file is unchanged.
    """
    with atomic_write(path) as file:
        if path.suffix.lower() == ".gz":
            # No name and no time in the header, so that equal data give equal bytes.
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=4) as gzipped:
                yield gzipped  # type: ignore[misc]
        else:
            yield file

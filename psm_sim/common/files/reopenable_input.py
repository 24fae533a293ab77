"""Input files that can be opened repeatedly, including pipes."""

from __future__ import annotations

import atexit
import os
import select
import stat
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

from psm_sim.common.errors import InputError

PIPE_TIMEOUT_S = 10.0
"""Seconds without data after which reading a pipe fails."""

MAX_PIPE = 4 << 30
"""Maximum number of bytes that are read from a pipe."""

_CHUNK = 1 << 16
_KERNEL_DIRS = ("/proc", "/sys")
_copies: dict[tuple[int, int], BinaryIO] = {}


def open_seekable(path: Path) -> BinaryIO:
    """Open a file for reading from its start.

    A pipe can be read only once, so its data are copied to a temporary file on the first call.

    Raises
    ------
    InputError
        If *path* is a device, a terminal, a file of /proc or /sys, or a pipe without data for
        :data:`PIPE_TIMEOUT_S` seconds.
    OSError
        If the file cannot be read.
    """
    mode = path.stat().st_mode
    if stat.S_ISFIFO(mode):
        return _reopen(_copy_of(path))
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        raise InputError(f"{path} is a device, a terminal or a socket; expected a file or a pipe.")
    if any(path.resolve().is_relative_to(folder) for folder in _KERNEL_DIRS):
        raise InputError(f"{path} is a kernel file, which may never end; expected a file or a pipe.")
    return path.open("rb")


def read_text(path: Path, max_bytes: int) -> str:
    """Return the UTF-8 text of a file; see :func:`read_bytes` for *max_bytes* and the errors."""
    return read_bytes(path, max_bytes).decode("utf-8")


def read_bytes(path: Path, max_bytes: int) -> bytes:
    """Return the content of a file of at most *max_bytes* bytes.

    Raises
    ------
    InputError
        If the file is larger, or cannot be opened with :func:`open_seekable`.
    """
    with open_seekable(path) as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise InputError(f"{path} is larger than {max_bytes >> 10:,} KiB; expected a smaller file.")
    return data


def _reopen(copy: BinaryIO) -> BinaryIO:
    file = os.fdopen(os.dup(copy.fileno()), "rb")
    file.seek(0)
    return file


def _copy_of(path: Path) -> BinaryIO:
    """Return a temporary file with the data of a pipe, which is read on the first call only."""
    status = path.stat()
    key = (status.st_dev, status.st_ino)
    if key not in _copies:
        copy: BinaryIO = TemporaryFile()  # noqa: SIM115 (open until the program ends)
        pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a blocking open() would wait for a writer
        try:
            _copy_pipe(copy, pipe, path)
        except BaseException:
            copy.close()
            raise
        finally:
            os.close(pipe)
        _copies[key] = copy
        atexit.register(copy.close)
    return _copies[key]


def _copy_pipe(copy: BinaryIO, pipe: int, path: Path) -> None:
    ready = select.poll()
    ready.register(pipe, select.POLLIN)
    while True:
        if not ready.poll(1000 * PIPE_TIMEOUT_S):
            raise InputError(
                f"pipe {path} has sent no data for {PIPE_TIMEOUT_S:g} s; expected data or end of file."
            )
        chunk = os.read(pipe, _CHUNK)
        if not chunk:
            return
        copy.write(chunk)
        copy.flush()
        if copy.tell() > MAX_PIPE:
            raise InputError(
                f"pipe {path} has sent more than {MAX_PIPE >> 30} GiB; expected a smaller trace."
            )

"""Opened file: a regular file as it is; a pipe, which can be read only once, as a copy of what it gave."""

from __future__ import annotations

import atexit
import os
import select
import stat
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

from psm_sim.errors import InputError

PIPE_TIMEOUT_S = 10.0
"""Seconds for which a pipe may be silent before it is given up."""

MAX_PIPE = 4 << 30
"""Bytes that are taken from a pipe."""

_PIECE = 1 << 16
_KERNEL = ("/proc", "/sys")
_copies: dict[tuple[int, int], BinaryIO] = {}


def open_seekable(path: Path) -> BinaryIO:
    """Open a file for reading from its beginning, which closing it does not undo for a pipe.

    Raises
    ------
    InputError
        If it is a device, a terminal or a file of /proc or /sys, or a pipe to which nobody writes for
        :data:`PIPE_TIMEOUT_S` seconds.
    OSError
        If it cannot be read.
    """
    mode = path.stat().st_mode
    if stat.S_ISFIFO(mode):
        return _again(_copy_of(path))
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        raise InputError(f"{path} is a device, a terminal or a socket; expected a file or a pipe.")
    if any(path.resolve().is_relative_to(each) for each in _KERNEL):
        raise InputError(f"{path} is a view into the kernel, which may never end; expected a file or a pipe.")
    return path.open("rb")


def read_text(path: Path, largest: int) -> str:
    """Return the UTF-8 text of a file; errors as :func:`read_bytes`, and UnicodeDecodeError."""
    return read_bytes(path, largest).decode("utf-8")


def read_bytes(path: Path, largest: int) -> bytes:
    """Return the content of a file of at most *largest* bytes; errors as :func:`open_seekable`.

    Raises
    ------
    InputError
        If it is larger.
    """
    with open_seekable(path) as file:
        data = file.read(largest + 1)
    if len(data) > largest:
        raise InputError(f"{path} is larger than {largest >> 10:,} KiB; expected a smaller file.")
    return data


def _again(copy: BinaryIO) -> BinaryIO:
    again = os.fdopen(os.dup(copy.fileno()), "rb")
    again.seek(0)
    return again


def _copy_of(path: Path) -> BinaryIO:
    """Return all that comes out of a pipe, in a file without a name; the same pipe is read once."""
    found = path.stat()
    key = (found.st_dev, found.st_ino)
    if key not in _copies:
        copy: BinaryIO = TemporaryFile()  # noqa: SIM115 (open until the program ends)
        pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # without it open() waits for somebody who writes
        try:
            _fill(copy, pipe, path)
        except BaseException:
            copy.close()
            raise
        finally:
            os.close(pipe)
        _copies[key] = copy
        atexit.register(copy.close)
    return _copies[key]


def _fill(copy: BinaryIO, pipe: int, path: Path) -> None:
    ready = select.poll()
    ready.register(pipe, select.POLLIN)
    while True:
        if not ready.poll(1000 * PIPE_TIMEOUT_S):
            raise InputError(
                f"{path} is a pipe that gave nothing for {PIPE_TIMEOUT_S:g} s; expected data or its end."
            )
        piece = os.read(pipe, _PIECE)
        if not piece:
            return
        copy.write(piece)
        copy.flush()
        if copy.tell() > MAX_PIPE:
            raise InputError(f"{path} gave over {MAX_PIPE >> 30} GiB; expected a trace.")

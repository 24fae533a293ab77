"""Atomic file writes: write to a temporary file, fsync, rename."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from psm_sim.common.errors import InputError
from psm_sim.common.files.temporary_files import temporary_path


@contextmanager
def atomic_write(path: Path, owner: str = "") -> Iterator[BinaryIO]:
    """Open a temporary file that replaces *path* when the block ends, unless the block fails.

    Symbolic links are followed. A device or a FIFO cannot be replaced and is written directly.

    Parameters
    ----------
    path : Path
        Target file; its folder must exist.
    owner : str
        Prefix of the path in error messages, such as ``"policy lpsm: state"``; empty for none.

    Raises
    ------
    InputError
        If the file cannot be written, or the disk is full.
    """
    try:
        if is_special(path):
            with path.open("wb") as file:
                yield file
            return
        target = path.resolve()
        with temporary_path(target.parent) as temporary:
            with temporary.open("wb") as file:
                yield file
            fsync_path(temporary)
            _copy_mode(temporary, target)
            temporary.replace(target)
    except OSError as error:
        raise _input_error(path, owner, f"cannot be written: {error.strerror or error}") from error


def atomic_write_text(path: Path, text: str, owner: str = "") -> None:
    """Write *text* to *path* atomically as UTF-8; see :func:`atomic_write` for *owner* and the errors."""
    with atomic_write(path, owner) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def check_writable(path: Path, owner: str = "") -> None:
    """Check that :func:`atomic_write` can write to *path*, which the errors call *owner*.

    Raises
    ------
    InputError
        If *path* is a folder or is not writable, or its folder does not exist or is not writable.
    """
    if path.is_dir():
        raise _input_error(path, owner, "is a folder")
    folder = path.resolve().parent
    if not is_special(path) and not (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
        raise _input_error(path, owner, f"cannot be written: {str(folder)!r} is not a writable folder")
    if path.exists() and not os.access(path, os.W_OK):
        raise _input_error(path, owner, "cannot be written: it is write-protected")


def is_special(path: Path) -> bool:
    """Return whether *path* is neither a regular file nor a folder, but a device, FIFO or socket."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def fsync_path(path: Path) -> None:
    """Flush a file to disk; a rename before that may leave an empty file after a power failure."""
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def _copy_mode(temporary: Path, target: Path) -> None:
    """Copy the permissions of *target*, if it exists, to *temporary*."""
    with suppress(OSError):
        temporary.chmod(stat.S_IMODE(target.stat().st_mode))


def _input_error(path: Path, owner: str, problem: str) -> InputError:
    name = f"{owner} {str(path)!r}" if owner else str(path)
    return InputError(f"{name} {problem}; choose another file.")

"""Whole file: written beside its target, flushed to the disk, and renamed when it is complete."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from psm_sim.errors import InputError
from psm_sim.files.temporary_files import temporary_path


@contextmanager
def atomic_write(path: Path, owner: str = "") -> Iterator[BinaryIO]:
    """Open a file that takes the place of *path* when the block ends; if it fails nothing is changed.

    A link is followed. A device or a FIFO, which cannot be replaced, is written to directly.

    Parameters
    ----------
    path
        The target; its folder must exist.
    owner
        What the errors call it, such as ``"policy lpsm: state"``; empty: its path alone.

    Raises
    ------
    InputError
        If it cannot be written, or the disk is full.
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
            _like(temporary, target)
            temporary.replace(target)
    except OSError as error:
        raise _refusal(path, owner, f"cannot be written: {error.strerror or error}") from error


def atomic_write_text(path: Path, text: str, owner: str = "") -> None:
    """Write *text* atomically as UTF-8; *path*, *owner* and errors as for :func:`atomic_write`."""
    with atomic_write(path, owner) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def check_writable(path: Path, owner: str = "") -> None:
    """Check that :func:`atomic_write` can write to *path*; *owner* as there.

    Raises
    ------
    InputError
        If it is a folder or is not writable, or its folder does not exist or is not writable.
    """
    if path.is_dir():
        raise _refusal(path, owner, "is a folder")
    folder = path.resolve().parent
    if not is_special(path) and not (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
        raise _refusal(path, owner, f"cannot be written: {str(folder)!r} is no folder to write in")
    if path.exists() and not os.access(path, os.W_OK):
        raise _refusal(path, owner, "cannot be written: it is write-protected")


def is_special(path: Path) -> bool:
    """Say whether *path* is neither a regular file nor a folder: a device, FIFO or socket."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def fsync_path(path: Path) -> None:
    """Wait until a file is on the disk: after a power cut a rename before that could leave an empty one."""
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def _like(temporary: Path, target: Path) -> None:
    """Give the new file the rights of the one it replaces."""
    with suppress(OSError):
        temporary.chmod(stat.S_IMODE(target.stat().st_mode))


def _refusal(path: Path, owner: str, what: str) -> InputError:
    name = f"{owner} {str(path)!r}" if owner else str(path)
    return InputError(f"{name} {what}; give another file.")

"""Drafts: files and folders under temporary names beside their targets, renamed when they are complete.

A draft is locked while its run lives. A run that is killed leaves its draft; the next run that writes beside
it sees that nobody holds the lock, and removes it.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_NAME = re.compile(r"\.psm_sim-draft-(?P<pid>\d+)-\d+")
_numbers = itertools.count(1)
_own: set[Path] = set()


@contextmanager
def temporary_path(folder: Path, *, is_folder: bool = False) -> Iterator[Path]:
    """Give the path of a new empty draft in *folder*, and remove whatever is there at the end.

    Parameters
    ----------
    folder
        An existing folder, on the file system of the target.
    is_folder
        Make a folder, not a file.

    Raises
    ------
    OSError
        If nothing can be written in *folder*.
    """
    remove_stale(folder)
    path = _new(folder, is_folder)
    _own.add(path)
    lock = _locked(path)
    try:
        yield path
    finally:
        _remove(path)
        _own.discard(path)
        if lock is not None:
            os.close(lock)


def is_temporary(name: str) -> bool:
    """Say whether a file name is that of a draft."""
    return _NAME.fullmatch(name) is not None


def remove_stale(folder: Path) -> None:
    """Remove the drafts in *folder* whose run is over."""
    for name in os.listdir(folder):  # noqa: PTH208 (names are all that is needed)
        found = _NAME.fullmatch(name)
        if found and folder / name not in _own and not _alive(int(found["pid"])):
            _remove_unless_locked(folder / name)


def _new(folder: Path, is_folder: bool) -> Path:
    while True:
        path = folder / f".psm_sim-draft-{os.getpid()}-{next(_numbers)}"
        with suppress(FileExistsError):
            path.mkdir() if is_folder else path.touch(exist_ok=False)
            return path


def _alive(pid: int) -> bool:
    """Say whether another process of this number runs; this one knows its own drafts."""
    if pid == os.getpid():
        return False
    if os.name == "nt":
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _locked(path: Path) -> int | None:
    """Return a descriptor that holds a lock on *path*, or None if that is not possible or another has it."""
    try:
        import fcntl

        opened = os.open(path, os.O_RDONLY)
    except (ImportError, OSError):  # no such locks on Windows
        return None
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(opened)
        return None
    return opened


def _remove_unless_locked(path: Path) -> None:
    # The lock decides between machines that share a file system, where a number of a process says nothing.
    lock = _locked(path)
    if lock is not None:
        _remove(path)
        os.close(lock)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)

"""Locked temporary files and folders next to their targets.

A temporary file is locked while its process runs. A killed process leaves its file behind. The next process
that writes to the same folder finds the file without a lock and removes it.
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
    """Yield the path of a new temporary file in *folder*, and remove it at the end of the block.

    Parameters
    ----------
    folder : Path
        Existing folder on the file system of the target.
    is_folder : bool
        Whether to create a folder instead of a file.

    Raises
    ------
    OSError
        If *folder* is not writable.
    """
    remove_stale(folder)
    path = _create(folder, is_folder)
    _own.add(path)
    lock = _lock(path)
    try:
        yield path
    finally:
        _remove(path)
        _own.discard(path)
        if lock is not None:
            os.close(lock)


def is_temporary(name: str) -> bool:
    """Return whether *name* is the name of a temporary file of psm_sim."""
    return _NAME.fullmatch(name) is not None


def remove_stale(folder: Path) -> None:
    """Remove the temporary files in *folder* whose process has ended."""
    for name in os.listdir(folder):  # noqa: PTH208 (only names are needed)
        match = _NAME.fullmatch(name)
        if match and folder / name not in _own and not _is_running(int(match["pid"])):
            _remove_unless_locked(folder / name)


def _create(folder: Path, is_folder: bool) -> Path:
    while True:
        path = folder / f".psm_sim-draft-{os.getpid()}-{next(_numbers)}"
        with suppress(FileExistsError):
            path.mkdir() if is_folder else path.touch(exist_ok=False)
            return path


def _is_running(pid: int) -> bool:
    """Return whether another process with this id is running."""
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


def _lock(path: Path) -> int | None:
    """Lock *path* and return the descriptor, or None if locking fails or another process has the lock."""
    try:
        import fcntl

        descriptor = os.open(path, os.O_RDONLY)
    except (ImportError, OSError):  # Windows has no fcntl
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _remove_unless_locked(path: Path) -> None:
    # On a shared file system the process may run on another machine, so only the lock is conclusive.
    lock = _lock(path)
    if lock is not None:
        _remove(path)
        os.close(lock)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)

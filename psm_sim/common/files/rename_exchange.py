"""Atomic exchange of two paths with Linux's renameat2, which Python lacks."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from pathlib import Path

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def exchange_paths(one: Path, other: Path) -> None:
    """Exchange two files or folders of one file system atomically.

    Raises
    ------
    OSError
        If the system or the file system does not support it. Nothing is then changed.
    """
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if os.name == "posix" else None
    if rename is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    sys.audit("os.rename", str(one), str(other), -1, -1)
    if rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(one), None, str(other))

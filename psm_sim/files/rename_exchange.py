"""Exchange of two names in one step, which Linux has and Python does not offer."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from pathlib import Path

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def exchange_paths(one: Path, other: Path) -> None:
    """Exchange two files or folders of one file system: at no moment is one of the names missing.

    Raises
    ------
    OSError
        If the system or the file system cannot do it; then nothing has changed.
    """
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if os.name == "posix" else None
    if rename is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    sys.audit("os.rename", str(one), str(other), -1, -1)
    if rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(one), None, str(other))

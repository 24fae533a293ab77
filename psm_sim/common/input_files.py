"""Reading of input files with a size limit, their digests, and the folders of bundled files."""

from __future__ import annotations

import hashlib
import io
import tomllib
from pathlib import Path
from typing import Any

from psm_sim.common.errors import InputError

MAX_TOML_BYTES = 1 << 20
"""Maximum size of a file in bytes; the bundled files have at most a few thousand bytes."""

PACKAGE = Path(__file__).parents[1]
"""Folder of the package."""


def bundled_dir(kind: str) -> Path:
    """Return the folder of bundled files of one kind, such as ``"topologies"`` or ``"traces"``.

    In an installed wheel the folder is inside the package. In a source tree it is next to the package.
    """
    installed = PACKAGE / kind
    return installed if installed.is_dir() else PACKAGE.parent / kind


def bundled_names(kind: str) -> list[str]:
    """Return the sorted names, without ``.toml``, of the bundled files of one *kind*."""
    return sorted(path.stem for path in bundled_dir(kind).glob("*.toml"))


def open_input(path: Path) -> io.BufferedReader:
    """Open a regular file for reading.

    A pipe is rejected, because inputs are read more than once and by several processes.

    Raises
    ------
    InputError
        If *path* is a pipe, a device, a terminal or a socket.
    OSError
        If the file cannot be read.
    """
    if path.exists() and not path.is_dir() and not path.is_file():
        raise InputError(f"{path} is a pipe or a device; expected a regular file.")
    return path.open("rb")


def unreadable(path: Path, error: OSError) -> InputError:
    """Return the error for a file that cannot be read."""
    return InputError(f"{path} cannot be read: {error.strerror or error}; specify a readable file.")


def read_text(path: Path, max_bytes: int) -> str:
    """Return the UTF-8 text of a file of at most *max_bytes* bytes.

    Editors on Windows write a byte order mark first.

    Raises
    ------
    InputError
        If the file is larger, cannot be read, or is a pipe or a device.
    """
    try:
        with open_input(path) as file:
            data = file.read(max_bytes + 1)
    except OSError as error:
        raise unreadable(path, error) from error
    if len(data) > max_bytes:
        raise InputError(f"{path} is larger than {max_bytes >> 10:,} KiB; expected a smaller file.")
    return data.decode("utf-8-sig")


def read_toml(path: Path, kind: str) -> dict[str, Any]:
    """Return the content of a TOML file; *kind*, such as ``"trace profile"``, names the file in errors.

    Raises
    ------
    InputError
        If the file cannot be read, is not TOML, or is too large.
    """
    try:
        return tomllib.loads(read_text(path, MAX_TOML_BYTES))
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not a valid {kind}: {error}; expected a TOML file.") from error


def file_digest(file: Path) -> str:
    """Return the SHA-256 digest of a file as 64 hexadecimal digits.

    Raises
    ------
    InputError
        If the file cannot be read, or is a pipe or a device.
    """
    try:
        with open_input(file) as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(file, error) from error

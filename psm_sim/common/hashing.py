"""SHA-256 digests that identify the inputs of a result."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from psm_sim.common.errors import InputError
from psm_sim.common.input_files import open_input


def digest_of(values: Any) -> str:
    """Return the SHA-256 digest of plain values as 64 hexadecimal digits.

    *values* are numbers, strings, lists and dictionaries, whose order has no effect. Any other value
    is converted with ``str()``.
    """
    text = json.dumps(values, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


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
        raise InputError(f"{file} cannot be read: {error.strerror}; specify a readable file.") from error

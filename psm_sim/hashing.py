"""Keys: one hash of everything that decides a result, so that equal work is known as such."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from psm_sim.errors import InputError


def digest_of(facts: Any) -> str:
    """Return the SHA-256 of plain values, 64 hexadecimal digits; the order of dictionaries does not count.

    *facts* are numbers, texts, lists and dictionaries; any other value counts as its text.
    """
    text = json.dumps(facts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def file_digest(file: Path) -> str:
    """Return the SHA-256 of a file's bytes, 64 hexadecimal digits.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}; give a readable file.") from error

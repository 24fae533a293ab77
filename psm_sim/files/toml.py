"""TOML files: read with bounds on size and nesting, and told in a sentence what is wrong with them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from psm_sim.errors import InputError
from psm_sim.files.reopenable_input import read_text

MAX_BYTES = 1 << 20
"""Bytes of a file; those of the package have at most some thousand."""

MAX_DEPTH = 20
"""Tables in tables."""

MAX_KEYS = 10_000
"""Keys of all tables together."""

_MAX_DOTS = 200


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """Return the content of a TOML file; *what* it is for, for the errors, such as ``"trace profile"``.

    Raises
    ------
    InputError
        If it cannot be read, is no TOML or too large, or its tables are nested too deeply.
    """
    try:
        text = read_text(path, MAX_BYTES)
        _check_dots(text, path)
        found = tomllib.loads(text)
        _check(found, path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}; give a readable file.") from error
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no {what}: {error}; expected a TOML file.") from error
    return found


def _check_dots(text: str, path: Path) -> None:
    """Refuse a key of very many parts, for which tomllib takes a time that grows with their square."""
    if any(piece.count(".") > _MAX_DOTS for piece in re.split(r"[=,\n\[\]{}]", text)):
        raise InputError(
            f"{path} is nested deeper than {MAX_DEPTH}; expected tables as in the documentation."
        )


def _check(document: dict[str, Any], path: Path) -> None:
    """Walk through the tables and lists without recursion, however deep they are."""
    left: list[tuple[Any, int]] = [(document, 0)]
    keys = 0
    while left:
        value, depth = left.pop()
        if not isinstance(value, (dict, list)):
            continue
        keys += len(value) if isinstance(value, dict) else 0
        if depth > MAX_DEPTH or keys > MAX_KEYS:
            what = f"nested deeper than {MAX_DEPTH}" if depth > MAX_DEPTH else f"more than {MAX_KEYS:,} keys"
            raise InputError(f"{path} is {what}; expected tables as in the documentation.")
        left += [(each, depth + 1) for each in (value.values() if isinstance(value, dict) else value)]

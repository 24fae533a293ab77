"""TOML files: read with bounds on size and nesting, and told in a sentence what is wrong with them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from psm_sim.errors import InputError
from psm_sim.files.opened import read_text

LARGEST = 1 << 20
"""Bytes of a file; those of the package have at most some thousand."""

DEEPEST = 20
"""Tables in tables."""

MOST_KEYS = 10_000
"""Keys of all tables together."""


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """Return the content of a TOML file; *what* it is for, for the errors, such as ``"trace profile"``.

    Raises
    ------
    InputError
        If it cannot be read, is no TOML or too large, or its tables are nested too deeply.
    """
    try:
        found = tomllib.loads(read_text(path, LARGEST))
        _check(found, path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}; give a readable file.") from error
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no {what}: {error}; expected a TOML file.") from error
    return found


def _check(document: dict[str, Any], path: Path) -> None:
    """Walk through the tables and lists without recursion, however deep they are."""
    left: list[tuple[Any, int]] = [(document, 0)]
    keys = 0
    while left:
        value, depth = left.pop()
        if not isinstance(value, (dict, list)):
            continue
        keys += len(value) if isinstance(value, dict) else 0
        if depth > DEEPEST or keys > MOST_KEYS:
            what = f"nested deeper than {DEEPEST}" if depth > DEEPEST else f"more than {MOST_KEYS:,} keys"
            raise InputError(f"{path} is {what}; expected tables as in the documentation.")
        left += [(each, depth + 1) for each in (value.values() if isinstance(value, dict) else value)]

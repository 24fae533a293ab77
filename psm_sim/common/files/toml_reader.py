"""TOML files, read with limits on size and nesting."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from psm_sim.common.errors import InputError
from psm_sim.common.files.reopenable_input import read_text

MAX_BYTES = 1 << 20
"""Maximum size of a file in bytes; the bundled files have at most some thousand."""

MAX_DEPTH = 20
"""Maximum nesting depth of tables and lists."""

MAX_KEYS = 10_000
"""Maximum number of keys of all tables."""

_MAX_DOTS = 200


def read_toml(path: Path, kind: str) -> dict[str, Any]:
    """Return the content of a TOML file; *kind*, such as ``"trace profile"``, names it in errors.

    Raises
    ------
    InputError
        If the file cannot be read, is not TOML, is too large, or is nested too deeply.
    """
    try:
        text = read_text(path, MAX_BYTES)
        _check_dots(text, path)
        document = tomllib.loads(text)
        _check_size(document, path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}; specify a readable file.") from error
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not a valid {kind}: {error}; expected a TOML file.") from error
    return document


def _check_dots(text: str, path: Path) -> None:
    """Reject keys with very many dots, for which tomllib takes quadratic time."""
    if any(part.count(".") > _MAX_DOTS for part in re.split(r"[=,\n\[\]{}]", text)):
        raise InputError(
            f"{path} is nested deeper than {MAX_DEPTH}; expected tables as in the documentation."
        )


def _check_size(document: dict[str, Any], path: Path) -> None:
    """Check depth and number of keys, without recursion so that any depth can be checked."""
    stack: list[tuple[Any, int]] = [(document, 0)]
    keys = 0
    while stack:
        value, depth = stack.pop()
        if not isinstance(value, (dict, list)):
            continue
        keys += len(value) if isinstance(value, dict) else 0
        if depth > MAX_DEPTH or keys > MAX_KEYS:
            problem = (
                f"is nested deeper than {MAX_DEPTH}"
                if depth > MAX_DEPTH
                else f"has more than {MAX_KEYS:,} keys"
            )
            raise InputError(f"{path} {problem}; expected tables as in the documentation.")
        stack += [(item, depth + 1) for item in (value.values() if isinstance(value, dict) else value)]

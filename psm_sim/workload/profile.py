"""Trace profile: the distributions of a browsing population, as a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from psm_sim.bundled import bundled, bundled_names
from psm_sim.errors import InputError
from psm_sim.texts import cut
from psm_sim.workload.quantiles import Quantiles

REQUIRED = ("think_s", "files_per_page", "request_bytes")
TABLES = (*REQUIRED, "reply_bytes", "main_bytes", "image_bytes", "server_delay_s")
TEXTS = ("name", "remark", "source")


@dataclass(frozen=True)
class Profile:
    """Profile: distributions to draw pages from.

    ``tables`` has ``think_s``, ``files_per_page`` (the main object included), ``request_bytes``, and
    either ``reply_bytes`` for all objects or ``main_bytes`` and ``image_bytes``; ``server_delay_s`` is
    optional. A file can name a bundled trace as ``base``, whose tables stand in for those it does not
    give. ``defaults`` are the profile's own defaults of the parameters, as texts.
    """

    name: str
    remark: str
    synthetic: bool
    tables: dict[str, Quantiles]
    source: str = ""
    defaults: dict[str, str] = field(default_factory=dict)


def read_profile(path: Path) -> Profile:
    """Read a trace profile.

    Raises
    ------
    InputError
        If the file is no TOML, a table is missing or unknown, or a table is no distribution; the
        message names the file and the table.
    """
    return profile_of(read_toml(path), path)


def berkeley_profile() -> Profile:
    """Return the bundled Berkeley distributions (Mah 1997), which fill the gaps of recordings."""
    return read_profile(bundled("traces") / "ucb.toml")


def profile_of(document: dict[str, Any], path: Path) -> Profile:
    """Make a profile from what a file, or a part of it, says; *document* is emptied."""
    base = _base(document.pop("base", None), path)
    defaults = document.pop("parameters", {})
    if not isinstance(defaults, dict):
        raise InputError(f"{path}: parameters is {defaults!r}; expected a table of the trace's parameters.")
    synthetic = document.pop("synthetic", True)
    texts = {key: str(document.pop(key, "")) for key in TEXTS}
    tables = base | {name: _table(name, entry, path) for name, entry in document.items()}
    _check_complete(tables, path)
    return Profile(
        texts["name"] or path.stem,
        texts["remark"] or f"synthetic pages, drawn from the distributions in {path.name}",
        bool(synthetic),
        tables,
        texts["source"],
        {key: _text(value) for key, value in defaults.items()},
    )


def _base(name: Any, path: Path) -> dict[str, Quantiles]:
    """Return the tables of the bundled trace that a profile builds on."""
    if name is None:
        return {}
    if name not in bundled_names("traces") or bundled("traces") / f"{name}.toml" == path:
        raise InputError(f"{path}: base is {name!r}; expected one of {', '.join(bundled_names('traces'))}.")
    return read_profile(bundled("traces") / f"{name}.toml").tables


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file, or raise :class:`InputError` that says why it cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}; give a readable file.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path} is no trace profile: {reason}; expected a TOML file.") from error


def _table(name: str, entry: Any, path: Path) -> Quantiles:
    owner = f"{path}: {name}"
    if name not in TABLES:
        raise InputError(f"{owner} is unknown; expected one of {', '.join((*TEXTS, *TABLES))}.")
    if not isinstance(entry, Mapping) or "quantiles" not in entry:
        raise InputError(f"{owner} is {cut(repr(entry), 60, '...')}; expected a table with 'quantiles'.")
    for pair in entry["quantiles"] if isinstance(entry["quantiles"], list) else [entry["quantiles"]]:
        if not (isinstance(pair, list) and len(pair) == 2 and all(_is_number(part) for part in pair)):
            raise InputError(
                f"{owner}: {cut(repr(pair), 60, '...')} is no point; "
                "expected [cumulative probability, value]."
            )
    points = np.array(entry["quantiles"], dtype=float).reshape(-1, 2)
    try:
        return Quantiles(points[:, 0], points[:, 1], entry.get("interpolation", "linear"))
    except InputError as error:
        raise InputError(f"{owner}: {error}") from error


def _check_complete(tables: dict[str, Quantiles], path: Path) -> None:
    missing = [name for name in REQUIRED if name not in tables]
    if "reply_bytes" not in tables:
        missing += [name for name in ("main_bytes", "image_bytes") if name not in tables]
    if missing:
        raise InputError(f"{path}: {missing[0]} is missing; expected a table of its quantiles.")
    for name in ("files_per_page", "request_bytes"):
        if tables[name].values[0] < 1:
            raise InputError(
                f"{path}: the smallest {name} is {tables[name].values[0]:g}; expected at least 1 "
                "(the main object counts as a file)."
            )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

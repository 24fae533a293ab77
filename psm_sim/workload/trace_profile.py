"""Trace profiles, which consist of distributions of think times, sizes and delays."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.common.formatting import parameter_text, truncate
from psm_sim.common.input_files import bundled_dir, bundled_names, read_toml
from psm_sim.common.input_limits import MAX_OBJECT_BYTES, MAX_TIME_S
from psm_sim.workload.distributions import QuantileDistribution

REQUIRED_KEYS = ("think_s", "files_per_page", "request_bytes")
TABLES = (*REQUIRED_KEYS, "reply_bytes", "main_bytes", "image_bytes", "server_delay_s")
MAX_BY_TABLE = {name: MAX_OBJECT_BYTES if name.endswith("bytes") else MAX_TIME_S for name in TABLES} | {
    "files_per_page": 1e5
}
"""Largest value allowed in each table."""

_MIN_LOG = 1e-9  # a nanosecond, which is below all times of a trace
TEXTS = ("name", "remark", "source")


@dataclass(frozen=True)
class TraceFile:
    """Name and origin of a trace file.

    Attributes
    ----------
    name
        Name of the trace.
    remark
        Description for users, one sentence.
    synthetic
        Whether the traffic is generated rather than recorded.
    source
        Publication or file from which the values come.
    """

    name: str
    remark: str
    synthetic: bool
    source: str


def pop_facts(document: dict[str, Any], path: Path, remark: str) -> TraceFile:
    """Remove the fields of :class:`TraceFile` from *document*, and return them.

    A missing name is replaced by the stem of *path*, and a missing remark by *remark*.

    Raises
    ------
    InputError
        If ``synthetic`` is not a boolean.
    """
    texts = {key: str(document.pop(key, "")) for key in TEXTS}
    synthetic = document.pop("synthetic", True)
    if not isinstance(synthetic, bool):
        raise InputError(f"{path}: synthetic must be true or false, got {synthetic!r}.")
    return TraceFile(texts["name"] or path.stem, texts["remark"] or remark, synthetic, texts["source"])


def pop_tables(document: dict[str, Any], key: str, noun: str, path: Path) -> dict[str, dict[str, Any]]:
    """Remove the tables ``[key.NAME]`` from *document*, the content of a trace file, and return them by name.

    Error messages call such a table a *noun*, e.g. ``"part"``.

    Raises
    ------
    InputError
        If there are none, if a value is not a table, or if a name is invalid.
    """
    tables = document.pop(key)
    if not (
        isinstance(tables, dict) and tables and all(isinstance(table, dict) for table in tables.values())
    ):
        raise InputError(f"{path}: {key} must be a table of {noun}s, one [{key}.NAME] per {noun}.")
    for name in tables:
        if not re.fullmatch(r"\w+", name):
            raise InputError(f"{path}: a {noun} name must have letters, digits and '_' only, got {name!r}.")
    return tables


@dataclass(frozen=True)
class Profile(TraceFile):
    """Distributions from which pages are sampled.

    A file can name a bundled trace as its ``base``, which supplies the tables that the file lacks.

    Attributes
    ----------
    tables
        ``think_s``, ``files_per_page`` (including the main object), ``request_bytes``, and either
        ``reply_bytes`` for all objects or ``main_bytes`` and ``image_bytes``. ``server_delay_s`` is optional.
    defaults
        Defaults that differ from those of :class:`PageSampling`, as text.
    """

    tables: dict[str, QuantileDistribution]
    defaults: dict[str, str] = field(default_factory=dict)


def read_profile(path: Path) -> Profile:
    """Read the trace profile *path*.

    Raises
    ------
    InputError
        If the file is not TOML, if a table is missing, unknown or not a distribution. The message names the
        file and the table.
    """
    return profile_of(read_toml(path, "trace profile"), path)


def berkeley_profile() -> Profile:
    """Return the published distributions (Mah 1997) from which values missing in recordings are sampled."""
    return read_profile(bundled_dir("traces") / "ucb.toml")


def profile_of(document: dict[str, Any], path: Path) -> Profile:
    """Convert *document*, the content of a trace file or of a regime, to a profile. It is emptied.

    Raises
    ------
    InputError
        If a key is unknown or a value is invalid. The message names the file.
    """
    base = _base(document.pop("base", None), path)
    defaults = document.pop("parameters", {})
    if not isinstance(defaults, dict):
        raise InputError(f"{path}: parameters must be a table of the trace's parameters, got {defaults!r}.")
    remark = f"synthetic pages, sampled from the distributions in {path.name}"
    facts = pop_facts(document, path, remark)
    tables = base | {name: _table(name, entry, path) for name, entry in document.items()}
    _check_complete(tables, path)
    return Profile(
        **vars(facts),
        tables=tables,
        defaults={key: parameter_text(value) for key, value in defaults.items()},
    )


def _base(name: Any, path: Path) -> dict[str, QuantileDistribution]:
    """Return the tables of the bundled trace *name*; empty if *name* is None."""
    if name is None:
        return {}
    if name not in bundled_names("traces") or bundled_dir("traces") / f"{name}.toml" == path:
        raise InputError(f"{path}: base must be one of {', '.join(bundled_names('traces'))}, got {name!r}.")
    return read_profile(bundled_dir("traces") / f"{name}.toml").tables


def _table(name: str, entry: Any, path: Path) -> QuantileDistribution:
    owner = f"{path}: {name}"
    if name not in TABLES:
        raise InputError(f"{path}: unknown key {name}; expected one of {', '.join((*TEXTS, *TABLES))}.")
    if not isinstance(entry, Mapping) or "quantiles" not in entry:
        raise InputError(f"{owner} must be a table with 'quantiles', got {truncate(repr(entry), 60, '...')}.")
    for pair in entry["quantiles"] if isinstance(entry["quantiles"], list) else [entry["quantiles"]]:
        if not (isinstance(pair, list) and len(pair) == 2 and all(_is_number(number) for number in pair)):
            raise InputError(
                f"{owner}: a point must be [cumulative probability, value], got "
                f"{truncate(repr(pair), 60, '...')}."
            )
    points = np.array(entry["quantiles"], dtype=float).reshape(-1, 2)
    _check_values(points[:, 1], entry, name, owner)
    try:
        return QuantileDistribution(points[:, 0], points[:, 1], entry.get("interpolation", "linear"))
    except InputError as error:
        raise InputError(f"{owner}: {error}") from error


def _check_values(values: FloatArray, entry: Mapping[str, Any], name: str, owner: str) -> None:
    """Raise InputError for a value that is out of range, or too small for log interpolation."""
    maximum = MAX_BY_TABLE[name]
    minimum = _MIN_LOG if entry.get("interpolation") == "log" else 0.0
    for value in values.tolist():
        if value > maximum or 0 < value < minimum:
            raise InputError(
                f"{owner}: a value must be at least {minimum:g} and at most {maximum:g}, got {value:g}."
            )


def _check_complete(tables: dict[str, QuantileDistribution], path: Path) -> None:
    missing = [name for name in REQUIRED_KEYS if name not in tables]
    if "reply_bytes" not in tables:
        missing += [name for name in ("main_bytes", "image_bytes") if name not in tables]
    if len({"main_bytes", "image_bytes"} & tables.keys()) == 1:
        missing = [name for name in ("main_bytes", "image_bytes") if name not in tables]
    if missing:
        raise InputError(f"{path}: missing table {missing[0]}; expected its quantiles.")
    for name in ("files_per_page", "request_bytes"):
        if tables[name].values[0] < 1:
            raise InputError(
                f"{path}: the smallest {name} must be at least 1 (the main object counts as a file), "
                f"got {tables[name].values[0]:g}."
            )


def _is_number(value: Any) -> bool:
    # Integers beyond the range of a double cannot be stored in an array.
    return isinstance(value, (int, float)) and not isinstance(value, bool) and not abs(value) >= 10**300

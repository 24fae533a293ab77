"""Reader of grid files, which describe a sweep in TOML."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from psm_sim.campaign.sweep.grid import Grid
from psm_sim.campaign.sweep.grid_axis import GridAxis
from psm_sim.common.errors import InputError, did_you_mean
from psm_sim.common.formatting import flatten
from psm_sim.common.input_files import read_toml
from psm_sim.simulation.preset import Preset, load_preset

_STRINGS, _INTEGERS, _TABLES = ("trace", "topology", "loss", "preset"), ("pages", "seed"), ("vary", "set")
_KEYS = ("policies", *_STRINGS, *_INTEGERS, *_TABLES)


def read_grid(path: Path) -> Grid:
    """Read a grid file.

    All keys are optional: ``policies`` (a list), ``trace``, ``topology``, ``loss``, ``preset``, ``pages``,
    ``seed`` and the tables ``[set]`` and ``[vary]``. The table ``[set]`` contains topology keys and their
    values. The table ``[vary]`` contains keys with a list of values, or with a string such as ``"1..20"``
    in the syntax of the command line.

    Raises
    ------
    InputError
        If the file cannot be read, is not valid TOML or is too large, or if a key or value is invalid.
    """
    document = read_toml(path, "grid")
    for key, value in document.items():
        _check_entry(key, value, path)
    fixed = {key: document[key] for key in ("trace", "topology", "loss", *_INTEGERS) if key in document}
    try:
        return Grid(
            axes=tuple(GridAxis.of(key, values) for key, values in flatten(document.get("vary", {})).items()),
            policies=tuple(document.get("policies", ())),
            settings=flatten(document.get("set", {})),
            preset=load_preset(document["preset"]) if "preset" in document else Preset(),
            **fixed,
        )
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _check_entry(key: str, value: Any, path: Path) -> None:
    """Reject unknown keys and values of a wrong type."""
    if key not in _KEYS:
        raise InputError(
            f"{path}: unknown key {key!r}; expected {', '.join(_KEYS)}.{did_you_mean(key, _KEYS)}"
        )
    expected, valid = "a string", isinstance(value, str)
    if key in _TABLES:
        expected, valid = "a table", isinstance(value, dict)
    elif key in _INTEGERS:
        expected, valid = "an integer", isinstance(value, int) and not isinstance(value, bool)
    elif key == "policies":
        expected = "a list of strings"
        valid = isinstance(value, list) and all(isinstance(policy, str) for policy in value)
    if not valid:
        raise InputError(f"{path}: {key} must be {expected}, got {value!r}.")

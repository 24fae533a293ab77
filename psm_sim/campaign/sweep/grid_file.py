"""Grid file: a sweep as TOML, in the words of the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from psm_sim.campaign.sweep.grid import Grid
from psm_sim.campaign.sweep.grid_axis import GridAxis
from psm_sim.common.errors import InputError, did_you_mean
from psm_sim.common.files.toml_reader import read_toml
from psm_sim.common.formatting import flatten
from psm_sim.simulation.preset import Preset, load_preset

_TEXTS, _NUMBERS, _TABLES = ("trace", "topology", "loss", "preset"), ("pages", "seed"), ("vary", "set")
_KEYS = ("policies", *_TEXTS, *_NUMBERS, *_TABLES)


def read_grid(path: Path) -> Grid:
    """Read a grid file.

    Its keys are ``policies`` (a list), ``trace``, ``topology``, ``loss``, ``preset``, ``pages``, ``seed``
    and the tables ``[set]`` (topology keys with a value) and ``[vary]`` (keys with a list of values or a
    text as on the command line, such as ``"1..20"``); all may be left out.

    Raises
    ------
    InputError
        If the file cannot be read, is no TOML or too large, or has a key or value that is not expected.
    """
    document = read_toml(path, "grid")
    for key, value in document.items():
        _check(key, value, path)
    given = {key: document[key] for key in ("trace", "topology", "loss", *_NUMBERS) if key in document}
    try:
        return Grid(
            axes=tuple(GridAxis.of(key, values) for key, values in flatten(document.get("vary", {})).items()),
            policies=tuple(document.get("policies", ())),
            settings=flatten(document.get("set", {})),
            preset=load_preset(document["preset"]) if "preset" in document else Preset(),
            **given,
        )
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _check(key: str, value: Any, path: Path) -> None:
    if key not in _KEYS:
        raise InputError(
            f"{path}: there is no key {key!r}; expected {', '.join(_KEYS)}.{did_you_mean(key, _KEYS)}"
        )
    wanted, right = "a text", isinstance(value, str)
    if key in _TABLES:
        wanted, right = "a table", isinstance(value, dict)
    elif key in _NUMBERS:
        wanted, right = "a whole number", isinstance(value, int) and not isinstance(value, bool)
    elif key == "policies":
        wanted = "a list of texts"
        right = isinstance(value, list) and all(isinstance(each, str) for each in value)
    if not right:
        raise InputError(f"{path}: {key} is {value!r}; expected {wanted}.")

"""Chip profiles, which set the power draw and the timing of a radio in any topology."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psm_sim.common.errors import InputError
from psm_sim.common.input_files import bundled_dir, bundled_names, read_toml
from psm_sim.common.input_limits import ascii_number
from psm_sim.common.registry import unknown_name_error
from psm_sim.network.topology import check_settings, topology_keys

_SECTIONS = ("power.", "station.")


@dataclass(frozen=True)
class ChipProfile:
    """Power and timing of one chip.

    Attributes
    ----------
    name, description, source : str
        Name of the profile, its description, and the publication or data sheet.
    values : mapping
        Topology keys and their values.
    origin : mapping
        For each key whether its value was measured, fitted to measurements, or assumed.
    driver : str
        Usual driver of the chip; empty if unknown.
    has_twt : bool
        Whether chip and driver support target wake time (TWT).
    """

    name: str
    description: str
    source: str
    values: Mapping[str, Any]
    origin: Mapping[str, str]
    driver: str = ""
    has_twt: bool = False


def profile_names() -> list[str]:
    """Return the sorted names of the bundled profiles."""
    return bundled_names("topologies/profiles")


def load_profile(name: str) -> ChipProfile:
    """Load the bundled profile *name*, or a TOML file of the same format.

    Raises
    ------
    InputError
        If the profile does not exist, has a key outside ``[power]`` and ``[station]``, or lacks ``beacon_j``,
        which would otherwise be that of the topology, 86 % of the energy of ``psm`` with a current chip.
    """
    path = _find(name)
    table = read_toml(path, "profile")
    description, source = (str(table.pop(key, "")) for key in ("description", "source"))
    origin = _table(table.pop("origin", {}), path, "origin")
    driver, has_twt = _driver(_table(table.pop("driver", {}), path, "driver"), path)
    sections = {section: _table(values, path, section) for section, values in table.items()}
    values = {
        f"{section}.{key}": value for section, table in sections.items() for key, value in table.items()
    }
    valid = [key for key in topology_keys() if key.startswith(_SECTIONS)]
    for key in values:
        if key not in valid:
            raise InputError(f"{path.name}: {unknown_name_error('profile key', key, valid)}")
    check_settings(values, path.name)
    if "power.beacon_j" not in values:
        raise InputError(
            f"{path.name}: power.beacon_j is missing; add the energy to receive a beacon, in joules."
        )
    return ChipProfile(path.stem, description, source, values, origin, driver, has_twt)


def _driver(table: Mapping[str, Any], path: Path) -> tuple[str, bool]:
    """Return name and TWT support in the table ``[driver]``, which may also state the source."""
    expected: dict[str, Any] = {"name": "", "twt": False, "source": ""}
    for key, value in table.items():
        if key not in expected:
            raise InputError(f"{path.name}: {unknown_name_error('key of [driver]', key, expected)}")
        if type(value) is not type(expected[key]):
            kind = "true or false" if key == "twt" else "a string"
            raise InputError(f"{path.name}: driver.{key} must be {kind}, got {value!r}.")
    found = {**expected, **table}
    return found["name"], found["twt"]


_MAX_MAH = 1e9


def parse_battery(text: str) -> float:
    """Return the capacity of a battery in mAh, from a *text* in mAh or Ah.

    Raises
    ------
    InputError
        If *text* is not a capacity above 0.
    """
    capacity = str(text).strip().lower()
    number, scale = capacity.removesuffix("mah"), 1.0
    if number == capacity and capacity.endswith("ah"):
        number, scale = capacity.removesuffix("ah"), 1000.0
    try:
        charge_mah = scale * float(ascii_number(number))
    except ValueError:
        charge_mah = 0.0
    if not 0 < charge_mah <= _MAX_MAH:
        raise InputError(
            f"battery must be a capacity > 0 and at most {_MAX_MAH:g} mAh, e.g. 2000mAh or 2Ah, got {text!r}."
        )
    return charge_mah


def _find(name: str) -> Path:
    if name.endswith(".toml"):
        if not Path(name).is_file():
            raise InputError(
                f"Profile file not found: {name!r}; expected a TOML file or the name of a bundled profile."
            )
        return Path(name)
    if name not in profile_names():
        for known in profile_names():
            if _letters(name) in _letters(load_profile(known).description):
                raise InputError(f"Unknown profile {name!r}; use --profile {known}.")
        raise unknown_name_error("profile", name, [*profile_names(), "FILE.toml"])
    return bundled_dir("topologies/profiles") / f"{name}.toml"


def _letters(text: str) -> str:
    """Return the letters and digits of *text*, in lower case."""
    return re.sub(r"\W|_", "", text.lower())


def _table(value: Any, path: Path, section: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{path.name}: {section} must be a table such as [power], got {value!r}.")
    return value

"""Chip profiles: what one radio draws and how long it takes to wake, laid over any topology."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psm_sim.bundled_files import bundled_dir, bundled_names
from psm_sim.errors import InputError
from psm_sim.files.toml import read_toml
from psm_sim.network.topology import topology_keys
from psm_sim.registry import unknown_name_error

_SECTIONS = ("power.", "station.")


@dataclass(frozen=True)
class ChipProfile:
    """One chip: topology keys with their values, their source, and where each number comes from.

    ``origin`` says of each key whether it was measured, fitted to measurements or assumed.
    """

    name: str
    description: str
    source: str
    values: Mapping[str, Any]
    origin: Mapping[str, str]


def profile_names() -> list[str]:
    """Return the names of the bundled profiles, sorted."""
    return bundled_names("topologies/profiles")


def load_profile(name: str) -> ChipProfile:
    """Return a bundled profile, or one from a TOML file of the same form.

    Raises
    ------
    InputError
        If there is none of that name, or it has a key outside ``[power]`` and ``[station]``.
    """
    path = _find(name)
    table = read_toml(path, "profile")
    description, source = (str(table.pop(key, "")) for key in ("description", "source"))
    origin = _table(table.pop("origin", {}), path, "origin")
    sections = {section: _table(values, path, section) for section, values in table.items()}
    values = {
        f"{section}.{key}": value for section, found in sections.items() for key, value in found.items()
    }
    known = [key for key in topology_keys() if key.startswith(_SECTIONS)]
    for key in values:
        if key not in known:
            raise InputError(f"{path.name}: {unknown_name_error('profile key', key, known)}")
    return ChipProfile(path.stem, description, source, values, origin)


def _find(name: str) -> Path:
    if name.endswith(".toml"):
        if not Path(name).is_file():
            raise InputError(f"There is no profile file {name!r}; expected a TOML file, or a bundled name.")
        return Path(name)
    if name not in profile_names():
        raise unknown_name_error("profile", name, [*profile_names(), "FILE.toml"])
    return bundled_dir("topologies/profiles") / f"{name}.toml"


def _table(value: Any, path: Path, section: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{path.name}: {section} is {value!r}; expected a table, as [power].")
    return value

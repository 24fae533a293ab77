"""Topology file: a bundled or own TOML file, what it extends, and the keys that settings override."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from psm_sim.bundled_files import bundled_dir, bundled_names
from psm_sim.errors import InputError
from psm_sim.files.toml import read_toml
from psm_sim.network.topology import SECTIONS, Topology, topology_keys
from psm_sim.network.topology_stations import members_of
from psm_sim.parameters import parameters_of
from psm_sim.registry import unknown_name_error


def load_topology(
    name: str = "three-node", settings: Mapping[str, Any] | None = None, where: str = "settings"
) -> Topology:
    """Read a bundled topology or a TOML file, and override some of its keys.

    A key that a file leaves out has the value of the topology that it ``extends``: a bundled one or another
    file, beside it if the path is relative; ``three-node`` if it names none.

    Parameters
    ----------
    name
        A bundled topology, or the path of a file that ends in ``.toml``.
    settings
        Keys to override, as ``{"links.wired.latency_ms": 80}``; values or their texts.
    where
        What the errors call the settings.

    Raises
    ------
    InputError
        If there is no such topology, files extend each other in a circle, a key is unknown, or a value is
        out of its range.
    """
    topology = _load(_find(name, Path()), ())
    if not settings:
        return topology
    _check_keys(settings, where)
    return _changed(topology, settings, where)


def overlay_settings(topology: Topology, values: Mapping[str, Any], where: str) -> Topology:
    """Return a topology with some of its keys changed; arguments and errors as :func:`load_topology`.

    Parameters
    ----------
    topology
        It is not changed itself.
    values, where
        Keys with their values, and what the errors call them.
    """
    _check_keys(values, where)
    return _changed(topology, values, where)


def topology_differences(topology: Topology) -> dict[str, Any]:
    """Return the keys whose values differ from those of the bundled topology it was made from."""
    base = load_topology(topology.base).config()
    return {key: value for key, value in topology.config().items() if value != base[key]}


def _load(path: Path, users: tuple[Path, ...]) -> Topology:
    """Read a file; *users* are the files that extend it, the first one named first."""
    if path.resolve() in users:
        names = " extends ".join(each.name for each in (*users, path))
        raise InputError(f"The topology {names}, in a circle; take one of these 'extends' out.")
    table = read_toml(path, "topology")
    description = str(table.pop("description", ""))
    base = _extended(table.pop("extends", None), path, (*users, path.resolve()))
    stations = members_of(table.pop("stations"), path.name) if "stations" in table else base.stations
    values = _flatten(table)
    _check_keys(values, path.name)
    root = path.stem if path.parent == bundled_dir("topologies") else base.base
    alone = dataclasses.replace(base, name=path.stem, description=description, base=root, stations=())
    return dataclasses.replace(_changed(alone, values, path.name), stations=stations)


def _extended(extends: Any, path: Path, users: tuple[Path, ...]) -> Topology:
    if extends is None:
        return Topology()
    if not isinstance(extends, str):
        raise InputError(
            f"{path.name}: extends is {extends!r}; expected the name of a bundled topology or a TOML file."
        )
    try:
        found = _find(extends, path.parent)
    except InputError as error:
        raise InputError(f"{path.name}: extends is {extends!r}. {error}") from None
    return _load(found, users)


def _find(name: str, folder: Path) -> Path:
    if not isinstance(name, str):
        raise InputError(f"topology is {name!r}; expected a name, a TOML file or a Topology.")
    if name.endswith(".toml"):
        if not (folder / name).is_file():
            raise InputError(f"There is no topology file {name!r}; expected a TOML file with keys as {_KEY}.")
        return folder / name
    names = bundled_names("topologies")
    if name not in names:
        raise unknown_name_error("topology", name, [*names, "FILE.toml"])
    return bundled_dir("topologies") / f"{name}.toml"


_KEY = "links.wired.latency_ms"


def _flatten(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the values by their keys; a table deeper than any section is left whole, as a value."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        deeper = isinstance(value, dict) and prefix.count(".") < 2
        flat |= _flatten(value, f"{prefix}{key}.") if deeper else {f"{prefix}{key}": value}
    return flat


def _check_keys(values: Mapping[str, Any], where: str) -> None:
    known = topology_keys()
    for key in values:
        if key not in known:
            raise InputError(f"{where}: {unknown_name_error('topology key', key, known)}")


def _changed(topology: Topology, values: Mapping[str, Any], where: str) -> Topology:
    """Return *topology* with some keys changed; their texts are read."""
    parts = {}
    for path, (attribute, cls) in SECTIONS.items():
        declared, part = parameters_of(cls), getattr(topology, attribute)
        given = {key: values[f"{path}.{key}"] for key in declared if f"{path}.{key}" in values}
        read = {key: _value(declared[key], value, f"{where}: {path}") for key, value in given.items()}
        try:
            parts[attribute] = dataclasses.replace(part, **read)
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
    return dataclasses.replace(topology, **parts)


def _value(declared: Any, value: Any, owner: str) -> Any:
    if isinstance(value, str):
        return declared.read(value, owner)
    checked = declared.check(value, owner)
    return float(checked) if isinstance(declared.default, float) else checked

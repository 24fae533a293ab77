"""Topology: all parameters of a scenario, their keys, and the files that set them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from psm_sim.common.errors import InputError, did_you_mean
from psm_sim.common.input_files import bundled_dir, bundled_names, read_toml
from psm_sim.common.parameters import Condition, Parameter, parameters_of
from psm_sim.common.registry import unknown_name_error
from psm_sim.network.topology_sections import (
    AccessPointParameters,
    BeaconParameters,
    BrowserParameters,
    FaultParameters,
    FrameLossParameters,
    LinkParameters,
    MacParameters,
    PowerParameters,
    StationParameters,
    StationSpec,
    TcpParameters,
)


@dataclass(frozen=True)
class Topology:
    """Parameters of a scenario. ``topologies/three-node.toml`` lists the sections and keys.

    ``base`` is the bundled topology from which this one was derived. Output shows the keys that differ from
    ``base``, see :func:`topology_differences`. ``stations`` are the stations that share the channel of the
    access point; empty for a single station. ``seed`` determines backoffs, losses, faults and group addressed
    frames; a run replaces it by its own seed. ``station_name`` selects the random losses of one of several
    stations; empty for a single station.

    Raises
    ------
    InputError
        If a section has the wrong class. Each section checks its own values.
    """

    name: str = "three-node"
    description: str = ""
    wireless: LinkParameters = field(default_factory=lambda: LinkParameters(5.0, 0.1))
    wired: LinkParameters = field(default_factory=LinkParameters)
    beacon: BeaconParameters = field(default_factory=BeaconParameters)
    power: PowerParameters = field(default_factory=PowerParameters)
    tcp: TcpParameters = field(default_factory=TcpParameters)
    browser: BrowserParameters = field(default_factory=BrowserParameters)
    access_point: AccessPointParameters = field(default_factory=AccessPointParameters)
    station: StationParameters = field(default_factory=StationParameters)
    faults: FaultParameters = field(default_factory=FaultParameters)
    wireless_faults: FrameLossParameters = field(default_factory=FrameLossParameters)
    wired_faults: FrameLossParameters = field(default_factory=FrameLossParameters)
    mac: MacParameters = field(default_factory=MacParameters)
    base: str = "three-node"
    stations: tuple[StationSpec, ...] = ()
    seed: int = 1
    station_name: str = ""

    def __post_init__(self) -> None:
        for attribute, cls in SECTIONS.values():
            section = getattr(self, attribute)
            if not isinstance(section, cls):
                raise InputError(f"topology: {attribute} must be {cls.__name__}(...), got {section!r}.")

    def check_stations(self) -> None:
        """Raise an error for several stations without a shared channel.

        The constructor does not check this, because ``mac.model`` may be set later.
        """
        if self.station_count > 1 and self.mac.model == "link":
            raise InputError(
                f"topology: {self.station_count} stations require a shared channel; set mac.model=dcf."
            )

    @property
    def station_count(self) -> int:
        """The number of stations, at least 1."""
        return sum(member.count for member in self.stations) or 1

    @property
    def round_trip_s(self) -> float:
        """The propagation delay from station to server and back, in seconds."""
        wireless_ms = self.wireless.latency_ms if self.mac.model == "link" else 0.0
        return 2 * (wireless_ms + self.wired.latency_ms) / 1000

    @property
    def can_fail(self) -> bool:
        """Whether faults or frame errors are enabled, or pages have a time limit.

        If true, a run reports pages that fail, and continues.
        """
        losses = self.wireless_faults.loss or self.wired_faults.loss or self.mac.has_errors
        times_s = self.faults.restart_every_s, self.browser.max_page_s
        return bool(losses) or times_s != (None, None)

    def config(self) -> dict[str, Any]:
        """Return all keys in the format of ``--set``, e.g. ``links.wired.rate_mbps``, and their values."""
        return {
            f"{path}.{name}": value
            for path, (attribute, _) in SECTIONS.items()
            for name, value in vars(getattr(self, attribute)).items()
        }


SECTIONS: dict[str, tuple[str, type]] = {
    "links.wireless": ("wireless", LinkParameters),
    "links.wired": ("wired", LinkParameters),
    "beacon": ("beacon", BeaconParameters),
    "power": ("power", PowerParameters),
    "tcp": ("tcp", TcpParameters),
    "browser": ("browser", BrowserParameters),
    "access_point": ("access_point", AccessPointParameters),
    "station": ("station", StationParameters),
    "faults": ("faults", FaultParameters),
    "faults.wireless": ("wireless_faults", FrameLossParameters),
    "faults.wired": ("wired_faults", FrameLossParameters),
    "mac": ("mac", MacParameters),
}
"""Attribute of :class:`Topology` and parameter class of each section of the TOML file."""


_SECTION_CONDITIONS = {
    "links.wireless": Condition.parse("mac.model=link"),
    "mac": Condition.parse("mac.model=dcf"),
}
"""Condition under which the parameters of a whole section have an effect."""


def conditions_of(key: str) -> list[Condition]:
    """Return the conditions, with full keys, under which a topology key has an effect."""
    path = key.rpartition(".")[0]
    own, section = parameter_of(key).requires, _SECTION_CONDITIONS.get(path)
    conditions = [] if section is None or key == "mac.model" else [section]
    return conditions if own is None else [*conditions, own.within(path)]


def check_effects(topology: Topology, keys: Iterable[str], where: str) -> None:
    """Raise an :class:`InputError` if a key has no effect because of the values of other keys.

    Parameters
    ----------
    topology
        The topology with all settings.
    keys
        Keys that the user has set. Keys from files, chips and presets are not checked.
    where
        Source of the keys, for the error message.
    """
    values = topology.config()
    for key in keys:
        for condition in conditions_of(key):
            if not condition.is_met(values):
                raise condition.error(where, key)


def parameter_of(key: str) -> Parameter:
    """Return the declaration of the parameter with a topology key."""
    path, _, name = key.rpartition(".")
    return parameters_of(SECTIONS[path][1])[name]


def unknown_key_error(key: str) -> InputError:
    """Return the error for an unknown topology key."""
    meant = did_you_mean(key, topology_keys())
    return InputError(f"Unknown topology key {key!r}; expected one of 'psm_sim list topologies'.{meant}")


def topology_keys() -> list[str]:
    """Return all keys that a topology file may contain and ``--set`` may override."""
    return [f"{path}.{name}" for path, (_, cls) in SECTIONS.items() for name in parameters_of(cls)]


def load_topology(
    name: str = "three-node",
    settings: Mapping[str, Any] | None = None,
    where: str = "settings",
    stations: Any = None,
) -> Topology:
    """Load a bundled topology or a TOML file, and override some of its keys.

    Missing keys have the values of the topology that the file ``extends``, by default ``three-node``.
    ``extends`` names a bundled topology or another file. A relative path is relative to the folder of the
    file.

    Parameters
    ----------
    name
        Name of a bundled topology, or path of a file that ends in ``.toml``.
    settings
        Keys to override, e.g. ``{"links.wired.latency_ms": 80}``. Values may be strings.
    where
        Name of *settings* in error messages, e.g. ``--set``.
    stations
        List of tables that replace the tables ``[[stations]]`` of the file; None keeps the tables of the
        file.

    Raises
    ------
    InputError
        If the topology does not exist, ``extends`` is circular, a key is unknown, or a value is out of range.
    """
    topology = _load(_find(name, Path()), ())
    if stations is not None:
        topology = dataclasses.replace(topology, stations=_members_of(stations, where))
    if settings:
        topology = overlay_settings(topology, settings, where)
    topology.check_stations()
    return topology


def topology_files(name: str) -> list[Path]:
    """Return the user's files of a valid topology: its own file, and the files that it extends."""
    files, folder = list[Path](), Path()
    while name.endswith(".toml"):
        files.append(_find(name, folder))
        name, folder = read_toml(files[-1], "topology").get("extends", ""), files[-1].parent
    return files


def overlay_settings(topology: Topology, values: Mapping[str, Any], where: str) -> Topology:
    """Return a copy of a topology with some of its keys replaced; see :func:`load_topology` for the errors.

    Parameters
    ----------
    topology
        The original topology, which is not modified.
    values, where
        Values by key, and the name of this mapping in error messages.
    """
    _check_keys(values, where)
    sections = {}
    for path, (attribute, cls) in SECTIONS.items():
        parsed = {
            key: _parse(parameter, values[f"{path}.{key}"], f"{where}: {path}")
            for key, parameter in parameters_of(cls).items()
            if f"{path}.{key}" in values
        }
        if not parsed:
            continue
        try:
            sections[attribute] = dataclasses.replace(getattr(topology, attribute), **parsed)
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
    return dataclasses.replace(topology, **sections)


def check_settings(values: Mapping[str, Any], where: str) -> None:
    """Raise an :class:`InputError` for an unknown key or a value out of its range in the file *where*."""
    _check_keys(values, where)
    for key, value in values.items():
        _parse(parameter_of(key), value, f"{where}: {key.rpartition('.')[0]}")


def topology_differences(topology: Topology) -> dict[str, Any]:
    """Return the keys and values that differ from the bundled topology ``topology.base``."""
    base = load_topology(topology.base).config()
    return {key: value for key, value in topology.config().items() if value != base[key]}


def _load(path: Path, users: tuple[Path, ...]) -> Topology:
    """Load a file, or a cached bundled one. *users* are the files that extend it, the user's file first."""
    is_bundled = path.parent == bundled_dir("topologies")
    return _load_bundled(path) if is_bundled else _load_file(path, users)


@cache
def _load_bundled(path: Path) -> Topology:
    return _load_file(path, ())


def _load_file(path: Path, users: tuple[Path, ...]) -> Topology:
    if path.resolve() in users:
        names = " extends ".join(file.name for file in (*users, path))
        raise InputError(f"topology: circular 'extends': {names}; remove one of them.")
    table = read_toml(path, "topology")
    description = str(table.pop("description", ""))
    base = _load_base(table.pop("extends", None), path, (*users, path.resolve()))
    stations = _members_of(table.pop("stations"), path.name) if "stations" in table else base.stations
    root = path.stem if path.parent == bundled_dir("topologies") else base.base
    named = dataclasses.replace(base, name=path.stem, description=description, base=root, stations=stations)
    return overlay_settings(named, flatten_keys(table), path.name)


def _load_base(extends: Any, path: Path, users: tuple[Path, ...]) -> Topology:
    if extends is None:
        return Topology()
    if not isinstance(extends, str):
        raise InputError(
            f"{path.name}: extends must be the name of a bundled topology or a TOML file, got {extends!r}."
        )
    try:
        base = _find(extends, path.parent)
    except InputError as error:
        raise InputError(f"{path.name}: extends: {error}") from None
    return _load(base, users)


def _find(name: str, folder: Path) -> Path:
    if not isinstance(name, str):
        raise InputError(f"topology must be a name, a TOML file or a Topology, got {name!r}.")
    if name.endswith(".toml"):
        if not (folder / name).is_file():
            raise InputError(
                f"Topology file not found: {name!r}; expected a TOML file with keys such as {_KEY}."
            )
        return folder / name
    names = bundled_names("topologies")
    if name not in names:
        raise unknown_name_error("topology", name, [*names, "FILE.toml"])
    return bundled_dir("topologies") / f"{name}.toml"


_KEY = "links.wired.latency_ms"


def _members_of(tables: Any, where: str) -> tuple[StationSpec, ...]:
    """Return the station groups that the tables ``[[stations]]`` of a file declare."""
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise InputError(f"{where}: stations must be declared as [[stations]] tables, got {tables!r}.")
    members = tuple(_member(table, f"{where}: stations") for table in tables)
    names = [name for member in members for name in {member.name, *member.names}]
    duplicates = sorted({name for name in names if names.count(name) > 1})
    if duplicates:
        raise InputError(f"{where}: stations: duplicate name {duplicates[0]!r}; names must be unique.")
    return members


def _member(table: Mapping[str, Any], where: str) -> StationSpec:
    valid = [field.name for field in dataclasses.fields(StationSpec)]
    for key in table:
        if key not in valid:
            raise InputError(f"{where}: {unknown_name_error('key', key, valid)}")
    if not table.get("name"):
        raise InputError(f"{where}: name must be a non-empty string, got {table.get('name')!r}.")
    for key in ("name", "policy", "trace", "profile"):
        if not isinstance(table.get(key, ""), str):
            raise InputError(f"{where}: {key} must be a string, got {table[key]!r}.")
    try:
        return StationSpec(**table)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def flatten_keys(table: Mapping[Any, Any], prefix: str = "") -> dict[str, Any]:
    """Return the values of nested tables by dotted keys. The value of a topology key can be a table."""
    flat: dict[str, Any] = {}
    for name, value in table.items():
        key = f"{prefix}{name}"
        is_section = isinstance(value, dict) and key not in topology_keys()
        flat |= flatten_keys(value, f"{key}.") if is_section else {key: value}
    return flat


def _check_keys(values: Mapping[str, Any], where: str) -> None:
    valid = topology_keys()
    for key in values:
        if key not in valid:
            raise InputError(f"{where}: {unknown_key_error(key)}")


def _parse(parameter: Any, value: Any, owner: str) -> Any:
    if isinstance(value, str):
        return parameter.read(value, owner)
    checked = parameter.check(value, owner)
    return float(checked) if isinstance(parameter.default, float) else checked

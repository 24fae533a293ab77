"""The scenario in numbers: hosts, links, beacon, power, TCP, browser, access point."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from psm_sim.bundled import bundled, bundled_names
from psm_sim.errors import InputError
from psm_sim.parameters import check_all, parameter, parameters_of
from psm_sim.registry import unknown


@dataclass(frozen=True)
class LinkParameters:
    """One hop, the same each way."""

    rate_mbps: float = parameter(10.0, "bit rate", unit="Mbit/s", above=0)
    latency_ms: float = parameter(20.0, "propagation delay", unit="ms", at_least=0)


@dataclass(frozen=True)
class BeaconParameters:
    """The access point's beacons; beacon k is sent at k times the interval."""

    interval_ms: float = parameter(100.0, "time between beacons", unit="ms", above=0)
    fire_all: bool = parameter(False, "fire an event for every beacon, also those nobody hears")


@dataclass(frozen=True)
class PowerParameters:
    """What the radio draws (thesis, section 2.5.4)."""

    awake_w: float = parameter(0.75, "power of an awake radio", unit="W", at_least=0)
    asleep_w: float = parameter(0.05, "power of a dozing radio", unit="W", at_least=0)
    beacon_j: float = parameter(0.0015, "energy to wake for one beacon and hear it", unit="J", at_least=0)


@dataclass(frozen=True)
class TcpParameters:
    """TCP of both ends; windows in segments."""

    initial_window: int = parameter(2, "congestion window after the handshake", unit="segments", at_least=1)
    segment_bytes: int = parameter(1460, "largest payload of a segment", unit="B", at_least=1)
    max_window: int = parameter(20, "receiver's window", unit="segments", at_least=1)
    header_bytes: int = parameter(40, "TCP/IP header of every segment", unit="B", at_least=1)
    delayed_ack_ms: float = parameter(
        100.0, "longest wait of an ACK; 0: an ACK per segment", unit="ms", at_least=0
    )
    initial_rto_ms: float = parameter(
        1000.0, "timeout before the first sample (RFC 6298)", unit="ms", above=0
    )
    min_rto_ms: float = parameter(1000.0, "least retransmission timeout (RFC 6298)", unit="ms", above=0)
    max_rto_ms: float = parameter(60_000.0, "largest retransmission timeout (RFC 6298)", unit="ms", above=0)


@dataclass(frozen=True)
class BrowserParameters:
    """How the browser fetches a page's objects."""

    connections: int = parameter(4, "parallel connections", at_least=1)
    persistent: bool = parameter(False, "keep a connection for further objects of the page")


@dataclass(frozen=True)
class AccessPointParameters:
    """What the access point keeps for the station."""

    buffer_frames: int = parameter(256, "frames queued for the station; more are dropped", at_least=1)
    release_on_uplink: bool = parameter(True, "hand over held frames also when the station wakes to send")


@dataclass(frozen=True)
class Topology:
    """A whole scenario; sections and keys are those of ``topologies/three-node.toml``."""

    name: str = "three-node"
    description: str = ""
    wireless: LinkParameters = field(default_factory=lambda: LinkParameters(5.0, 0.1))
    wired: LinkParameters = field(default_factory=LinkParameters)
    beacon: BeaconParameters = field(default_factory=BeaconParameters)
    power: PowerParameters = field(default_factory=PowerParameters)
    tcp: TcpParameters = field(default_factory=TcpParameters)
    browser: BrowserParameters = field(default_factory=BrowserParameters)
    access_point: AccessPointParameters = field(default_factory=AccessPointParameters)

    def config(self) -> dict[str, Any]:
        """Return every key with its value, in the form of ``--set``: ``links.wired.rate_mbps`` and so on."""
        return {
            f"{path}.{name}": value
            for path, (attribute, _) in SECTIONS.items()
            for name, value in dataclasses.asdict(getattr(self, attribute)).items()
        }


SECTIONS: dict[str, tuple[str, type]] = {
    "links.wireless": ("wireless", LinkParameters),
    "links.wired": ("wired", LinkParameters),
    "beacon": ("beacon", BeaconParameters),
    "power": ("power", PowerParameters),
    "tcp": ("tcp", TcpParameters),
    "browser": ("browser", BrowserParameters),
    "access_point": ("access_point", AccessPointParameters),
}
"""Section of the TOML file: attribute of :class:`Topology` and class of its parameters."""


def topology_keys() -> list[str]:
    """Return every key that a topology file may hold and ``--set`` may override."""
    return [f"{path}.{name}" for path, (_, cls) in SECTIONS.items() for name in parameters_of(cls)]


def load_topology(
    name: str = "three-node", settings: Mapping[str, Any] | None = None, where: str = "settings"
) -> Topology:
    """Read the topology *name*, bundled or a TOML file; override the keys in *settings* (text or values).

    *where* is what the errors call the settings.

    Raises
    ------
    InputError
        If there is no such topology, a key is unknown, or a value is out of its range.
    """
    path = _find(name)
    table = _read(path)
    description = str(table.pop("description", ""))
    values = _flatten(table)
    unusable = [key for key in values if key not in topology_keys()]
    if unusable:
        raise _unknown_key(unusable[0], str(path.name))
    topology = _build(path.stem, description, values, path.name)
    if not settings:
        return topology
    return _build(path.stem, description, topology.config() | _overrides(settings, where), where)


def _find(name: str) -> Path:
    if name.endswith(".toml"):
        if not Path(name).is_file():
            raise InputError(
                f"There is no topology file {name!r}; expected a TOML file with keys as {_EXAMPLE}."
            )
        return Path(name)
    names = bundled_names("topologies")
    if name not in names:
        raise unknown("topology", name, [*names, "FILE.toml"])
    return bundled("topologies") / f"{name}.toml"


_EXAMPLE = "links.wired.latency_ms"


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"The topology {path} is no TOML: {error}; mend the file.") from None
    except OSError as error:
        raise InputError(f"The topology {path} cannot be read: {error.strerror}.") from None


def _flatten(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in table.items():
        flat |= _flatten(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat


def _overrides(settings: Mapping[str, Any], where: str) -> dict[str, Any]:
    for key in settings:
        if key not in topology_keys():
            raise _unknown_key(key, where)
    return dict(settings)


def _unknown_key(key: str, where: str) -> InputError:
    return InputError(f"{where}: {unknown('topology key', key, topology_keys())}")


def _build(name: str, description: str, values: Mapping[str, Any], where: str) -> Topology:
    parts = {}
    for path, (attribute, cls) in SECTIONS.items():
        given = {key: values[f"{path}.{key}"] for key in parameters_of(cls) if f"{path}.{key}" in values}
        part = cls(**{key: _value(cls, key, value, f"{where}: {path}") for key, value in given.items()})
        check_all(part, f"{where}: {path}")
        parts[attribute] = part
    return Topology(name=name, description=description, **parts)


def _value(cls: type, key: str, value: Any, owner: str) -> Any:
    declared = parameters_of(cls)[key]
    if isinstance(value, str):
        return declared.read(value, owner)
    return float(value) if isinstance(declared.default, float) and type(value) is int else value

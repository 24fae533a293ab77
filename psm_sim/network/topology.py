"""Topology: all parameters of a scenario, and their keys."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from psm_sim.common.errors import InputError, did_you_mean
from psm_sim.common.parameters import Parameter, is_met, parameters_of, without_effect
from psm_sim.network.topology_sections import (
    AccessPointParameters,
    BeaconParameters,
    BrowserParameters,
    FaultParameters,
    LinkParameters,
    LossParameters,
    MacParameters,
    PowerParameters,
    StationParameters,
    StationSpec,
    TcpParameters,
)


@dataclass(frozen=True)
class Topology:
    """Parameters of a scenario. Sections and keys are those of ``topologies/three-node.toml``.

    ``base`` is the bundled topology from which this one was derived. Output shows the differences from it,
    see :func:`~psm_sim.network.topology_file.topology_differences`. ``stations`` are the stations that share
    the channel of the access point; empty for a single station.

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
    wireless_faults: LossParameters = field(default_factory=LossParameters)
    wired_faults: LossParameters = field(default_factory=LossParameters)
    mac: MacParameters = field(default_factory=MacParameters)
    base: str = "three-node"
    stations: tuple[StationSpec, ...] = ()

    def __post_init__(self) -> None:
        for attribute, cls in SECTIONS.values():
            section = getattr(self, attribute)
            if not isinstance(section, cls):
                raise InputError(f"topology: {attribute} must be {cls.__name__}(...), got {section!r}.")

    def check_stations(self) -> None:
        """Raise an error for several stations without a shared channel.

        This is not part of the construction, because settings may select the channel later.
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
        """Whether faults are enabled, or pages have a time limit."""
        limited = self.browser.max_page_s is not None
        return limited or any(faults.on for faults in (self.faults, self.wireless_faults, self.wired_faults))

    @property
    def reports_failures(self) -> bool:
        """Whether a page that cannot be loaded is reported, so that the run continues."""
        mode = self.browser.failed_pages
        return mode == "report" or (mode == "auto" and self.can_fail)

    def with_fault_seed(self, seed: int) -> Topology:
        """Return the topology with *seed* for its faults, if faults are enabled and have no seed yet."""
        if not self.can_fail or self.faults.seed is not None:
            return self
        return dataclasses.replace(self, faults=dataclasses.replace(self.faults, seed=seed))

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
    "faults.wireless": ("wireless_faults", LossParameters),
    "faults.wired": ("wired_faults", LossParameters),
    "mac": ("mac", MacParameters),
}
"""Attribute of :class:`Topology` and parameter class of each section of the TOML file."""


SECTION_SWITCHES = {"links.wireless": "mac.model=link", "mac": "mac.model=dcf"}
"""Condition under which the parameters of a whole section have an effect."""


def conditions_of(key: str) -> list[str]:
    """Return the conditions under which a topology key has an effect, with full keys."""
    path = key.rpartition(".")[0]
    own = parameter_of(key).requires
    alternatives = [
        each if "." in each.partition("=")[0] else f"{path}.{each}" for each in own.split(" or ") if each
    ]
    section = SECTION_SWITCHES.get(path, "")
    conditions = [section if key != section.partition("=")[0] else "", " or ".join(alternatives)]
    return [condition for condition in conditions if condition]


def check_effects(topology: Topology, keys: Iterable[str], where: str) -> None:
    """Raise an :class:`InputError` for a key that the rest of the topology leaves without effect.

    Parameters
    ----------
    topology
        The topology with all settings.
    keys
        Keys that the user has set. Those of files, chips and presets are not checked.
    where
        Name of the settings in the error message.
    """
    values = topology.config()
    for key in keys:
        for condition in conditions_of(key):
            if not is_met(condition, values):
                raise InputError(f"{where}: {without_effect(key, condition)}")


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

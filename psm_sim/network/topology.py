"""Topology: the scenario in numbers, and the keys that name each of them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from psm_sim.errors import InputError
from psm_sim.network.topology_device import PowerParameters, StationParameters
from psm_sim.network.topology_faults import FaultParameters, LossParameters
from psm_sim.network.topology_mac import MacParameters
from psm_sim.network.topology_sections import (
    AccessPointParameters,
    BeaconParameters,
    BrowserParameters,
    LinkParameters,
    TcpParameters,
)
from psm_sim.network.topology_stations import StationSpec
from psm_sim.parameter_values import Parameter
from psm_sim.parameters import parameters_of


@dataclass(frozen=True)
class Topology:
    """A whole scenario; sections and keys are those of ``topologies/three-node.toml``.

    ``base`` is the bundled topology that this one was made from: what differs from it tells people what it
    is (:func:`~psm_sim.network.topology_file.topology_differences`). ``stations`` are those that share the air of the
    access point; empty for one alone.

    Raises
    ------
    InputError
        If a section is not of its class; a value out of its range is refused by the section itself.
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
            part = getattr(self, attribute)
            if not isinstance(part, cls):
                raise InputError(f"topology: {attribute} is {part!r}; expected {cls.__name__}(...).")
        if self.station_count > 1 and self.mac.model == "link":
            raise InputError(
                f"topology: {self.station_count} stations have no air to share; expected mac.model=dcf."
            )

    @property
    def station_count(self) -> int:
        """The number of stations, at least 1."""
        return sum(member.count for member in self.stations) or 1

    @property
    def can_fail(self) -> bool:
        """Whether faults are switched on, or a page is given a time."""
        limited = self.browser.max_page_s is not None
        return limited or any(each.on for each in (self.faults, self.wireless_faults, self.wired_faults))

    @property
    def reports_failures(self) -> bool:
        """Whether a page that cannot be loaded is reported, and the next one asked for."""
        chosen = self.browser.failed_pages
        return chosen == "report" or (chosen == "auto" and self.can_fail)

    def with_fault_seed(self, seed: int) -> Topology:
        """Return the topology whose faults, if any are on and have no seed of their own, have this one."""
        if not self.can_fail or self.faults.seed is not None:
            return self
        return dataclasses.replace(self, faults=dataclasses.replace(self.faults, seed=seed))

    def config(self) -> dict[str, Any]:
        """Return every key with its value, in the form of ``--set``: ``links.wired.rate_mbps`` and so on."""
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
"""Section of the TOML file: attribute of :class:`Topology` and class of its parameters."""


def parameter_of(key: str) -> Parameter:
    """Return the parameter behind a key of a topology file, as declared."""
    path, _, name = key.rpartition(".")
    return parameters_of(SECTIONS[path][1])[name]


def topology_keys() -> list[str]:
    """Return every key that a topology file may hold and ``--set`` may override."""
    return [f"{path}.{name}" for path, (_, cls) in SECTIONS.items() for name in parameters_of(cls)]

"""Hop on the air: links that wait for it, a port in the access point's queue, and a radio that announces."""

from __future__ import annotations

from typing import Any

from psm_sim.network.access_point import AccessPoint
from psm_sim.network.association import Association
from psm_sim.network.beacon_reception import BeaconReception
from psm_sim.network.link import Link, LinkName
from psm_sim.network.mac.air_link import AirLink
from psm_sim.network.mac.ap_queue import MacPort
from psm_sim.network.mac.cell import Cell
from psm_sim.network.mac.faulty_station import FaultyPort, FaultyRadio
from psm_sim.network.mac.power_management import RadioContext
from psm_sim.network.mac.radio import MacRadio
from psm_sim.network.topology import Topology
from psm_sim.network.wireless_hop import WirelessHop


class MacHop(WirelessHop):
    """Hop of one of the stations in a cell.

    Parameters
    ----------
    topology
        Of this station.
    cell
        The air that it shares with other stations, if there are any.
    """

    up: AirLink
    down: AirLink

    def __init__(self, topology: Topology, cell: Cell) -> None:
        super().__init__(topology, cell.env)
        self.cell, self.number = cell, cell.stations

    def link(self, name: LinkName) -> AirLink:
        """Return the link of that name."""
        return AirLink(self.env, name, self.topology, self.hooks.frame, self.hooks.air)

    def join(self, access_point: AccessPoint, wired_up: Link) -> None:
        """Make ``port`` and ``radio``."""
        self.port = port = MacPort(self.env, self.topology.access_point, self.down, self.cell.sender)
        self.radio = MacRadio(self._enter(access_point, port), *self._ears(port))
        port.missed = self.radio.missed

    def _enter(self, access_point: AccessPoint, port: MacPort) -> RadioContext:
        """Take a port into the cell; return what its radio has to know."""
        cell, spend = self.cell, self.ledger.spend
        cell.air.late += self.hooks.air
        access_point.ports.append(port)
        cell.ports.append(port)
        return RadioContext(
            self.topology, cell.air, cell.timing, cell.beacons, port, self.up, cell.crowded, spend
        )

    def _ears(self, port: MacPort) -> tuple[Any, ...]:
        return self.env, self.doze, port, self.up, self.hooks.radio, self.hooks.beacons


class FaultyMacHop(MacHop):
    """Hop as :class:`MacHop`, on which beacons are missed, or whose access point starts anew."""

    def join(self, access_point: AccessPoint, wired_up: Link) -> None:
        """Make ``port`` and ``radio``."""
        topology = self.topology
        self.association = known = Association(self.env, None, topology.station.association_ms / 1000)
        place = self.env, topology.access_point, self.down, self.cell.sender
        self.port: FaultyPort = FaultyPort(known, *place)
        reception, ears = BeaconReception(topology.beacon, self.number), self._ears(self.port)
        self.radio: FaultyRadio = FaultyRadio(known, reception, self._enter(access_point, self.port), *ears)
        self.port.missed = self.radio.missed

    def forget(self, back_s: float) -> int:
        """Lose the association, and what is held and waits once the air is free; nothing on it is lost."""
        self.association.lose(back_s)
        self.cell.air.when_free(lambda: self.radio.emptied(self.port.empty()))
        return 0

    def report(self) -> dict[str, float]:
        """Return what has gone wrong, by name: beacons missed, associations renewed."""
        found: dict[str, float] = {}
        if self.topology.beacon.loss:
            found["beacons missed"] = self.radio.beacons_missed
        if self.topology.faults.restart_every_s is not None:
            found["associations renewed"] = self.association.renewals
        return found

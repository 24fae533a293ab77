"""Wireless hop over the DCF."""

from __future__ import annotations

from typing import Any

from psm_sim.network.access_point import AccessPoint
from psm_sim.network.link import Link, LinkName
from psm_sim.network.parts.mac.air_link import AirLink
from psm_sim.network.parts.mac.ap_queue import MacPort
from psm_sim.network.parts.mac.cell import Cell
from psm_sim.network.parts.mac.radio import MacRadio, RadioContext
from psm_sim.network.topology import Topology
from psm_sim.network.wireless_hop import WirelessHop


class MacHop(WirelessHop):
    """Wireless hop of one station in a cell.

    Parameters
    ----------
    topology
        Topology of this station.
    cell
        The cell, which other stations may share.
    """

    up: AirLink
    down: AirLink

    def __init__(self, topology: Topology, cell: Cell) -> None:
        super().__init__(topology, cell.env)
        self.cell, self.number = cell, cell.stations

    def link(self, name: LinkName) -> AirLink:
        """Return a new link of that name."""
        return AirLink(self.env, name, self.topology, self.hooks.frame, self.hooks.air)

    def join(self, access_point: AccessPoint, wired_up: Link) -> None:
        """Create ``port`` and ``radio``."""
        self.port = port = MacPort(self.env, self.topology.access_point, self.down, self.cell.sender)
        self.radio = radio = MacRadio(self._join_cell(access_point, port), *self._radio_arguments(port))
        self._connect(port, radio)

    def _join_cell(self, access_point: AccessPoint, port: MacPort) -> RadioContext:
        """Add a port to the cell, and return the environment of its radio."""
        cell = self.cell
        cell.channel.late += self.hooks.air
        access_point.ports.append(port)
        cell.ports.append(port)
        return RadioContext(
            self.topology,
            cell.channel,
            cell.beacons,
            port,
            self.up,
            cell.several_tim_bits,
            self.ledger,
        )

    def _connect(self, port: MacPort, radio: MacRadio) -> None:
        """Let the port notify the radio of downlink frames that are not received as usual."""
        port.on_dropped = radio.downlink_dropped
        port.on_unacknowledged = radio.expect_repetition
        port.on_repeated = radio.receive_repetition

    def _radio_arguments(self, port: MacPort) -> tuple[Any, ...]:
        return self.env, self.doze, port, self.up, self.hooks.radio, self.hooks.beacons

"""Wireless hop over the DCF."""

from __future__ import annotations

from psm_sim.network.link import Link, LinkName
from psm_sim.network.parts.association_timeout import Association
from psm_sim.network.parts.beacon_loss import BeaconReception
from psm_sim.network.parts.mac.air_link import AirLink
from psm_sim.network.parts.mac.ap_queue import MacPort
from psm_sim.network.parts.mac.bss import Bss
from psm_sim.network.parts.mac.frame_errors import AirBeaconReception, FrameErrors
from psm_sim.network.parts.mac.radio import MacRadio
from psm_sim.network.topology import Topology
from psm_sim.network.wireless_hop import WirelessHop


class MacHop(WirelessHop):
    """Wireless hop of one station in a BSS."""

    up: AirLink
    down: AirLink

    def __init__(self, topology: Topology, bss: Bss) -> None:
        super().__init__(topology, bss.env)
        self.bss = bss

    def link(self, name: LinkName) -> AirLink:
        """Return a new link *name*."""
        return AirLink(self.env, name, self.topology, self.hooks.frame, self.hooks.air)

    def join(self, wired_up: Link) -> None:
        """Create ``port`` and ``radio``, and add the port to the BSS."""
        topology, bss, hooks = self.topology, self.bss, self.hooks
        self.association = Association(self.env, None, topology.station.association_ms / 1000)
        arguments = self.env, topology.access_point, self.down, bss.sender, self.association
        self.port: MacPort = MacPort(*arguments)
        reception = self._reception()
        bss.channel.late += hooks.air
        bss.ports.append(self.port)
        mac = (bss, self.association, topology.mac.fetch, reception, topology.station, self.ledger)
        others = self.env, self.doze, self.port, self.up, hooks.radio, hooks.beacons
        self.radio: MacRadio = MacRadio(*mac, *others)

    def _reception(self) -> BeaconReception:
        """Return the reception of beacons, and add frame errors to both links."""
        if not self.topology.mac.has_errors:
            return BeaconReception.of(self.topology)
        self.up.errors = self.down.errors = FrameErrors(self.topology)
        return AirBeaconReception(self.topology)

    def forget(self, back_s: float) -> int:
        """Lose the association, and drop all frames at the port once the channel is free.

        The frame on the channel is not lost, so the number of lost frames is 0.
        """
        self.association.lose(back_s)
        self.bss.channel.when_free(lambda: self.radio.port_emptied(self.port.empty()))
        return 0

    def report(self) -> dict[str, float]:
        """Return the numbers of missed beacons and renewed associations, by name."""
        counts: dict[str, float] = {}
        if self.topology.beacon.loss or self.topology.mac.has_errors:
            counts["beacons missed"] = self.radio.beacons_missed
        if self.topology.faults.restart_every_s is not None:
            counts["associations renewed"] = self.association.renewals
        return counts

"""Wireless hop between one station and its access point, as a full-duplex link."""

from __future__ import annotations

from collections.abc import Sequence

from simpy import Environment

from psm_sim.beacons import Beacons
from psm_sim.network.access_point import Port
from psm_sim.network.doze import Doze
from psm_sim.network.energy_ledger import EnergyLedger
from psm_sim.network.link import Link, LinkName, Uplink
from psm_sim.network.observers import Observer, ObserverHooks
from psm_sim.network.radio import Radio
from psm_sim.network.sniffed_link import SniffedLink, SniffedUplink
from psm_sim.network.station import Station
from psm_sim.network.timers import Clock
from psm_sim.network.topology import Topology
from psm_sim.network.topology_sections import LinkParameters


class WirelessHop:
    """Wireless hop of one station, with clock, beacons, ledger, two links, port and radio.

    A world calls the methods in the order of their definition. Subclasses add features of devices and of the
    MAC.

    Attributes
    ----------
    beacons : Beacons
        Times at which the station may wake.
    up, down : Link
        The two links; set by :meth:`make_links`.
    port, radio, doze
        Port, radio and doze of the station; set by :meth:`attach`.
    """

    def __init__(self, topology: Topology, env: Environment | None = None) -> None:
        self.topology = topology
        self.env: Environment = Clock() if env is None else env
        self.beacons = Beacons(topology.beacon.interval_s)
        self.ledger = EnergyLedger(topology.power)
        self.hooks: ObserverHooks
        self.up: Link
        self.down: Link
        self.doze: Doze
        self.port: Port
        self.radio: Radio

    def observers(self) -> Sequence[Observer]:
        """Return observers that must run after the ledger and before the user's observers."""
        return ()

    def make_links(self, hooks: ObserverHooks) -> None:
        """Create the two links, which report their frames to *hooks*."""
        self.hooks = hooks
        self.up, self.down = self.link("wireless up"), self.link("wireless down")

    def link(self, name: LinkName) -> Link:
        """Create and return the link *name*."""
        return self.link_at(name, self.topology.wireless)

    def link_at(self, name: LinkName, parameters: LinkParameters) -> Link:
        """Create and return the link *name*, which reports its frames if there are sniffers."""
        hooks = self.hooks
        if hooks.air:
            return SniffedLink(self.env, name, parameters, hooks.frame, hooks.air)
        return Link(self.env, name, parameters, hooks.frame)

    def attach(self, wired_up: Link) -> None:
        """Create the port and the radio of the station."""
        # An observer of `rest` must see every decision, so plans are switched off for it.
        self.doze = Doze(self.beacons, not self.hooks.rest and not self.topology.beacon.loss)
        self.join(wired_up)
        self.port.on_buffered = self.hooks.buffered

    def join(self, wired_up: Link) -> None:
        """Create ``port`` and ``radio``."""
        hooks, up = self.hooks, self.up
        self.port = Port(self.env, self.topology.access_point, self.down)
        uplink: Link | Uplink = up
        # Frame observers and faults need an event per hop, so the two links are not fused for them.
        if not hooks.frame and not self.topology.can_fail:
            fused = SniffedUplink if hooks.air else Uplink
            uplink = fused(self.env, up, wired_up)
        self.radio = Radio(self.env, self.doze, self.port, uplink, hooks.radio, hooks.beacons)

    def start(self, station: Station) -> None:
        """Start activities of the station itself, once all parts are connected. The base class has none."""

    def forget(self, back_s: float) -> int:
        """Discard association and buffered frames. Return the number of frames on the downlink.

        The restart ends at *back_s* seconds. Only hops of topologies with restarts implement this.
        """
        raise NotImplementedError

    def report(self) -> dict[str, float]:
        """Return event counts of this hop by name. The base class has none."""
        return {}

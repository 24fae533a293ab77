"""Wireless hop: what joins one station to its access point, in the papers' model; parts have others."""

from __future__ import annotations

from collections.abc import Sequence

from simpy import Environment

from psm_sim.beacons import Beacons
from psm_sim.network.access_point import AccessPoint, Port
from psm_sim.network.clock import Clock
from psm_sim.network.doze import Doze
from psm_sim.network.link import Link, LinkName
from psm_sim.network.monitored_link import uplink_of, wireless_link
from psm_sim.network.observers import EnergyLedger, Observer, ObserverHooks
from psm_sim.network.radio import Radio
from psm_sim.network.station import Station
from psm_sim.network.topology import Topology


class WirelessHop:
    """Wireless hop of one station: its clock, beacons and ledger, two links, a port, and a radio.

    A world calls its methods in the order in which they stand here. ``beacons`` are the times at which the
    station wakes; ``up`` and ``down`` are there after :meth:`make_links`, ``port``, ``radio`` and ``doze``
    after :meth:`attach`. ``number`` is the station's place at its access point, from 0.

    Parameters
    ----------
    topology
        The scenario in numbers.
    env
        The clock; ``None``: a new one.
    """

    number = 0

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
        """Return who else is told of energy, after the ledger."""
        return ()

    def make_links(self, hooks: ObserverHooks) -> None:
        """Make the two links, whose frames *hooks* tell of."""
        self.hooks = hooks
        self.up, self.down = self.link("wireless up"), self.link("wireless down")

    def link(self, name: LinkName) -> Link:
        """Return the link of that name."""
        return wireless_link(self.env, name, self.topology.wireless, self.hooks.frame, self.hooks.air)

    def attach(self, access_point: AccessPoint, wired_up: Link) -> None:
        """Make the port and the radio of the station.

        Parameters
        ----------
        access_point
            Takes the port.
        wired_up
            The link onto which the access point puts what the station sends.
        """
        # Who is told of every question to the policy hears none of a plan's beacons, so none is followed.
        self.doze = Doze(self.beacons, not self.hooks.rest and not self.topology.beacon.loss)
        self.join(access_point, wired_up)
        self.port.on_buffered = self.hooks.buffered

    def join(self, access_point: AccessPoint, wired_up: Link) -> None:
        """Make ``port`` and ``radio``; arguments as for :meth:`attach`."""
        hooks, both = self.hooks, self.up
        self.port = access_point.associate(self.down)
        # Who is told of each frame is told when it is queued on the second link, which takes an event.
        uplink = both if hooks.frame or self.topology.can_fail else uplink_of(self.env, both, wired_up)
        self.radio = Radio(self.env, self.doze, self.port, uplink, hooks.radio, hooks.beacons)

    def start(self, station: Station) -> None:
        """Begin what the station does by itself, once all is joined; nothing here."""

    def report(self) -> dict[str, float]:
        """Return what can go wrong on this hop, by name; nothing here."""
        return {}

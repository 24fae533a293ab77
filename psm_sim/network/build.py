"""Building of worlds: the only module that knows the optional parts, and imports those switched on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from psm_sim.errors import InputError
from psm_sim.network.clock import Clock
from psm_sim.network.end_systems import EndSystems
from psm_sim.network.observers import Observer
from psm_sim.network.topology import Topology
from psm_sim.network.topology_device import StationParameters
from psm_sim.network.wireless_hop import WirelessHop
from psm_sim.network.world import Parts, World
from psm_sim.policies import Policy
from psm_sim.policies.service_period import ServicePeriod

if TYPE_CHECKING:
    from psm_sim.network.mac.cell import Cell


def build_world(
    topology: Topology, policy: Policy, observers: Sequence[Observer] = (), cell: Cell | None = None
) -> World:
    """Return a world with the parts that its topology and its policy switch on.

    Parameters
    ----------
    topology, policy, observers
        As for :class:`~psm_sim.network.world.World`.
    cell
        Where other stations are, whose clock and air it shares; ``None``: it is alone.

    Raises
    ------
    InputError
        If parts do not go together.
    """
    world = World(topology, policy, observers, parts_for(topology, policy, cell))
    if topology.beacon.fire_all:
        from psm_sim.network.beacon_events import schedule_every_beacon

        schedule_every_beacon(world.env, world.beacons, world.radio)
    return world


def cell_of(topology: Topology) -> Cell | None:
    """Return a cell for the stations of a topology; ``None`` where the only one has a link of its own."""
    return _new_cell(topology) if topology.mac.model == "dcf" else None


def parts_for(topology: Topology, policy: Policy, cell: Cell | None = None) -> Parts:
    """Return the parts for one world; arguments as for :func:`build_world`."""
    hop = hop_for(topology, policy, cell)
    if not (topology.can_fail or topology.reports_failures):
        return Parts(hop, EndSystems(hop.env, topology))
    from psm_sim.network.faults.faults import Faults

    return Parts(hop, Faults(hop.env, topology, hop.number))


def hop_for(topology: Topology, policy: Policy, cell: Cell | None = None) -> WirelessHop:
    """Return the hop for one station; arguments as for :func:`build_world`."""
    service = policy.service if isinstance(policy.service, ServicePeriod) else None
    if topology.mac.model == "dcf":
        return _hop_on_air(topology, service, cell)
    if service is None and is_plain(topology):
        return WirelessHop(topology)
    from psm_sim.network.device.device_hop import DeviceHop

    return DeviceHop(topology, service)


def _hop_on_air(topology: Topology, service: ServicePeriod | None, cell: Cell | None) -> WirelessHop:
    from psm_sim.network.mac.mac_hop import FaultyMacHop, MacHop

    if service is not None:
        raise InputError(
            "mac: model is dcf, and the policy has service periods; expected a policy without, or"
            " mac.model=link."
        )
    faulty = topology.beacon.loss > 0 or topology.faults.restart_every_s is not None
    return (FaultyMacHop if faulty else MacHop)(topology, cell or _new_cell(topology))


def is_plain(topology: Topology) -> bool:
    """Say whether nothing of a station on a link goes beyond the papers' model."""
    access_point, power = topology.access_point, topology.power
    off = (topology.beacon.loss, access_point.group_per_s, power.wake_j) == (0, 0, 0)
    given = (access_point.ageing_s, access_point.idle_limit_s, power.transmit_w)
    none = (*given, topology.faults.restart_every_s) == (None, None, None, None)
    return off and none and topology.station == StationParameters()


def _new_cell(topology: Topology) -> Cell:
    from psm_sim.network.mac.cell import Cell

    return Cell(Clock(), topology)

"""Construction of worlds. An optional part is imported only if a world uses it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from psm_sim.common.errors import InputError
from psm_sim.network.end_systems import EndSystems
from psm_sim.network.observers import Observer
from psm_sim.network.timers import Clock
from psm_sim.network.topology import Topology
from psm_sim.network.topology_sections import StationParameters
from psm_sim.network.wireless_hop import WirelessHop
from psm_sim.network.world import World
from psm_sim.policies import Policy
from psm_sim.policies.base import ServicePeriod

if TYPE_CHECKING:
    from psm_sim.network.parts.mac.bss import Bss


def build_world(
    topology: Topology, policy: Policy, observers: Sequence[Observer] = (), bss: Bss | None = None
) -> World:
    """Return a simulated world, with the optional parts that the topology and the policy use.

    Parameters
    ----------
    topology, policy, observers
        See :class:`~psm_sim.network.world.World`.
    bss : Bss or None
        BSS that the station shares with others; None for a single station.

    Raises
    ------
    InputError
        If the topology does not support the policy, e.g. service periods with the DCF.
    """
    hop = _make_hop(topology, policy, bss or bss_of(topology))
    return World(topology, policy, observers, hop, _make_end_systems(topology, hop))


def bss_of(topology: Topology) -> Bss | None:
    """Return a BSS for the stations of a topology, or None if it models no shared channel."""
    if topology.mac.model != "dcf":
        return None
    from psm_sim.network.parts.mac.bss import Bss

    return Bss(Clock(), topology)


def _make_hop(topology: Topology, policy: Policy, bss: Bss | None) -> WirelessHop:
    service = policy.service if isinstance(policy.service, ServicePeriod) else None
    if bss is not None:
        if service is not None:
            raise InputError(
                "mac.model=dcf conflicts with a policy that has service periods; set mac.model=link or"
                " choose another policy."
            )
        from psm_sim.network.parts.mac.wireless_hop import MacHop

        return MacHop(topology, bss)
    if service is None and is_plain(topology):
        return WirelessHop(topology)
    from psm_sim.network.parts.device.wireless_hop import DeviceHop

    return DeviceHop(topology, service)


def _make_end_systems(topology: Topology, hop: WirelessHop) -> EndSystems:
    if not topology.can_fail:
        return EndSystems(hop.env, topology)
    from psm_sim.network.parts.faults.fault_injection import Faults

    return Faults(hop.env, topology)


def is_plain(topology: Topology) -> bool:
    """Return whether a topology uses no feature of real devices. The MAC model is not checked."""
    access_point, power = topology.access_point, topology.power
    beacon = topology.beacon
    all_zero = (beacon.loss, beacon.busy_air, access_point.group_per_s, power.wake_j) == (0, 0, 0, 0)
    optional = (access_point.ageing_s, access_point.idle_limit_s, power.transmit_w)
    all_none = (*optional, topology.faults.restart_every_s) == (None, None, None, None)
    return all_zero and all_none and topology.station == StationParameters()

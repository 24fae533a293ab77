"""Agreed periods: what a policy's service periods change in the grid and the ledger of a station."""

from __future__ import annotations

from dataclasses import replace

from psm_sim.beacons import Beacons
from psm_sim.errors import InputError
from psm_sim.network.association import NULL_BYTES
from psm_sim.network.observers import EnergyLedger
from psm_sim.network.topology import Topology
from psm_sim.policies.service_period import ServicePeriod


def check_service_period(topology: Topology, service: ServicePeriod | None) -> None:
    """Refuse service periods into which a full frame does not fit."""
    tcp, hop = topology.tcp, topology.wireless
    air_s = 8e-6 * (tcp.segment_bytes + tcp.header_bytes + NULL_BYTES) / hop.rate_mbps
    if service is not None and air_s > service.duration_s:
        raise InputError(
            f"policy: a service period lasts {service.duration_s:g} s, but a full frame takes {air_s:g} s;"
            " expected longer periods, a faster links.wireless or a smaller tcp.segment_bytes."
        )


def wake_grid(topology: Topology, service: ServicePeriod | None) -> Beacons:
    """Return the times at which the station wakes: agreed periods, else the access point's beacons."""
    agreed_s = None if service is None else service.interval_s
    return Beacons(topology.beacon.interval_s if agreed_s is None else agreed_s)


def make_ledger(topology: Topology, service: ServicePeriod | None) -> EnergyLedger:
    """Return the ledger; an agreed period costs its overhead awake where a beacon costs its energy."""
    power = topology.power
    if service is None or service.interval_s is None:
        return EnergyLedger(power)
    return EnergyLedger(replace(power, beacon_j=service.overhead_s * power.awake_w))

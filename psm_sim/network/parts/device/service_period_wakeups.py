"""Wake-up times and energy ledger of stations with service periods."""

from __future__ import annotations

from dataclasses import replace

from psm_sim.beacons import Beacons
from psm_sim.common.errors import InputError
from psm_sim.network.energy_ledger import EnergyLedger
from psm_sim.network.parts.association import NULL_BYTES
from psm_sim.network.topology import Topology
from psm_sim.policies.service_period_rules import ServicePeriod


def check_service_period(topology: Topology, service: ServicePeriod | None) -> None:
    """Raise an error if the service periods are too short for a full frame."""
    tcp, hop = topology.tcp, topology.wireless
    air_s = 8e-6 * (tcp.segment_bytes + tcp.header_bytes + NULL_BYTES) / hop.rate_mbps
    if service is not None and air_s > service.duration_s:
        raise InputError(
            f"policy: service periods must be at least as long as a full frame ({air_s:g} s), got"
            f" {service.duration_s:g} s; increase their duration or links.wireless.rate_mbps, or reduce"
            " tcp.segment_bytes."
        )


def wake_grid(topology: Topology, service: ServicePeriod | None) -> Beacons:
    """Return the wake-up times: the service periods of a TWT agreement, else the beacons."""
    agreed_s = None if service is None else service.interval_s
    return Beacons(topology.beacon.interval_s if agreed_s is None else agreed_s)


def make_ledger(topology: Topology, service: ServicePeriod | None) -> EnergyLedger:
    """Return the energy ledger. With TWT each period is charged its overhead instead of a beacon."""
    power = topology.power
    if service is None or service.interval_s is None:
        return EnergyLedger(power)
    return EnergyLedger(replace(power, beacon_j=service.overhead_s * power.awake_w))

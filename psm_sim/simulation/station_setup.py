"""Seats of a topology: what each of its stations loads, under which policy, and with which chip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from psm_sim.component_spec import Spec
from psm_sim.network import Topology
from psm_sim.network.chip_profiles import load_profile
from psm_sim.network.topology_file import overlay_settings
from psm_sim.network.topology_stations import StationSpec
from psm_sim.simulation.scenario import Scenario
from psm_sim.workload import Workload


class StationSetup(NamedTuple):
    """Seat of one station: its name, its topology, its own policy if it has one, and what it loads."""

    name: str
    resolved_topology: Topology
    policy: Spec | None
    workload: Workload


def station_setups(scenario: Scenario, topology: Topology) -> list[StationSetup]:
    """Return a seat for each station of a topology, in order; errors as of a run."""
    seats: list[StationSetup] = []
    alone = replace(topology, stations=())
    for member in topology.stations:
        values = load_profile(member.profile).values if member.profile else {}
        own = overlay_settings(alone, values, f"profile {member.profile}")
        for number, name in enumerate(member.names):
            seed = scenario.seed + len(seats) if member.seed is None else member.seed + number
            policy = None if member.policy is None else Spec.of(member.policy, "policy")
            seats.append(StationSetup(name, own, policy, _workload(scenario, member, seed)))
    return seats


def _workload(scenario: Scenario, member: StationSpec, seed: int) -> Workload:
    trace, pages = member.trace or scenario.trace, member.pages or scenario.pages
    return replace(scenario, trace=trace, pages=pages, seed=seed).workload()


def describe_setups(seats: Sequence[StationSetup]) -> Workload:
    """Return the first station's workload, its remark about all of them."""
    names = ", ".join(dict.fromkeys(seat.workload.name for seat in seats))
    remark = f"{len(seats)} stations on one access point load {names}; values are means over stations"
    return replace(seats[0].workload, remark=remark)

"""Configuration of each station of a topology: name, chip, policy and workload."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from psm_sim.common.component_spec import Spec
from psm_sim.network import Topology
from psm_sim.network.chip_profiles import load_profile
from psm_sim.network.topology_file import overlay_settings
from psm_sim.network.topology_sections import StationSpec
from psm_sim.simulation.scenario import Scenario
from psm_sim.workload import Workload


class StationSetup(NamedTuple):
    """Configuration of one station.

    Attributes
    ----------
    name : str
        Name of the station.
    resolved_topology : Topology
        Topology with the chip of the station.
    policy : Spec or None
        Policy of the station; None uses the simulated policy.
    workload : Workload
        Pages and messages of the station.
    """

    name: str
    resolved_topology: Topology
    policy: Spec | None
    workload: Workload


def station_setups(scenario: Scenario, topology: Topology) -> list[StationSetup]:
    """Return the setup of each station of a topology, in order. Errors are as for a run."""
    setups: list[StationSetup] = []
    common = replace(topology, stations=())
    for spec in topology.stations:
        values = load_profile(spec.profile).values if spec.profile else {}
        own_topology = overlay_settings(common, values, f"profile {spec.profile}")
        for number, name in enumerate(spec.names):
            seed = scenario.seed + len(setups) if spec.seed is None else spec.seed + number
            policy = None if spec.policy is None else Spec.of(spec.policy, "policy")
            setups.append(StationSetup(name, own_topology, policy, _workload(scenario, spec, seed)))
    return setups


def _workload(scenario: Scenario, spec: StationSpec, seed: int) -> Workload:
    trace, pages = spec.trace or scenario.trace, spec.pages or scenario.pages
    return replace(scenario, trace=trace, pages=pages, seed=seed).workload()


def describe_setups(setups: Sequence[StationSetup]) -> Workload:
    """Return the workload of the first station with a remark about all stations."""
    names = ", ".join(dict.fromkeys(setup.workload.name for setup in setups))
    remark = (
        f"{len(setups)} stations on one access point load {names}; all values are means over the stations"
    )
    return replace(setups[0].workload, remark=remark)

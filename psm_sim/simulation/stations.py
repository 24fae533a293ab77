"""Stations of a run: the topology, policy and pages of each one.

The topology defines the stations (``[[stations]]``). Each of these tables describes one kind of station, with
its own pages, policy and chip. A station without a policy, trace or number of pages uses those of the
scenario.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.common.random_streams import random_stream
from psm_sim.network import Topology
from psm_sim.network.chip_profiles import load_profile
from psm_sim.network.topology import overlay_settings
from psm_sim.network.topology_sections import StationSpec
from psm_sim.simulation.scenario import Scenario
from psm_sim.workload import Workload


class StationSetup(NamedTuple):
    """Configuration of one station.

    Attributes
    ----------
    name : str
        Name of the station; empty if it is the only one.
    kind : str
        Name of its ``[[stations]]`` table; empty without such tables.
    resolved_topology : Topology
        Topology with the chip of the station.
    policy : Spec or None
        Policy of the station; None uses the simulated policy.
    workload : Workload
        Pages and messages of the station.
    """

    name: str
    kind: str
    resolved_topology: Topology
    policy: Spec | None
    workload: Workload


@dataclass(frozen=True)
class Task:
    """Runs of one seed or client.

    Attributes
    ----------
    scenario : Scenario
        The scenario with this seed, or with the workload of this client.
    resolved_topology : Topology
        Its topology.
    client : str
        Name of the client; empty if there is only one.
    """

    scenario: Scenario
    resolved_topology: Topology
    client: str = ""

    @cached_property
    def stations(self) -> list[StationSetup]:
        """The stations of the topology, at least one."""
        return station_setups(self.scenario, self.resolved_topology)

    @property
    def workload(self) -> Workload:
        """The workload of the first station."""
        return self.stations[0].workload


def station_setups(scenario: Scenario, topology: Topology) -> list[StationSetup]:
    """Return the setup of each station of a topology, in order. Errors are as for a run.

    Without ``[[stations]]`` tables, there is one station with the values of the scenario.

    A single station has the seed of the run. Each of several has pages and losses of its own, which depend on
    the seed of the run and on its name, so that other stations do not change them.
    """
    if not topology.stations:
        return [StationSetup("", "", topology, None, scenario.workload())]
    setups: list[StationSetup] = []
    for spec in topology.stations:
        try:
            setups += _group_setups(spec, scenario, topology)
        except InputError as error:
            raise InputError(f"topology {topology.name}: station {spec.name}: {error}") from None
    return setups


def _group_setups(spec: StationSpec, scenario: Scenario, topology: Topology) -> Iterator[StationSetup]:
    """Yield the setup of each station of a group."""
    values = load_profile(spec.profile).values if spec.profile else {}
    own_topology = overlay_settings(replace(topology, stations=()), values, f"profile {spec.profile}")
    policy = None if spec.policy is None else Spec.of(spec.policy, "policy")
    for number, name in enumerate(spec.names):
        if spec.seed is not None:
            seed = spec.seed + number
        elif topology.station_count == 1:
            seed = scenario.seed
        else:
            seed = int(random_stream(scenario.seed, f"stations.{name}").integers(2**32))
        named = replace(own_topology, station_name=name if topology.station_count > 1 else "")
        yield StationSetup(name, spec.name, named, policy, _workload(scenario, spec, seed))


def _workload(scenario: Scenario, spec: StationSpec, seed: int) -> Workload:
    trace, pages = spec.trace or scenario.trace, spec.pages or scenario.pages
    return replace(scenario, trace=trace, pages=pages, seed=seed).workload()


def describe_tasks(tasks: Sequence[Task]) -> Workload:
    """Return the workload of the first task, with a remark about all its stations or about all clients."""
    first = tasks[0]
    if first.resolved_topology.stations:
        return describe_setups(first.stations, first.resolved_topology)
    workload = first.workload
    if len(tasks) == 1 or not first.client:
        return workload
    remark = (
        f"{len(tasks)} clients of the recording, each simulated independently; all values are means over"
        " the clients"
    )
    return replace(workload, client="", remark="; ".join((remark, *workload.notes)))


def describe_setups(setups: Sequence[StationSetup], topology: Topology) -> Workload:
    """Return the workload of the first station, with a remark about all stations."""
    kinds = [list(group) for _, group in groupby(setups, lambda setup: setup.kind)]
    remark = (
        f"{len(setups)} station{'s' if len(setups) > 1 else ''} on one access point: "
        f"{'; '.join(map(_describe_kind, kinds))}. Each row is a mean over the stations of its name. They"
        " share a channel, so intervals require several seeds"
    )
    return replace(setups[0].workload, name=topology.name, remark=remark)


def _describe_kind(setups: Sequence[StationSetup]) -> str:
    """Return name, number, trace and own policy of the stations of one kind."""
    first = setups[0]
    policy = f" and policy {first.policy}" if first.policy else ""
    return f"{len(setups)} x {first.kind} with trace {first.workload.name}{policy}"

"""Simulation of a policy on one or several stations.

Each ``[[stations]]`` table of the topology defines stations of one kind, with their own pages, policy and
chip. A table without ``trace`` or ``pages`` uses those of the scenario, and a table without ``policy`` uses
the simulated policy.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError, PluginError
from psm_sim.common.random_streams import random_stream
from psm_sim.common.summary_stats import Summary
from psm_sim.network import Observer, Topology, World, build_world
from psm_sim.network.background_messages import BackgroundMessages
from psm_sim.network.build import bss_of
from psm_sim.network.chip_profiles import load_profile
from psm_sim.network.page_outcomes import PageError
from psm_sim.network.topology import overlay_settings
from psm_sim.network.topology_sections import StationSpec
from psm_sim.network.world import WorldGroup
from psm_sim.policies import Policy
from psm_sim.policies.factory import PolicyLike, label_of, spec_text
from psm_sim.policies.user_policy_guard import guard_policy, unwrap_policy
from psm_sim.simulation.scenario import Scenario
from psm_sim.simulation.table import Block, Row
from psm_sim.workload import Workload

if TYPE_CHECKING:
    from psm_sim.network.parts.mac.bss import Bss

Times = NDArray[np.float64]
"""Time of each page in seconds, nan for failed pages."""


class StationSetup(NamedTuple):
    """Configuration of one station.

    Attributes
    ----------
    resolved_topology : Topology
        Topology with the chip of the station.
    workload : Workload
        Pages and messages of the station.
    name : str
        Name of the station; empty if it is the only one.
    kind : str
        Name of the ``[[stations]]`` table that defines the station; empty without such tables.
    policy : Spec or None
        Policy of the station; None uses the simulated policy.
    """

    resolved_topology: Topology
    workload: Workload
    name: str = ""
    kind: str = ""
    policy: Spec | None = None


@dataclass(frozen=True)
class Task:
    """Runs of one seed or client.

    Attributes
    ----------
    scenario : Scenario
        The scenario with this seed, or with the workload of this client.
    resolved_topology : Topology
        Topology of the scenario.
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
    """Return the setup of each station of a topology, in order.

    Without ``[[stations]]`` tables, there is one station with the values of the scenario.

    A single station has the seed of the scenario. With several stations, the seed of a station is derived
    from the scenario's seed and the station's name, so an added station changes no other station's pages.
    ``seed`` in a ``[[stations]]`` table overrides these seeds.
    """
    if not topology.stations:
        return [StationSetup(topology, scenario.workload())]
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
        yield StationSetup(named, _workload(scenario, spec, seed), name, spec.name, policy)


def _workload(scenario: Scenario, spec: StationSpec, seed: int) -> Workload:
    trace, pages = spec.trace or scenario.trace, spec.pages or scenario.pages
    return replace(scenario, trace=trace, pages=pages, seed=seed).workload()


@dataclass(frozen=True)
class Run:
    """Policy and simulated network of a station, before the simulation starts.

    Attributes
    ----------
    policy : Policy
        The policy instance of this run.
    parameters : dict
        Parameters of the policy, as plain values.
    world : World
        The simulated network.
    """

    policy: Policy
    parameters: dict[str, Any]
    world: World


def prepare(
    policy_spec: PolicyLike, topology: Topology, observers: Sequence[Observer] = (), bss: Bss | None = None
) -> Run:
    """Build a world for a policy, and initialise the policy.

    *policy_spec* may be a spec, a class or an instance, which is copied. *topology* is resolved. The station
    shares *bss* with other stations, if there are any.

    Raises
    ------
    InputError
        If the policy does not exist or cannot be initialised.
    """
    policy = guard_policy(policy_spec)
    world = build_world(topology, policy, observers, bss)
    return Run(policy, policy.config(), world)


def prepare_stations(
    policy: PolicyLike, stations: Sequence[StationSetup], observers: Sequence[Sequence[Observer]] = ()
) -> list[Run]:
    """Return an initialised run for each station, all in one BSS.

    Stations without their own policy follow *policy*. *observers* has a sequence for each station.
    """
    bss = bss_of(stations[0].resolved_topology)
    pairs = zip(stations, observers or [()] * len(stations), strict=True)
    return [prepare(each.policy or policy, each.resolved_topology, own, bss) for each, own in pairs]


def execute(
    runs: Sequence[Run],
    stations: Sequence[StationSetup],
    policy: PolicyLike,
    keys: Row | None = None,
    always_on_times_s: Sequence[Times] | None = None,
) -> list[Block]:
    """Run all stations of a BSS together, and return a :class:`Block` for each.

    Parameters
    ----------
    runs, stations
        Runs from :func:`prepare_stations`, and their stations.
    policy
        Policy of the stations without their own policy.
    keys
        Entries to add to the keys of each block.
    always_on_times_s
        Page times of each station without power saving. If None, this run is the reference, and all
        slowdowns are 1.

    Raises
    ------
    PageError
        If a page fails and failures are not reported.
    """
    group = WorldGroup([run.world for run in runs])
    blocks: list[Any] = [None] * len(runs)
    since_s, since_events = time.perf_counter(), 0

    def read(index: int) -> None:
        nonlocal since_s, since_events
        now_s, station = time.perf_counter(), stations[index]
        station_keys = {
            "policy": spec_text(policy),
            "label": label_of(policy),
            "parameters": runs[index].parameters,
            **(keys or {}),
            "kind": station.kind,
            "station": station.name,
            "station_policy": str(station.policy or ""),
        }
        counts = {"wall_s": now_s - since_s, "events": runs[index].world.events - since_events}
        times_s = None if always_on_times_s is None else always_on_times_s[index]
        blocks[index] = _read(runs[index], station_keys, counts, times_s)
        since_s, since_events = now_s, runs[index].world.events

    loads = [station.workload for station in stations]
    try:
        group.run([load.pages for load in loads], [load.messages for load in loads], read)
    except PageError as error:
        raise error.under(label_of(policy) or spec_text(policy)) from None
    except PluginError as error:
        if len(runs) > 1:
            raise
        raise error.on_page(len(runs[0].world.visits) + 1) from error.__cause__
    return blocks


def run_workload(
    policy: PolicyLike,
    topology: Topology,
    workload: Workload,
    always_on_times_s: Times | None = None,
    observers: Sequence[Observer] = (),
) -> Block:
    """Run a policy on the workload of one station, and return its block.

    *always_on_times_s* are the page times without power saving. If None, all slowdowns are 1.
    """
    station = StationSetup(topology, workload)
    times_s = None if always_on_times_s is None else [always_on_times_s]
    (block,) = execute(prepare_stations(policy, [station], [observers]), [station], policy, None, times_s)
    return block


def observe_station(
    policy: PolicyLike,
    stations: Sequence[StationSetup],
    index: int,
    observers: Sequence[Observer],
    pages: int | None,
) -> None:
    """Repeat a run, and observe station *index* until it has loaded *pages* pages (None: all pages)."""
    by_station = [observers if number == index else () for number in range(len(stations))]
    group = WorldGroup([run.world for run in prepare_stations(policy, stations, by_station)])
    loads = [station.workload.pages for station in stations]
    loads[index] = loads[index][:pages]
    group.run(loads, [station.workload.messages for station in stations], lambda _: None, index)


def page_times_s(block: Block) -> Times:
    """Return the time of each page in seconds, nan for failed pages."""
    return np.where(block.is_complete, block.pages["page_time_s"], np.nan)


def _read(run: Run, keys: Row, counts: Row, always_on_times_s: Times | None) -> Block:
    """Finish the policy of a station whose last page has ended, and return the block."""
    world = run.world
    run.policy.finish()
    pages, failures = world.visits.columns(), {i + 1: reason for i, reason in world.visits.failures.items()}
    world.visits.forget()
    own_s = np.where(np.isin(pages["page"], list(failures)), np.nan, pages["page_time_s"])
    other_s = own_s if always_on_times_s is None else always_on_times_s
    with np.errstate(divide="ignore", invalid="ignore"):
        slowdown = np.where(other_s == 0, 1.0, own_s / other_s)  # a pause takes no time under any policy
    supply_v, can_fail = world.topology.power.supply_v, world.topology.can_fail
    report = {**run.policy.report(), **world.hop.report(), **world.ends.report()}
    counts = {
        "simulated_s": world.env.now,
        **counts,
        **{f"traffic.{name}": value for name, value in _traffic(world, with_lost=can_fail).items()},
        **{f"policy_report.{name}": float(value) for name, value in report.items()},
        **{f"pushes.{name}": value for name, value in _pushes(world.messenger).items()},
        **({} if supply_v is None else {"supply_v": supply_v}),
    }
    messages = {
        direction: (stats.sent, stats.lost, np.array(stats.latencies_s))
        for direction, stats in sorted((world.messenger.stats if world.messenger else {}).items())
    }
    pages |= {"always_on_time_s": other_s, "slowdown": slowdown}
    return Block(keys, counts, pages, messages, failures, can_fail, unwrap_policy(run.policy))


def _traffic(world: World, *, with_lost: bool) -> dict[str, int]:
    """Return counts of bytes and frames from the server to the client, and of all retransmissions.

    All byte counts include headers: sent = received + undelivered + dropped + lost. The access point drops
    frames, and faults lose them. Undelivered bytes are on a link or buffered when the run ends.
    """
    lost = {"lost_bytes": world.ends.lost_bytes("down"), "lost_frames": world.ends.lost_frames("down")}
    return {
        "server_sent_bytes": world.server.sent_bytes,
        "client_received_bytes": world.client.received_bytes,
        "undelivered_bytes": world.undelivered_bytes,
        "dropped_bytes": world.port.dropped_bytes,
        "dropped_frames": world.port.dropped_frames,
        "retransmissions": world.server.retransmissions + world.client.retransmissions,
        **(lost if with_lost else {}),
    }


def _pushes(messenger: BackgroundMessages | None) -> Row:
    """Return number and delays of the datagrams to the station; empty without datagrams."""
    if messenger is None or not messenger.sent:
        return {}
    delays_s = messenger.delays_s
    delay_s = Summary.of(delays_s)._asdict() if delays_s else dict.fromkeys(Summary._fields)
    named = {f"delay_s.{name}": value for name, value in delay_s.items()}
    return {"sent": messenger.sent, "delivered": len(delays_s), **named}

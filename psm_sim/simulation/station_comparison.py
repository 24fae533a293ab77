"""Comparison of policies with several stations that share one access point and one channel.

The topology defines the stations (``[[stations]]``). Each of these tables describes one kind of station, with
its own pages, policy and chip. A station without a policy, trace or number of pages uses those of the
scenario. Each kind has its own result, the mean over its stations. These share a channel and are not
independent, so the mean has no confidence interval. The slowdown is relative to the same pages with all
stations always on, on the same channel.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any, ClassVar, NamedTuple

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.common.progress import Progress
from psm_sim.common.random_streams import random_stream
from psm_sim.common.summary_stats import Interval, percentiles
from psm_sim.network import Observer, Topology
from psm_sim.network.build import cell_of
from psm_sim.network.chip_profiles import load_profile
from psm_sim.network.page_outcomes import PageError
from psm_sim.network.shared_cell import SharedCell
from psm_sim.network.topology import overlay_settings
from psm_sim.network.topology_sections import StationSpec
from psm_sim.policies.always_on import AlwaysOn
from psm_sim.simulation.comparison import (
    Comparison,
    OnFailure,
    References,
    all_policies,
    collect_runs,
    ignore_partial,
)
from psm_sim.simulation.result import Result, drop_nan
from psm_sim.simulation.result_parts import PolicyLike, label_of, spec_text
from psm_sim.simulation.run import Run, page_times_s, prepare
from psm_sim.simulation.run_averages import MEASURES, Average, average_runs
from psm_sim.simulation.run_outputs import NO_OUTPUTS, RunOutputs
from psm_sim.simulation.scenario import Scenario
from psm_sim.workload import Workload

DISTRIBUTED = ("energy_per_page_j", "energy_by_state_per_page_j.awake", "page_time_s.mean", "slowdown.mean")
"""Measures whose distribution over the stations is reported, named as in :data:`MEASURES`."""


class StationAverage(Average):
    """Average over the stations of one kind in one run, with one result per station."""

    KIND = "station"
    HAS_INTERVALS: ClassVar[bool] = False

    def interval(self, measure: str) -> Interval:
        """Return the mean of a measure over the stations, without an interval."""
        return Interval(super().interval(measure).mean, 0.0, 1)

    def to_dict(self) -> dict[str, Any]:
        """Return the average with the distribution over the stations."""
        distribution = {
            name: percentiles(drop_nan(MEASURES[name](run) for run in self.results), (0, 10, 50, 90, 100))
            for name in DISTRIBUTED
        }
        return {**super().to_dict(), "distribution": distribution}


@dataclass(frozen=True, repr=False)
class StationComparison(Comparison):
    """Policies on the same stations; ``runs`` are :class:`StationAverage`, one for each kind."""

    total_pages: int = 0

    @property
    def pages(self) -> int:
        """The number of pages of all stations that each policy loaded."""
        return self.total_pages


def compare_stations(
    policies: Sequence[PolicyLike],
    scenario: Scenario,
    topology: Topology,
    progress: Progress,
    references: References,
    outputs: RunOutputs = NO_OUTPUTS,
    on_failure: OnFailure = ignore_partial,
) -> StationComparison:
    """Simulate each policy on all stations without a policy of their own, and average over each kind.

    *policies*, *scenario*, *progress*, *references*, *outputs* and *on_failure* as for
    :func:`~psm_sim.simulation.compare_clients`. *topology* is that of the scenario.

    Raises
    ------
    InputError
        If an argument or the definition of a station is invalid. No simulation has started then.
    """
    setups = station_setups(scenario, topology)
    simulated = all_policies(policies, references)
    for policy in simulated:
        prepare(policy, setups[0].resolved_topology)  # a policy that cannot be initialised is rejected first
    outputs.check_size([setup.workload for setup in setups], topology)
    with outputs.observers(policies, [setup.name for setup in setups]) as observers:
        progress(0, _count_pages(setups) * (len(simulated) + 1), "always-on")
        always_on = run_stations(Spec("always-on"), [setup._replace(policy=None) for setup in setups], None)
        comparison = StationComparison(
            scenario,
            topology,
            describe_setups(setups, topology),
            (),
            _with_facts(always_on, scenario),
            total_pages=_count_pages(setups),
        )
        runs = _run_policies(simulated, setups, observers, always_on, progress)
        facts = (_with_facts(averages, scenario) for averages in runs)
        return collect_runs(comparison, facts, policies, references, on_failure)


def _run_policies(
    policies: Sequence[PolicyLike],
    setups: Sequence[StationSetup],
    observers: Sequence[Sequence[Sequence[Observer]]],
    always_on: tuple[StationAverage, ...],
    progress: Progress,
) -> Iterator[tuple[StationAverage, ...]]:
    """Yield the averages of each policy, of which the last are observed. *always_on* are the reference."""
    pages, has_own_policies = _count_pages(setups), any(setup.policy for setup in setups)
    times_s = [page_times_s(result) for average in always_on for result in average.results]
    unobserved = len(policies) - len(observers)
    for number, policy in enumerate(policies):
        progress(pages * (number + 1), pages * (len(policies) + 1), str(getattr(policy, "name", policy)))
        by_station = observers[number - unobserved] if number >= unobserved else ()
        is_reference = _is_always_on(policy) and not has_own_policies and not any(by_station)
        yield always_on if is_reference else run_stations(policy, setups, times_s, by_station)


def _count_pages(setups: Sequence[StationSetup]) -> int:
    """Return the number of pages of all stations."""
    return sum(len(setup.workload.pages) for setup in setups)


def run_stations(
    policy: PolicyLike,
    setups: Sequence[StationSetup],
    times_s: Sequence[Sequence[float]] | None,
    observers: Sequence[Sequence[Observer]] = (),
) -> tuple[StationAverage, ...]:
    """Run all stations together, and return the average of each kind.

    *policy* is that of the stations without one of their own. *times_s* are the times of the pages of each of
    the *setups* without power saving; None uses the times of this run. *observers* are those of each station.
    """
    runs = _prepare_stations(policy, setups, observers)
    group = SharedCell([run.world for run in runs])
    by_station: list[Result | None] = [None] * len(runs)
    since = [time.perf_counter(), 0]

    def collect(number: int) -> None:
        now_s, before_s, events = time.perf_counter(), since[0], int(since[1])
        own_s, load = None if times_s is None else times_s[number], setups[number].workload
        result = runs[number].result(load.pages, own_s, now_s - before_s, load.messages)
        rerun = partial(_rerun, policy, setups, number)
        origin = replace(result.origin, rerun=rerun) if result.origin else None
        by_station[number] = replace(result, events=group.events - events, origin=origin)
        since[:] = now_s, group.events

    try:
        loads = [setup.workload for setup in setups]
        group.run([load.pages for load in loads], [load.messages for load in loads], collect)
    except PageError as error:
        raise error.under(spec_text(policy)) from None
    groups = groupby(zip(setups, by_station, strict=True), lambda pair: pair[0].kind)
    return tuple(_average(policy, list(group)) for _, group in groups)


def _average(policy: PolicyLike, stations: Sequence[tuple[StationSetup, Result | None]]) -> StationAverage:
    """Return the average of the stations of one kind under the simulated *policy*."""
    setup = stations[0][0]
    names = tuple(setup.name for setup, _ in stations)
    average = average_runs(StationAverage, names, [result for _, result in stations if result is not None])
    own_policy = str(setup.policy) if setup.policy else ""
    return replace(
        average,
        policy=spec_text(policy),
        policy_label=label_of(policy),
        station=setup.kind,
        station_policy=own_policy,
    )


def _prepare_stations(
    policy: PolicyLike, setups: Sequence[StationSetup], observers: Sequence[Sequence[Observer]] = ()
) -> list[Run]:
    """Return an initialised run for each station, all in one cell, with its observers."""
    cell = cell_of(setups[0].resolved_topology)
    pairs = zip(setups, observers or [()] * len(setups), strict=True)
    return [
        prepare(setup.policy or policy, setup.resolved_topology, own_observers, cell)
        for setup, own_observers in pairs
    ]


def _rerun(
    policy: PolicyLike,
    setups: Sequence[StationSetup],
    number: int,
    observers: Sequence[Observer],
    pages: int | None,
) -> None:
    """Run all stations again until one has loaded its first *pages*, and observe that station."""
    by_station = [observers if index == number else () for index in range(len(setups))]
    group = SharedCell([run.world for run in _prepare_stations(policy, setups, by_station)])
    loads = [setup.workload.pages for setup in setups]
    loads[number] = loads[number][:pages]
    group.run(loads, [setup.workload.messages for setup in setups], lambda _: None, number)


def _is_always_on(policy: PolicyLike) -> bool:
    return isinstance(policy, AlwaysOn) or str(policy) == "always-on"


def _with_facts(averages: Sequence[StationAverage], scenario: Scenario) -> tuple[StationAverage, ...]:
    def add(average: StationAverage) -> StationAverage:
        results = tuple(replace(result, facts=scenario.facts) for result in average.results)
        return replace(average, facts=scenario.facts, results=results)

    return tuple(map(add, averages))


class StationSetup(NamedTuple):
    """Configuration of one station.

    Attributes
    ----------
    name : str
        Name of the station.
    kind : str
        Name of its ``[[stations]]`` table.
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


def station_setups(scenario: Scenario, topology: Topology) -> list[StationSetup]:
    """Return the setup of each station of a topology, in order. Errors are as for a run.

    A single station has the seed of the run. Each of several has pages and losses of its own, which depend on
    the seed of the run and on its name, so that other stations do not change them.
    """
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

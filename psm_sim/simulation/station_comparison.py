"""Stations on one access point: each has its own pages, policy and chip, and all share the air.

The topology names them (``[[stations]]``). A station without a policy, trace or number of pages has what the
run is asked for. Slowdown is against the same pages with all of them always on, on the same air.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from psm_sim.component_spec import Spec
from psm_sim.network import Observer, Topology
from psm_sim.network.build import cell_of
from psm_sim.network.page_error import PageError
from psm_sim.network.station_group import StationGroup
from psm_sim.policies.always_on import AlwaysOn
from psm_sim.progress import Progress
from psm_sim.simulation.compare_policies import all_policies, assign_roles, prepare_runs
from psm_sim.simulation.comparison import Comparison
from psm_sim.simulation.failed_pages import drop_nan
from psm_sim.simulation.references import PolicyLike, References
from psm_sim.simulation.result import Result
from psm_sim.simulation.run import Run, page_times_s, prepare
from psm_sim.simulation.run_outputs import NO_OUTPUTS, RunOutputs
from psm_sim.simulation.scenario import Scenario
from psm_sim.simulation.seed_average import MEASURES, Average, average_runs
from psm_sim.simulation.station_setup import StationSetup, describe_setups, station_setups
from psm_sim.summary_stats import percentiles

DISTRIBUTED = ("energy_per_page_j", "energy_by_state_per_page_j.awake", "page_time_s.mean", "slowdown.mean")
"""What is told as a distribution over the stations; named as in :data:`MEASURES`."""


class StationAverage(Average):
    """One policy's run in which several stations shared the air; each of ``results`` is a station's."""

    KIND = "station"

    def to_dict(self) -> dict[str, Any]:
        """Return what an average has, and the distribution over the stations."""
        spread = {
            name: percentiles(drop_nan(MEASURES[name](each) for each in self.results), (0, 10, 50, 90, 100))
            for name in DISTRIBUTED
        }
        return {**super().to_dict(), "distribution": spread}


@dataclass(frozen=True, repr=False)
class StationComparison(Comparison):
    """Policies side by side with the same stations; ``runs`` are :class:`StationAverage`."""

    loaded: int = 0

    @property
    def pages(self) -> int:
        """The number of pages that each policy loaded, of all stations together."""
        return self.loaded


def compare_stations(
    policies: Sequence[PolicyLike],
    scenario: Scenario,
    topology: Topology,
    progress: Progress,
    references: References,
    outputs: RunOutputs = NO_OUTPUTS,
) -> StationComparison:
    """Run each policy on all stations of a topology that have none of their own, and average over stations.

    Parameters
    ----------
    policies, scenario, progress, references, outputs
        As for :func:`~psm_sim.simulation.compare_policies.compare_clients`.
    topology
        The scenario's topology.

    Raises
    ------
    InputError
        If any of these, or what a station names, cannot be used; before anything is run.
    """
    seats = station_setups(scenario, topology)
    asked = all_policies(policies, references)
    prepare_runs(asked, seats[0].resolved_topology, References())
    outputs.check_size([seat.workload for seat in seats], topology)
    with outputs.observers(policies, [seat.name for seat in seats]) as seen:
        reference, runs = _runs(asked, seats, seen, progress)
    runs = [_with_facts(run, scenario) for run in runs]
    found = StationComparison(
        scenario,
        topology,
        describe_setups(seats),
        tuple(runs),
        _with_facts(reference, scenario),
        loaded=_loaded(seats),
    )
    return assign_roles(found, policies, references)


def _runs(
    asked: Sequence[PolicyLike],
    seats: Sequence[StationSetup],
    seen: Sequence[Sequence[Sequence[Observer]]],
    progress: Progress,
) -> tuple[StationAverage, list[StationAverage]]:
    """Return the run without power saving, and those asked for; the first ones of these are watched."""
    loaded, own = _loaded(seats), any(seat.policy for seat in seats)
    reference = _run(Spec("always-on"), [seat._replace(policy=None) for seat in seats], None)
    times_s, runs = [page_times_s(result) for result in reference.results], []
    for number, what in enumerate(asked):
        progress(loaded * (number + 1), loaded * (len(asked) + 1), str(getattr(what, "name", what)))
        told = seen[number] if number < len(seen) else ()
        known = _is_always_on(what) and not own and not any(told)
        runs.append(reference if known else _run(what, seats, times_s, told))
    return reference, runs


def _loaded(seats: Sequence[StationSetup]) -> int:
    """Return how many pages are loaded, of all stations."""
    return sum(len(seat.workload.pages) for seat in seats)


def _run(
    policy: PolicyLike,
    seats: Sequence[StationSetup],
    times_s: Sequence[Sequence[float]] | None,
    told: Sequence[Sequence[Observer]] = (),
) -> StationAverage:
    """Run all stations at once; *times_s* are those of their pages without power saving."""
    runs = _seated(policy, seats, told)
    crowd = StationGroup([run.world for run in runs])
    found: list[Result | None] = [None] * len(runs)
    since = [time.perf_counter(), 0]

    def over(number: int) -> None:
        now_s, before_s, events = time.perf_counter(), since[0], int(since[1])
        own_s, load = None if times_s is None else times_s[number], seats[number].workload
        result = runs[number].result(load.pages, own_s, now_s - before_s, load.messages)
        again = partial(_watch, policy, seats, number)
        own = replace(result.origin, watch=again) if result.origin else None
        found[number] = replace(result, events=crowd.events - events, origin=own)
        since[:] = now_s, crowd.events

    label = str(getattr(policy, "name", policy)) if not isinstance(policy, Spec) else str(policy)
    try:
        loads = [seat.workload for seat in seats]
        crowd.run([load.pages for load in loads], [load.messages for load in loads], over)
    except PageError as failed:
        raise failed.under(label) from None
    results = [each for each in found if each is not None]
    named = average_runs(StationAverage, tuple(seat.name for seat in seats), results)
    return replace(named, policy=label, parameters=_parameters(runs, seats), policy_state=None)


def _seated(
    policy: PolicyLike, seats: Sequence[StationSetup], told: Sequence[Sequence[Observer]] = ()
) -> list[Run]:
    """Return a run of each station, in one cell, with the observers of each, if there are any."""
    cell = cell_of(seats[0].resolved_topology)
    each = zip(seats, told or [()] * len(seats), strict=True)
    return [
        prepare(seat.policy or policy, seat.resolved_topology, observers, cell) for seat, observers in each
    ]


def _watch(
    policy: PolicyLike,
    seats: Sequence[StationSetup],
    number: int,
    observers: Sequence[Observer],
    pages: int | None,
) -> None:
    """Run all stations again until one has loaded its first pages, and let observers watch that one."""
    told = [observers if place == number else () for place in range(len(seats))]
    crowd = StationGroup([run.world for run in _seated(policy, seats, told)])
    loads = [seat.workload.pages for seat in seats]
    loads[number] = loads[number][:pages]
    crowd.run(loads, [seat.workload.messages for seat in seats], lambda _: None, number)


def _parameters(runs: Sequence[Run], seats: Sequence[StationSetup]) -> dict[str, Any]:
    """Return the parameters of the policy that was asked for, as a station without its own has them."""
    return next((run.parameters for run, seat in zip(runs, seats, strict=True) if not seat.policy), {})


def _is_always_on(policy: PolicyLike) -> bool:
    return isinstance(policy, AlwaysOn) or str(policy) == "always-on"


def _with_facts(run: StationAverage, scenario: Scenario) -> StationAverage:
    each = tuple(replace(result, facts=scenario.facts) for result in run.results)
    return replace(run, facts=scenario.facts, results=each)

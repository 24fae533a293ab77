"""Run with an event for every beacon, to compare with the event-free beacon logic."""

from __future__ import annotations

from psm_sim.network.beacon_event_reference import schedule_every_beacon
from psm_sim.simulation import Result, Scenario
from psm_sim.simulation.run import execute, prepare_stations, station_setups


def run_both(policy: str, *arguments, **keywords) -> tuple[Result, Result]:
    """Return a run of *policy* in a scenario, and the same run with an event for every beacon."""
    scenario = Scenario(*arguments, **keywords)
    stations = station_setups(scenario, scenario.resolve_topology())
    lazy, full = (prepare_stations(policy, stations) for _ in range(2))
    schedule_every_beacon(full[0].world)
    first, second = (Result(tuple(execute(runs, stations, policy))) for runs in (lazy, full))
    return first, second

"""Run with an event for every beacon, to compare with the event-free beacon logic."""

from __future__ import annotations

from psm_sim.network.beacon_event_reference import schedule_every_beacon
from psm_sim.simulation import Result, Scenario
from psm_sim.simulation.run import prepare


def run_both(policy: str, *arguments, **keywords) -> tuple[Result, Result]:
    """Return a run of *policy* in a scenario, and the same run with an event for every beacon."""
    scenario = Scenario(*arguments, **keywords)
    lazy, full = (prepare(policy, scenario.resolve_topology()) for _ in range(2))
    schedule_every_beacon(full.world)
    load = scenario.workload()
    first, second = (run.execute(load.pages, messages=load.messages) for run in (lazy, full))
    return first, second

"""Runs of several policies on the same pages, relative to a run without power saving."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from psm_sim.common.component_spec import Spec
from psm_sim.common.progress import Progress
from psm_sim.network import Topology
from psm_sim.policies.always_on import AlwaysOn
from psm_sim.simulation.comparison import Comparison
from psm_sim.simulation.result import Result
from psm_sim.simulation.run import Run, page_times_s, prepare
from psm_sim.simulation.scenario import Scenario
from psm_sim.workload import Workload

_ALWAYS_ON = Spec("always-on")


def run_shared_pages(
    runs: Sequence[Run], topology: Topology, scenario: Scenario, workload: Workload, progress: Progress
) -> Comparison:
    """Run initialised policies on the same pages, and return the comparison.

    The run without power saving comes first, because its page times are needed for the slowdowns.

    Parameters
    ----------
    runs, topology, scenario
        The initialised runs, their topology and their scenario.
    workload
        Pages and background traffic.
    progress
        Called after each page.
    """
    always_on_runs = (run for run in runs if isinstance(run.policy, AlwaysOn))
    reference = next(always_on_runs, None) or prepare(_ALWAYS_ON, topology)
    others = sum(not isinstance(run.policy, AlwaysOn) for run in runs)
    total, done = len(workload.pages) * (1 + others), 0

    def execute(run: Run, times_s: Sequence[float] | None = None) -> Result:
        nonlocal done
        before, done = done, done + len(workload.pages)
        report: Callable[[int], None] = lambda count: progress(before + count, total, run.label)  # noqa: E731
        result = run.execute(workload.pages, times_s, report, workload.messages)
        return replace(result, facts=scenario.facts)

    always_on = execute(reference)
    times_s = page_times_s(always_on)
    results = [always_on if isinstance(run.policy, AlwaysOn) else execute(run, times_s) for run in runs]
    return Comparison(scenario, topology, workload, tuple(results), always_on)

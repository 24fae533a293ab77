"""Runs over the same pages: first one without power saving, whose times the others are compared with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from psm_sim.component_spec import Spec
from psm_sim.network import Topology
from psm_sim.policies.always_on import AlwaysOn
from psm_sim.progress import Progress
from psm_sim.simulation.comparison import Comparison
from psm_sim.simulation.result import Result
from psm_sim.simulation.run import Run, page_times_s, prepare
from psm_sim.simulation.scenario import Scenario
from psm_sim.workload import Workload

_ALWAYS_ON = Spec("always-on")


def run_shared_pages(
    runs: Sequence[Run], topology: Topology, scenario: Scenario, workload: Workload, progress: Progress
) -> Comparison:
    """Return what *runs*, made and not yet started on their pages, give.

    Parameters
    ----------
    runs, topology, scenario
        The runs, where they are, and what they are of.
    workload
        The pages, and what is sent beside them.
    progress
        Called after each page.
    """
    own = (run for run in runs if isinstance(run.policy, AlwaysOn))
    reference = next(own, None) or prepare(_ALWAYS_ON, topology)
    others = sum(not isinstance(run.policy, AlwaysOn) for run in runs)
    total, done = len(workload.pages) * (1 + others), 0

    def over(run: Run, times_s: Sequence[float] | None = None) -> Result:
        nonlocal done
        before, done = done, done + len(workload.pages)
        told: Callable[[int], None] = lambda count: progress(before + count, total, run.label)  # noqa: E731
        found = run.execute(workload.pages, times_s, told, workload.messages)
        return replace(found, facts=scenario.facts)

    always_on = over(reference)
    times_s = page_times_s(always_on)
    found = [always_on if isinstance(run.policy, AlwaysOn) else over(run, times_s) for run in runs]
    return Comparison(scenario, topology, workload, tuple(found), always_on)

"""Comparison of policies on the pages of one client, or of the stations that the topology defines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from psm_sim.common.component_spec import Spec
from psm_sim.common.progress import Progress, no_progress
from psm_sim.network import Observer, Topology
from psm_sim.policies.always_on import AlwaysOn
from psm_sim.simulation.comparison import NO_REFERENCES, Comparison, References, all_policies, assign_roles
from psm_sim.simulation.result import Result
from psm_sim.simulation.result_parts import PolicyLike
from psm_sim.simulation.run import Run, page_times_s, prepare
from psm_sim.simulation.scenario import Scenario
from psm_sim.simulation.station_comparison import compare_stations
from psm_sim.workload import Workload

_ALWAYS_ON = Spec("always-on")
_DEFAULTS = Scenario()


def compare_runs(
    policies: Sequence[PolicyLike],
    scenario: Scenario = _DEFAULTS,
    progress: Progress = no_progress,
    references: References = NO_REFERENCES,
) -> Comparison:
    """Simulate each policy, and one run without power saving, on the pages of one client.

    All policies are initialised before the first page is loaded, so that errors are found early.

    Parameters
    ----------
    policies
        At least one policy: names with optional parameters (``"bsd:p=0.5"``), ``FILE.py:CLASS``, specs
        or policy instances.
    scenario
        Pages and topology.
    progress
        Called after each page.
    references
        Baselines, and the reference for relative energy and slowdown.

    Returns
    -------
    Comparison
        The runs, baselines and reference.

    Raises
    ------
    InputError
        If an argument is invalid, or the trace selects several clients. No simulation has started then.
    """
    topology = scenario.resolve_topology()
    if topology.stations:
        return compare_stations(policies, scenario, topology, progress, references)
    runs = prepare_runs(policies, topology, references)
    comparison = run_shared_pages(runs, topology, scenario, scenario.workload(), progress)
    return assign_roles(comparison, policies, references)


def prepare_runs(
    policies: Sequence[PolicyLike],
    topology: Topology,
    references: References,
    observers: Sequence[Sequence[Observer]] = (),
) -> list[Run]:
    """Initialise a run of each policy, baseline and reference, each in a separate world.

    Parameters
    ----------
    policies, references
        As for :func:`compare_runs`.
    topology
        The resolved topology.
    observers
        Observers of each policy, in order. Missing entries mean no observers.

    Raises
    ------
    InputError
        If there is no policy, or one is invalid.
    """
    simulated = all_policies(policies, references)
    pairs = zip(simulated, [*observers, *([()] * (len(simulated) - len(observers)))], strict=True)
    return [prepare(policy, topology, own_observers) for policy, own_observers in pairs]


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

"""Comparison of policies over the pages of several seeds, with confidence intervals.

All policies load the same pages for each seed, so differences are paired. Seeds share no state, so the
numbers do not depend on the number of workers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from psm_sim.common.errors import InputError
from psm_sim.common.parameters import Parameter
from psm_sim.common.progress import Progress, no_progress
from psm_sim.simulation.client_comparison import ProgressReporter, check_several_runs, compare_in_parallel
from psm_sim.simulation.compare_policies import all_policies, assign_roles, compare_clients, prepare_runs
from psm_sim.simulation.comparison import Comparison
from psm_sim.simulation.reference_policies import NO_REFERENCES, PolicyLike, References
from psm_sim.simulation.run_averages import SeedAverage, average_runs
from psm_sim.simulation.scenario import Scenario

_REPLICATIONS = Parameter("replications", 1, at_least=1, at_most=10_000)


@dataclass(frozen=True, repr=False)
class SeedComparison(Comparison):
    """Comparison of policies over several seeds; ``runs`` are :class:`SeedAverage`.

    ``seeds`` has the comparison of each seed. ``workload`` is that of the first seed.
    """

    seeds: tuple[Comparison, ...] = ()


def compare_seeds(
    policies: Sequence[PolicyLike],
    scenario: Scenario,
    replications: int,
    progress: Progress = no_progress,
    workers: int | None = None,
    references: References = NO_REFERENCES,
) -> Comparison:
    """Simulate each policy on the pages of several seeds, and average over the seeds.

    Parameters
    ----------
    policies, scenario, references
        As for :func:`~psm_sim.simulation.compare_policies.compare_runs`. The scenario has the first seed.
    replications
        Number of consecutive seeds, at least 1.
    progress
        Called after each seed. With one seed it is called as for
        :func:`~psm_sim.simulation.compare_policies.compare_clients`.
    workers
        Number of processes; None uses all cores. The numbers do not depend on it.

    Returns
    -------
    Comparison
        A :class:`SeedComparison` if there are several seeds.

    Raises
    ------
    InputError
        If an argument is invalid, or the pages do not depend on the seed. No simulation has started
        then.
    """
    _REPLICATIONS.check(replications, "comparison")
    if replications == 1:
        return compare_clients(policies, scenario, progress, workers, references)
    check_several_runs(
        prepare_runs(policies, scenario.resolve_topology(), references), f"{replications} seeds", workers
    )
    scenarios = [replace(scenario, seed=scenario.seed + number) for number in range(replications)]
    _check_pages_depend_on_seed(scenarios)
    report = ProgressReporter(progress, replications * scenarios[0].pages, replications, "seeds")
    comparisons = compare_in_parallel(all_policies(policies, references), scenarios, report, workers)
    return assign_roles(_merge_seeds(scenarios, comparisons), policies, references)


def _check_pages_depend_on_seed(scenarios: Sequence[Scenario]) -> None:
    """Reject replications of pages that are equal for all seeds: the intervals would be meaningless."""
    first, second = (scenario.workload() for scenario in scenarios[:2])
    if (first.pages, first.messages) == (second.pages, second.messages):
        raise InputError(
            f"replications must be 1 for trace {scenarios[0].trace_name}, got {len(scenarios)}; its pages "
            "are the same for every seed."
        )


def _merge_seeds(scenarios: Sequence[Scenario], comparisons: Sequence[Comparison]) -> SeedComparison:
    names, first = tuple(str(scenario.seed) for scenario in scenarios), comparisons[0]
    runs_by_policy = zip(*(comparison.runs for comparison in comparisons), strict=True)
    return SeedComparison(
        scenarios[0],
        first.resolved_topology,
        first.workload,
        tuple(average_runs(SeedAverage, names, runs) for runs in runs_by_policy),
        average_runs(SeedAverage, names, [comparison.always_on for comparison in comparisons]),
        seeds=tuple(comparisons),
    )

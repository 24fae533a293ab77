"""Replications: policies side by side over the pages of several seeds, with confidence intervals.

Every policy sees the same pages of each seed, so that differences are paired. Nothing is shared between
seeds, so the numbers do not depend on the number of workers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from psm_sim.errors import InputError
from psm_sim.parameter_values import Parameter
from psm_sim.progress import Progress, no_progress
from psm_sim.simulation.client_comparison import ProgressReporter, check_several_runs, compare_in_parallel
from psm_sim.simulation.compare_policies import all_policies, assign_roles, compare_clients, prepare_runs
from psm_sim.simulation.comparison import Comparison
from psm_sim.simulation.references import NO_REFERENCES, PolicyLike, References
from psm_sim.simulation.scenario import Scenario
from psm_sim.simulation.seed_average import SeedAverage, average_runs

_REPLICATIONS = Parameter("replications", 1, at_least=1, at_most=10_000)


@dataclass(frozen=True, repr=False)
class SeedComparison(Comparison):
    """Policies side by side over the same pages of several seeds; ``runs`` are :class:`SeedAverage`.

    ``seeds`` has the comparison of each seed; ``workload`` is that of the first.
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
    """Run each policy over the pages of several seeds, and average over them.

    Parameters
    ----------
    policies, scenario, references
        As for :func:`~psm_sim.simulation.compare_policies.compare_runs`; the scenario's seed is the first.
    replications
        The number of seeds, at least 1; the seeds follow each other.
    progress
        Called after each seed; with one seed as for :func:`~psm_sim.simulation.compare_policies.compare_clients`.
    workers
        Processes, one for each core if None; the numbers do not depend on it.

    Returns
    -------
    Comparison
        A :class:`SeedComparison` if there are several seeds.

    Raises
    ------
    InputError
        If any of these cannot be used, or the pages do not depend on the seed; before anything is run.
    """
    _REPLICATIONS.check(replications, "comparison")
    if replications == 1:
        return compare_clients(policies, scenario, progress, workers, references)
    check_several_runs(
        prepare_runs(policies, scenario.resolve_topology(), references), f"{replications} seeds", workers
    )
    scenarios = [replace(scenario, seed=scenario.seed + number) for number in range(replications)]
    _check_drawn(scenarios)
    report = ProgressReporter(progress, replications * scenarios[0].pages, replications, "seeds")
    found = compare_in_parallel(all_policies(policies, references), scenarios, report, workers)
    return assign_roles(_merged(scenarios, found), policies, references)


def _check_drawn(scenarios: Sequence[Scenario]) -> None:
    """Refuse replications of pages that are the same for every seed: their intervals would mean nothing."""
    first, second = (scenario.workload() for scenario in scenarios[:2])
    if (first.pages, first.messages) == (second.pages, second.messages):
        raise InputError(
            f"replications is {len(scenarios)}, but the pages of trace {scenarios[0].trace_name} are the "
            "same for every seed; expected a trace that draws its pages, or 1."
        )


def _merged(scenarios: Sequence[Scenario], found: Sequence[Comparison]) -> SeedComparison:
    names, first = tuple(str(scenario.seed) for scenario in scenarios), found[0]
    each_policy = zip(*(one.runs for one in found), strict=True)
    return SeedComparison(
        scenarios[0],
        first.resolved_topology,
        first.workload,
        tuple(average_runs(SeedAverage, names, runs) for runs in each_policy),
        average_runs(SeedAverage, names, [one.always_on for one in found]),
        seeds=tuple(found),
    )

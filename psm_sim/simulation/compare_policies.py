"""Comparison of policies on the pages of one or several clients."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TypeVar

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.common.progress import Progress, no_progress
from psm_sim.network import Observer, Topology
from psm_sim.policies import Policy
from psm_sim.simulation.comparison import Comparison
from psm_sim.simulation.reference_policies import NO_REFERENCES, PolicyLike, References
from psm_sim.simulation.result import Result
from psm_sim.simulation.run import Run, prepare
from psm_sim.simulation.run_outputs import NO_OUTPUTS, RunOutputs
from psm_sim.simulation.scenario import Scenario
from psm_sim.simulation.shared_pages import run_shared_pages

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
        return _compare_stations(policies, scenario, topology, progress, references, NO_OUTPUTS)
    runs = prepare_runs(policies, topology, references)
    comparison = run_shared_pages(runs, topology, scenario, scenario.workload(), progress)
    return assign_roles(comparison, policies, references)


def compare_clients(
    policies: Sequence[PolicyLike],
    scenario: Scenario = _DEFAULTS,
    progress: Progress = no_progress,
    workers: int | None = None,
    references: References = NO_REFERENCES,
    outputs: RunOutputs = NO_OUTPUTS,
) -> Comparison:
    """Simulate each policy for every client that the trace selects, and average over the clients.

    Parameters
    ----------
    policies, scenario, references
        As for :func:`compare_runs`. The scenario's ``pages`` limits the pages of each client.
    progress
        Called after each page of a single client, otherwise after each client.
    workers
        Number of processes for several clients; None uses all cores. The numbers do not depend on it.
    outputs
        Files to write during the run. Only supported for a single client.

    Returns
    -------
    Comparison
        A :class:`~psm_sim.simulation.client_comparison.ClientComparison` if there are several clients.

    Raises
    ------
    InputError
        If an argument is invalid. No simulation has started then.
    """
    topology = scenario.resolve_topology()
    if outputs:
        outputs.check(policies, topology)
    if topology.stations:
        return _compare_stations(policies, scenario, topology, progress, references, outputs)
    no_observers: AbstractContextManager[list[list[list[Observer]]]] = nullcontext([])
    with outputs.observers(policies) if outputs else no_observers as by_policy:
        runs = prepare_runs(policies, topology, references, [observers for (observers,) in by_policy])
        workloads = scenario.workloads()
        if len(workloads) == 1:
            outputs.check_size(workloads, topology)
            comparison = run_shared_pages(runs, topology, scenario, workloads[0], progress)
            return assign_roles(comparison, policies, references)
        outputs.refuse(f"{len(workloads)} clients")
    from psm_sim.simulation.client_comparison import check_several_runs, compare_each

    check_several_runs(runs, f"{len(workloads)} clients", workers)
    return compare_each(policies, scenario, workloads, progress, workers, references)


def _compare_stations(
    policies: Sequence[PolicyLike],
    scenario: Scenario,
    topology: Topology,
    progress: Progress,
    references: References,
    outputs: RunOutputs,
) -> Comparison:
    from psm_sim.simulation.station_comparison import compare_stations

    return compare_stations(policies, scenario, topology, progress, references, outputs)


Kind = TypeVar("Kind", bound=Comparison)


def all_policies(policies: Sequence[PolicyLike], references: References) -> list[PolicyLike]:
    """Return *policies* followed by the baselines and the reference, without duplicates."""
    unique = [*policies]
    for policy in (*references.baselines, *references.reference):
        if _index_of(policy, unique) is None:
            unique.append(policy)
    return unique


def assign_roles(comparison: Kind, policies: Sequence[PolicyLike], references: References) -> Kind:
    """Split the runs of a comparison into policies, baselines and reference.

    Parameters
    ----------
    comparison
        Comparison whose ``runs`` are those of :func:`all_policies`.
    policies, references
        As for :func:`compare_runs`.
    """
    simulated = all_policies(policies, references)

    def run_of(policy: PolicyLike) -> Result:
        return comparison.runs[_index_of(policy, simulated) or 0]

    return replace(
        comparison,
        runs=comparison.runs[: len(policies)],
        baselines=tuple(map(run_of, references.baselines)),
        reference=next(map(run_of, references.reference), None),
    )


def _index_of(policy: PolicyLike, policies: Sequence[PolicyLike]) -> int | None:
    for index, other in enumerate(policies):
        # Compare specs as text; parsing them again would cost more than it gains.
        if policy is other if isinstance(policy, Policy) else str(policy) == str(other):
            return index
    return None


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
    if not policies or isinstance(policies, (str, Spec, Policy)):
        raise InputError(f"policies must be a non-empty list, got {policies!r}.")
    simulated = all_policies(policies, references)
    pairs = zip(simulated, [*observers, *([()] * (len(simulated) - len(observers)))], strict=True)
    return [prepare(policy, topology, own_observers) for policy, own_observers in pairs]

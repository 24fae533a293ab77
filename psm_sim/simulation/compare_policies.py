"""Comparison of policies: side by side, over the pages of one client or of several."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TypeVar

from psm_sim.component_spec import Spec
from psm_sim.errors import InputError
from psm_sim.network import Observer, Topology
from psm_sim.policies import Policy
from psm_sim.progress import Progress, no_progress
from psm_sim.simulation.comparison import Comparison
from psm_sim.simulation.references import NO_REFERENCES, PolicyLike, References
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
    """Run each policy, and one without power saving, over the pages of one client.

    Every policy is made and started before the first page of any is loaded, so that what is wrong with
    one is found first.

    Parameters
    ----------
    policies
        At least one: names with their parameters (``"bsd:p=0.5"``), ``FILE.py:CLASS``, as texts or specs,
        or policies already made.
    scenario
        The pages, and where they are loaded.
    progress
        Called after each page.
    references
        Baselines, and what energy and slowdown are compared with.

    Raises
    ------
    InputError
        If any of these cannot be used, or the trace chooses several clients; before anything is run.
    """
    topology = scenario.resolve_topology()
    if topology.stations:
        return _with_stations(policies, scenario, topology, progress, references, NO_OUTPUTS)
    runs = prepare_runs(policies, topology, references)
    found = run_shared_pages(runs, topology, scenario, scenario.workload(), progress)
    return assign_roles(found, policies, references)


def compare_clients(
    policies: Sequence[PolicyLike],
    scenario: Scenario = _DEFAULTS,
    progress: Progress = no_progress,
    workers: int | None = None,
    references: References = NO_REFERENCES,
    outputs: RunOutputs = NO_OUTPUTS,
) -> Comparison:
    """Run each policy over every client that the trace chooses, and average over clients.

    Parameters
    ----------
    policies, scenario, references
        As for :func:`compare_runs`; the scenario's ``pages`` are the most of each client.
    progress
        Called after each page of a single client, else after each client.
    workers
        Processes for several clients, one for each core if None; the numbers do not depend on it.
    outputs
        Files to be written meanwhile; of a single client only.

    Returns
    -------
    Comparison
        A :class:`~psm_sim.simulation.client_comparison.ClientComparison` if there are several clients.

    Raises
    ------
    InputError
        If any of these cannot be used, before anything is run.
    """
    topology = scenario.resolve_topology()
    if outputs:
        outputs.check(policies, topology)
    if topology.stations:
        return _with_stations(policies, scenario, topology, progress, references, outputs)
    files: AbstractContextManager[list[list[list[Observer]]]] = nullcontext([])
    with outputs.observers(policies) if outputs else files as seen:
        runs = prepare_runs(policies, topology, references, [told for (told,) in seen])
        workloads = scenario.workloads()
        if len(workloads) == 1:
            outputs.check_size(workloads, topology)
            found = run_shared_pages(runs, topology, scenario, workloads[0], progress)
            return assign_roles(found, policies, references)
        outputs.refuse(f"{len(workloads)} clients")
    from psm_sim.simulation.client_comparison import check_several_runs, compare_each

    check_several_runs(runs, f"{len(workloads)} clients", workers)
    return compare_each(policies, scenario, workloads, progress, workers, references)


def _with_stations(
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
    """Return *policies*, and behind them those beside them that are not among them."""
    found = [*policies]
    for each in (*references.baselines, *references.reference):
        if _place_of(each, found) is None:
            found.append(each)
    return found


def assign_roles(found: Kind, policies: Sequence[PolicyLike], references: References) -> Kind:
    """Return a comparison of :func:`all_policies` with each run in its place.

    Parameters
    ----------
    found
        Its ``runs`` are those of everyone.
    policies, references
        As for :func:`compare_runs`.
    """
    asked = all_policies(policies, references)

    def run_of(policy: PolicyLike) -> Result:
        return found.runs[_place_of(policy, asked) or 0]

    return replace(
        found,
        runs=found.runs[: len(policies)],
        baselines=tuple(map(run_of, references.baselines)),
        reference=next(map(run_of, references.reference), None),
    )


def _place_of(policy: PolicyLike, policies: Sequence[PolicyLike]) -> int | None:
    for index, each in enumerate(policies):
        # Texts are compared as they are written: reading them twice is not worth it.
        if policy is each if isinstance(policy, Policy) else str(policy) == str(each):
            return index
    return None


def prepare_runs(
    policies: Sequence[PolicyLike],
    topology: Topology,
    references: References,
    observers: Sequence[Sequence[Observer]] = (),
) -> list[Run]:
    """Return a run of each policy and of those beside them, made and started, in a world of its own.

    Parameters
    ----------
    policies, references
        As for :func:`compare_runs`.
    topology
        The topology.
    observers
        Those of each policy, if any.

    Raises
    ------
    InputError
        If there is no policy, or one cannot be used.
    """
    if not policies or isinstance(policies, (str, Spec, Policy)):
        raise InputError(f"policies is {policies!r}; expected a list of at least one policy.")
    asked = all_policies(policies, references)
    each = zip(asked, [*observers, *([()] * (len(asked) - len(observers)))], strict=True)
    return [prepare(policy, topology, told) for policy, told in each]

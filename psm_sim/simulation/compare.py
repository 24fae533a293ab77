"""Comparison of policies: side by side, over the pages of one client or of several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from psm_sim.errors import InputError
from psm_sim.network import Observer, Topology
from psm_sim.policies import Policy
from psm_sim.policies.always_on import AlwaysOn
from psm_sim.progress import Progress, silent
from psm_sim.simulation.arranged import everyone, sorted_out
from psm_sim.simulation.beside import NOTHING, Beside, What
from psm_sim.simulation.comparison import Comparison
from psm_sim.simulation.result import Result
from psm_sim.simulation.run import Run, page_times_s, prepare
from psm_sim.simulation.scenario import Scenario
from psm_sim.simulation.watch import NOT_WATCHED, Watch
from psm_sim.spec import Spec
from psm_sim.workload import Workload

_ALWAYS_ON = Spec("always-on")
_DEFAULTS = Scenario()


def compare_runs(
    policies: Sequence[What],
    scenario: Scenario = _DEFAULTS,
    progress: Progress = silent,
    beside: Beside = NOTHING,
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
    beside
        Baselines, and what energy and slowdown are compared with.

    Raises
    ------
    InputError
        If any of these cannot be used, or the trace chooses several clients; before anything is run.
    """
    place = scenario.place()
    if place.stations:
        return _with_stations(policies, scenario, place, progress, beside)
    runs = prepared(policies, place, beside)
    found = _compared(runs, place, scenario, scenario.workload(), progress)
    return sorted_out(found, policies, beside)


def compare_clients(
    policies: Sequence[What],
    scenario: Scenario = _DEFAULTS,
    progress: Progress = silent,
    workers: int | None = None,
    beside: Beside = NOTHING,
    watch: Watch = NOT_WATCHED,
) -> Comparison:
    """Run each policy over every client that the trace chooses, and average over clients.

    Parameters
    ----------
    policies, scenario, beside
        As for :func:`compare_runs`; the scenario's ``pages`` are the most of each client.
    progress
        Called after each page of a single client, else after each client.
    workers
        Processes for several clients, one for each core if None; the numbers do not depend on it.
    watch
        Files to be written meanwhile; of a single client only.

    Returns
    -------
    Comparison
        A :class:`~psm_sim.simulation.clients.ClientComparison` if there are several clients.

    Raises
    ------
    InputError
        If any of these cannot be used, before anything is run.
    """
    place = scenario.place()
    watch.check(policies, place)
    if place.stations:
        watch.refuse("several stations")
        return _with_stations(policies, scenario, place, progress, beside)
    with watch.observers(policies) as seen:
        runs = prepared(policies, place, beside, seen)
        workloads = scenario.workloads()
        if len(workloads) == 1:
            watch.check_size(workloads[0], place)
            found = _compared(runs, place, scenario, workloads[0], progress)
            return sorted_out(found, policies, beside)
        watch.refuse(f"{len(workloads)} clients")
    from psm_sim.simulation.clients import check, compare_each

    check(runs, f"{len(workloads)} clients", workers)
    return compare_each(policies, scenario, workloads, progress, workers, beside)


def _with_stations(
    policies: Sequence[What], scenario: Scenario, place: Topology, progress: Progress, beside: Beside
) -> Comparison:
    from psm_sim.simulation.stations import compare_stations

    return compare_stations(policies, scenario, place, progress, beside)


def prepared(
    policies: Sequence[What],
    place: Topology,
    beside: Beside,
    observers: Sequence[Sequence[Observer]] = (),
) -> list[Run]:
    """Return a run of each policy and of those beside them, made and started, in a world of its own.

    Parameters
    ----------
    policies, beside
        As for :func:`compare_runs`.
    place
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
    asked = everyone(policies, beside)
    each = zip(asked, [*observers, *([()] * (len(asked) - len(observers)))], strict=True)
    return [prepare(policy, place, told) for policy, told in each]


def _compared(
    runs: Sequence[Run], place: Topology, scenario: Scenario, workload: Workload, progress: Progress
) -> Comparison:
    own = (run for run in runs if isinstance(run.policy, AlwaysOn))
    reference = next(own, None) or prepare(_ALWAYS_ON, place)
    others = sum(not isinstance(run.policy, AlwaysOn) for run in runs)
    total, done = len(workload.pages) * (1 + others), 0

    def over(run: Run, times_s: Sequence[float] | None = None) -> Result:
        nonlocal done
        before, done = done, done + len(workload.pages)
        told: Callable[[int], None] = lambda count: progress(before + count, total, run.label)  # noqa: E731
        found = run.over(workload.pages, times_s, told, workload.messages)
        return replace(found, facts=scenario.facts)

    always_on = over(reference)
    times_s = page_times_s(always_on)
    found = [always_on if isinstance(run.policy, AlwaysOn) else over(run, times_s) for run in runs]
    return Comparison(scenario, place, workload, tuple(found), always_on)

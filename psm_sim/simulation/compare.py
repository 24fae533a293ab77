"""Comparison of policies: side by side, over the pages of one client or of several."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TypeVar

from psm_sim.errors import InputError
from psm_sim.network import Observer, Topology
from psm_sim.policies import Policy
from psm_sim.progress import Progress, silent
from psm_sim.simulation.beside import NOTHING, Beside, What
from psm_sim.simulation.comparison import Comparison
from psm_sim.simulation.over_pages import over_pages
from psm_sim.simulation.result import Result
from psm_sim.simulation.run import Run, prepare
from psm_sim.simulation.scenario import Scenario
from psm_sim.simulation.watch import NOT_WATCHED, Watch
from psm_sim.spec import Spec

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
        return _with_stations(policies, scenario, place, progress, beside, NOT_WATCHED)
    runs = prepared(policies, place, beside)
    found = over_pages(runs, place, scenario, scenario.workload(), progress)
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
    if watch:
        watch.check(policies, place)
    if place.stations:
        return _with_stations(policies, scenario, place, progress, beside, watch)
    files: AbstractContextManager[list[list[list[Observer]]]] = nullcontext([])
    with watch.observers(policies) if watch else files as seen:
        runs = prepared(policies, place, beside, [told for (told,) in seen])
        workloads = scenario.workloads()
        if len(workloads) == 1:
            watch.check_size(workloads, place)
            found = over_pages(runs, place, scenario, workloads[0], progress)
            return sorted_out(found, policies, beside)
        watch.refuse(f"{len(workloads)} clients")
    from psm_sim.simulation.clients import check, compare_each

    check(runs, f"{len(workloads)} clients", workers)
    return compare_each(policies, scenario, workloads, progress, workers, beside)


def _with_stations(
    policies: Sequence[What],
    scenario: Scenario,
    place: Topology,
    progress: Progress,
    beside: Beside,
    watch: Watch,
) -> Comparison:
    from psm_sim.simulation.stations import compare_stations

    return compare_stations(policies, scenario, place, progress, beside, watch)


Kind = TypeVar("Kind", bound=Comparison)


def everyone(policies: Sequence[What], beside: Beside) -> list[What]:
    """Return *policies*, and behind them those beside them that are not among them."""
    found = [*policies]
    for each in (*beside.baselines, *beside.against):
        if _place_of(each, found) is None:
            found.append(each)
    return found


def sorted_out(found: Kind, policies: Sequence[What], beside: Beside) -> Kind:
    """Return a comparison of :func:`everyone` with each run in its place.

    Parameters
    ----------
    found
        Its ``runs`` are those of everyone.
    policies, beside
        As for :func:`compare_runs`.
    """
    asked = everyone(policies, beside)

    def run_of(what: What) -> Result:
        return found.runs[_place_of(what, asked) or 0]

    return replace(
        found,
        runs=found.runs[: len(policies)],
        baselines=tuple(map(run_of, beside.baselines)),
        reference=next(map(run_of, beside.against), None),
    )


def _place_of(what: What, policies: Sequence[What]) -> int | None:
    for index, each in enumerate(policies):
        # Texts are compared as they are written: reading them twice is not worth it.
        if what is each if isinstance(what, Policy) else str(what) == str(each):
            return index
    return None


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

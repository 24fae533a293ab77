"""Comparison: policies side by side, over the same pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psm_sim.errors import InputError
from psm_sim.network import Topology, differences
from psm_sim.network.profiles import load_profile
from psm_sim.policies import Policy
from psm_sim.policies.always_on import AlwaysOn
from psm_sim.progress import Progress, silent
from psm_sim.simulation.result import Result
from psm_sim.simulation.run import Run, page_times_s, prepare
from psm_sim.simulation.scenario import Scenario
from psm_sim.spec import Spec
from psm_sim.workload import Workload

_ALWAYS_ON = Spec("always-on")
_DEFAULTS = Scenario()


@dataclass(frozen=True)
class Comparison:
    """Several runs over the same pages, in the order the policies were given.

    ``place`` is the topology with the value of every key, ``workload`` the pages, ``always_on`` the run
    without power saving that every slowdown is measured against.
    """

    scenario: Scenario
    place: Topology
    workload: Workload
    runs: tuple[Result, ...]
    always_on: Result

    @property
    def trace(self) -> str:
        """The trace as the user wrote it."""
        return self.scenario.trace_name

    @property
    def topology(self) -> str:
        """The topology as the user wrote it."""
        return self.scenario.topology_name

    @property
    def topology_differs(self) -> dict[str, Any]:
        """The keys in which the topology, before profile and settings, differs from the bundled one."""
        chip = load_profile(self.scenario.profile).values if self.scenario.profile else {}
        return {
            key: value
            for key, value in differences(self.place).items()
            if key not in self.settings and key not in chip
        }

    @property
    def pages(self) -> int:
        """The number of pages that each policy loaded."""
        return len(self.workload.pages)

    @property
    def seed(self) -> int:
        """The seed of everything drawn."""
        return self.scenario.seed

    @property
    def settings(self) -> dict[str, Any]:
        """The topology keys that were overridden, as they were given."""
        return dict(self.scenario.settings)


def compare_runs(
    policies: Sequence[str | Spec | Policy], scenario: Scenario = _DEFAULTS, progress: Progress = silent
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

    Raises
    ------
    InputError
        If any of these cannot be used, or the trace chooses several clients; before anything is run.
    """
    place = scenario.place()
    runs = _prepared(policies, place)
    return _compared(runs, place, scenario, scenario.workload(), progress)


def compare_clients(
    policies: Sequence[str | Spec | Policy],
    scenario: Scenario = _DEFAULTS,
    progress: Progress = silent,
    workers: int | None = None,
) -> Comparison:
    """Run each policy over every client that the trace chooses, and average over clients.

    Parameters
    ----------
    policies, scenario
        As for :func:`compare_runs`; the scenario's ``pages`` are the most of each client.
    progress
        Called after each page of a single client, else after each client.
    workers
        Processes for several clients, one for each core if None; the numbers do not depend on it.

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
    runs = _prepared(policies, place)
    workloads = scenario.workloads()
    if len(workloads) == 1:
        return _compared(runs, place, scenario, workloads[0], progress)
    from psm_sim.simulation.clients import check, compare_each

    check(runs, len(workloads), workers)
    return compare_each(policies, scenario, workloads, progress, workers)


def _prepared(policies: Sequence[str | Spec | Policy], place: Topology) -> list[Run]:
    if not policies or isinstance(policies, (str, Spec, Policy)):
        raise InputError(f"policies is {policies!r}; expected a list of at least one policy.")
    return [prepare(policy, place) for policy in policies]


def _compared(
    runs: Sequence[Run], place: Topology, scenario: Scenario, workload: Workload, progress: Progress
) -> Comparison:
    reference = prepare(_ALWAYS_ON, place)
    others = sum(not isinstance(run.policy, AlwaysOn) for run in runs)
    total, done = len(workload.pages) * (1 + others), 0

    def over(run: Run, times_s: Sequence[float] | None = None) -> Result:
        nonlocal done
        before, done = done, done + len(workload.pages)
        return run.over(
            workload.pages, times_s, lambda count: progress(before + count, total, run.label), workload.pushes
        )

    always_on = over(reference)
    times_s = page_times_s(always_on)
    found = [always_on if isinstance(run.policy, AlwaysOn) else over(run, times_s) for run in runs]
    return Comparison(scenario, place, workload, tuple(found), always_on)

"""Jobs of a sweep: tasks that run on the same pages."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from psm_sim.campaign.sweep.grid import SweepTask
from psm_sim.campaign.sweep.table import LABEL, Row
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError, describe_error
from psm_sim.common.formatting import flatten
from psm_sim.common.opened_files import note_opened_files, opened_files
from psm_sim.common.plugins import use_contents
from psm_sim.common.user_code_guards import is_memory_spent
from psm_sim.network import Topology
from psm_sim.simulation.comparison import Comparison
from psm_sim.simulation.policy_comparison import run_comparison
from psm_sim.simulation.result import Result, flatten_failures
from psm_sim.simulation.run import prepare
from psm_sim.simulation.scenario import Scenario
from psm_sim.version import __version__
from psm_sim.workload import load_workload

_EXCLUDED_KEYS = ("policy", "label", "station", "station_policy", "parameters", "pages", "wall_s", "stations")

MAX_POLICIES = 8
"""Maximum number of policies per job.

The policies of a job share an always-on run. If their worker dies, all of them must run again.
"""


@dataclass(frozen=True)
class Job:
    """Policies that run in one scenario, and the rows of their tasks without results.

    The scenario has its topology, without the seed of that. ``is_retry`` states that the single policy has
    run before, in a worker that ended.
    """

    scenario: Scenario
    policies: tuple[Spec, ...]
    rows: tuple[Row, ...]
    is_retry: bool = False

    def split(self) -> list[Job]:
        """Return a job for each policy."""
        pairs = zip(self.policies, self.rows, strict=True)
        return [replace(self, policies=(policy,), rows=(row,), is_retry=True) for policy, row in pairs]

    def failed_and_retried(self, done: Collection[str]) -> tuple[list[Job], list[Job]]:
        """Return a job for each policy: those that have ended the worker, and those that run again.

        Tasks whose keys are in *done* are left out. User code has ended the worker, if only one policy has
        such code. The worker may also have been killed for another reason.
        """
        jobs = [job for job in self.split() if job.rows[0].key not in done]
        if self.is_retry or sum(_has_code(job.policies[0]) for job in jobs) == 1:
            return jobs[-1:], jobs[:-1]
        return [], jobs


def _has_code(policy: Spec) -> bool:
    """Return whether a policy names Python code."""
    return any(file.suffix.lower() == ".py" for file in policy.files())


def make_jobs(tasks: Mapping[str, SweepTask], workers: int) -> list[Job]:
    """Group the tasks of a sweep by scenario, the largest jobs first, so that the last ones are short.

    *tasks* are by their keys. At least one job per worker is made, if there are as many tasks.

    Raises
    ------
    InputError
        If a policy, a trace, a topology or one of their parameters is invalid.
    """
    known: dict[tuple[Any, ...], Any] = {}

    def once(make: Callable[..., Any], name: tuple[Any, ...], *arguments: Any) -> Any:
        if (make, *name) not in known:
            known[make, *name] = make(*arguments)
        return known[make, *name]

    groups: dict[tuple[Any, ...], list[tuple[Spec, Row]]] = {}
    scenarios: dict[tuple[Any, ...], Scenario] = {}
    # User code comes last in a job, because it may fail.
    for key, task in sorted(
        tasks.items(), key=lambda pair: once(_has_code, (str(pair[1].policy),), pair[1].policy)
    ):
        policy, scenario = task.policy, task.scenario
        place: tuple[Any, ...] = (scenario.topology_name, scenario.profile, *scenario.settings.items())
        topology = once(Scenario.resolve_unseeded_topology, place, scenario)
        interval_s, config = topology.beacon.interval_s, once(Topology.config, place, topology)
        own = once(_policy_parameters, (str(policy), interval_s), policy, topology)
        parameters = {
            **({LABEL: policy.label} if policy.label else {}),
            **{f"policy.{policy.name}.{name}": value for name, value in own.items()},
            **once(_trace_parameters, (scenario.trace_name,), scenario),
            **{name: config[name] for name in scenario.settings},
        }
        names = (str(policy), scenario.trace_name, scenario.topology_name)
        row = Row(key, *names, scenario.pages, scenario.seed, parameters)
        place = (scenario.trace_name, scenario.pages, scenario.seed, *place)
        groups.setdefault(place, []).append((policy, row))
        if place not in scenarios:
            scenarios[place] = replace(scenario, topology=topology, settings={}, profile="")
    limit = min(MAX_POLICIES, -(-len(tasks) // workers))
    jobs = []
    for place, members in groups.items():
        for first in range(0, len(members), limit):
            own_policies, rows = zip(*members[first : first + limit], strict=True)
            jobs.append(Job(scenarios[place], own_policies, rows))
    return sorted(jobs, key=lambda job: -job.scenario.pages * len(job.rows))


def _policy_parameters(policy: Spec, topology: Topology) -> Mapping[str, Any]:
    with note_opened_files():
        return prepare(policy, topology).parameters


def _trace_parameters(scenario: Scenario) -> dict[str, Any]:
    values = load_workload(str(scenario.trace), 1, scenario.seed).parameters
    return {f"trace.{name}": _to_number(value) for name, value in values.items()}


def _to_number(value: Any) -> Any:
    """Convert numeric strings to float, because some parameters accept a number or a name."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def run_job(contents: Mapping[str, bytes], job: Job, folder: Path | None = None) -> Iterator[Row]:
    """Run a job in this process, and yield its rows. The row of a failed task contains its error message.

    *contents* are those of the Python files that the policies name. Other files are looked up in *folder*, if
    it is given and this machine has it.

    Raises
    ------
    InputError
        If another version of psm_sim created the job.
    """
    if (version := job.rows[0].version) != __version__:
        raise InputError(
            f"The worker has psm_sim {__version__}, expected {version}; install {version} there."
        )
    if folder:
        with suppress(OSError):
            os.chdir(folder)
    with note_opened_files(), use_contents(contents):
        for row in _run(job):
            yield replace(row, files=opened_files(named=contents))


def _run(job: Job) -> Iterator[Row]:
    """Run a job. If it fails, run each policy without a result separately."""
    finished: list[Comparison] = []
    failure: Exception | None = None
    try:
        finished.append(run_comparison(job.policies, job.scenario, on_failure=finished.append))
    except Exception as error:
        failure = error
    runs = finished[0].runs if finished else ()
    size = len(job.scenario.resolve_topology().stations) or 1  # several kinds of stations have a result each
    measures = [_measures_by_station(runs[start : start + size]) for start in range(0, len(runs), size)]
    yield from (replace(row, measures=each) for row, each in zip(job.rows, measures, strict=False))
    waiting = job.split()[len(measures) :]
    if failure and (finished or len(waiting) == 1):  # the first of them has failed
        text = str(failure) if isinstance(failure, InputError) else describe_error(failure)
        yield replace(waiting.pop(0).rows[0], error=text)
    if failure and waiting and is_memory_spent():
        raise failure  # so that each policy runs in a process of its own
    yield from (row for single in waiting for row in _run(single))


def _measures_by_station(results: Sequence[Result]) -> dict[str, Any]:
    if len(results) == 1:
        return _measures(results[0])
    return {result.station: _measures(result) for result in results}


def _measures(result: Result) -> dict[str, Any]:
    values = {key: value for key, value in result.to_dict().items() if key not in _EXCLUDED_KEYS}
    return flatten(flatten_failures(values))

"""Jobs of a sweep: tasks that run on the same pages."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from psm_sim.simulation.policy_comparison import run_task
from psm_sim.simulation.result import Result, flatten_failures
from psm_sim.simulation.run import Task, prepare
from psm_sim.simulation.scenario import Scenario
from psm_sim.simulation.table import Block
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

    The scenario has its topology, without the seed of that. ``is_retry`` states that a process has ended when
    the first policy was to run.
    """

    scenario: Scenario
    policies: tuple[Spec, ...]
    rows: tuple[Row, ...]
    is_retry: bool = False

    def part(self, first: int, last: int | None = None) -> Job:
        """Return a job for the policies from *first* to before *last*."""
        return Job(self.scenario, self.policies[first:last], self.rows[first:last])


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
    for key, task in tasks.items():
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
    """Yield the row of each policy when it has run. If one fails, run those after it without it.

    If user code has spent the memory of this process, they are left to another one.
    """
    done, is_begun = 0, False
    failure: Exception | None = None
    try:
        outputs = run_task(job.policies, Task(job.scenario, job.scenario.resolve_topology()))
        next(outputs)  # without power saving
        is_begun = True
        for blocks in outputs:
            yield replace(job.rows[done], measures=_measures(blocks))
            done += 1
    except Exception as error:
        failure = error
    if failure is None:
        return
    if not is_begun and len(job.rows) > 1:  # any of them may have failed
        yield from _run(job.part(0, 1))
        done = 1
    else:
        text = str(failure) if isinstance(failure, InputError) else describe_error(failure)
        yield replace(job.rows[done], error=text)
        done += 1
    if done < len(job.rows) and not is_memory_spent():
        yield from _run(job.part(done))


def _measures(blocks: Sequence[Block]) -> dict[str, Any]:
    """Return the measures of a run by name. Several kinds of stations have measures each."""
    kinds: dict[str, list[Block]] = {}
    for block in blocks:
        kinds.setdefault(block.keys["kind"], []).append(block)
    levels = ("station",) if any(kinds) else ()
    measures = {}
    for kind, own in kinds.items():
        values = Result(tuple(own), levels).to_dict()
        measures[kind] = flatten(
            flatten_failures({key: value for key, value in values.items() if key not in _EXCLUDED_KEYS})
        )
    return measures if len(kinds) > 1 else measures[kind]

"""Execution of the tasks of a sweep that its table does not contain yet.

Tasks with the same pages form a job.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from psm_sim.campaign.sweep.grid import SweepTask, to_number
from psm_sim.campaign.sweep.table import LABEL, SweepTable, TaskRow
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError, PluginError
from psm_sim.common.formatting import flatten
from psm_sim.common.input_files import file_digest
from psm_sim.common.opened_files import are_unchanged, note_opened_files, opened_files
from psm_sim.common.parallel import WorkerDiedError, process_count
from psm_sim.common.plugins import use_contents
from psm_sim.common.progress import Progress, no_progress
from psm_sim.common.run_many import WORKERS, run_as_completed, run_in_order
from psm_sim.common.user_code_guards import is_memory_spent, limits_user_code
from psm_sim.network import Topology
from psm_sim.simulation.comparison import reason_of
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
    """Policies to run in one scenario, and for each policy a row that does not contain results yet.

    The topology of the scenario is loaded, but does not depend on the seed yet. ``is_retry`` is true if a
    process has already ended during the first policy.
    """

    scenario: Scenario
    policies: tuple[Spec, ...]
    rows: tuple[TaskRow, ...]
    is_retry: bool = False

    def part(self, first: int, last: int | None = None) -> Job:
        """Return the job of ``policies[first:last]``."""
        return Job(self.scenario, self.policies[first:last], self.rows[first:last])


def make_jobs(tasks: Mapping[str, SweepTask], workers: int) -> tuple[list[Job], list[TaskRow]]:
    """Group the tasks of a sweep by scenario, the largest jobs first, so that the last ones are short.

    *tasks* maps the key of each task to the task. If there are enough tasks, each worker has a job. Each
    policy is first initialised as a trial. If it fails, the rows of its tasks are in the second list and
    contain the error message.

    Raises
    ------
    InputError
        If a policy, a trace, a topology or one of their parameters is invalid.
    """
    topologies: dict[tuple[Any, ...], tuple[Topology, Mapping[str, Any]]] = {}
    traces: dict[str, dict[str, Any]] = {}
    trials: dict[tuple[str, float], tuple[Spec, Topology]] = {}
    for task in tasks.values():
        scenario, network = task.scenario, _network_key(task.scenario)
        if network not in topologies:
            topology = scenario.resolve_unseeded_topology()
            topologies[network] = topology, topology.config()
        if scenario.trace_name not in traces:
            traces[scenario.trace_name] = _trace_parameters(scenario)
        topology, _ = topologies[network]
        trials[str(task.policy), topology.beacon.interval_s] = task.policy, topology
    tried = dict(zip(trials, _try_policies(list(trials.values())), strict=True))

    groups: dict[tuple[Any, ...], list[tuple[Spec, TaskRow]]] = {}
    scenarios: dict[tuple[Any, ...], Scenario] = {}
    failed = []
    for key, task in tasks.items():
        policy, scenario, network = task.policy, task.scenario, _network_key(task.scenario)
        topology, config = topologies[network]
        own, error = tried[str(policy), topology.beacon.interval_s]
        parameters = {
            **({LABEL: policy.label} if policy.label else {}),
            **{f"policy.{policy.name}.{name}": value for name, value in own.items()},
            **traces[scenario.trace_name],
            **{name: config[name] for name in scenario.settings},
        }
        names = (str(policy), scenario.trace_name, scenario.topology_name)
        row = TaskRow(key, *names, scenario.pages, scenario.seed, parameters, error=error)
        if error:
            failed.append(row)
            continue
        group = (scenario.trace_name, scenario.pages, scenario.seed, *network)
        groups.setdefault(group, []).append((policy, row))
        if group not in scenarios:
            scenarios[group] = replace(scenario, topology=topology, settings={}, profile="")
    limit = min(MAX_POLICIES, -(-len(tasks) // max(1, workers)))
    jobs = []
    for group, members in groups.items():
        for first in range(0, len(members), limit):
            own_policies, rows = zip(*members[first : first + limit], strict=True)
            jobs.append(Job(scenarios[group], own_policies, rows))
    return sorted(jobs, key=lambda job: -job.scenario.pages * len(job.rows)), failed


def _network_key(scenario: Scenario) -> tuple[Any, ...]:
    return (scenario.topology_name, scenario.profile, *scenario.settings.items())


def _try_policies(trials: Sequence[tuple[Spec, Topology]]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield the parameters of each policy, and an error message if the policy's own code fails."""
    for outputs, error in run_in_order(_policy_parameters, trials, 1, isolated=limits_user_code()):
        if error is not None and not isinstance(error, (PluginError, WorkerDiedError)):
            raise error
        yield (outputs[0], "") if error is None else ({}, reason_of(error))


def _policy_parameters(trial: tuple[Spec, Topology]) -> Iterator[Mapping[str, Any]]:
    with note_opened_files():
        yield prepare(*trial).parameters


def _trace_parameters(scenario: Scenario) -> dict[str, Any]:
    values = load_workload(str(scenario.trace), 1, scenario.seed).parameters
    return {
        f"trace.{name}": to_number(value) if isinstance(value, str) else value
        for name, value in values.items()
    }


def run_job(contents: Mapping[str, bytes], job: Job, folder: Path | None = None) -> Iterator[TaskRow]:
    """Run a job in this process, and yield its rows. The row of a failed task contains its error message.

    *contents* maps the Python files that the policies name to their bytes. Paths of other files are relative
    to *folder*, if this machine has such a folder.

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


def _run(job: Job) -> Iterator[TaskRow]:
    """Yield the row of each policy after its run. If a policy fails, the policies after it still run.

    If user code has used up the memory of this process, no further policy runs in it.
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
    if not is_begun and len(job.rows) > 1:  # any policy may be at fault
        yield from _run(job.part(0, 1))
        done = 1
    else:
        yield replace(job.rows[done], error=reason_of(failure))
        done += 1
    if done < len(job.rows) and not is_memory_spent():
        yield from _run(job.part(done))


def _measures(blocks: Sequence[Block]) -> dict[str, Any]:
    """Return the measures of a run by name; for several kinds of stations, a mapping for each kind."""
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


class TaskFailedError(InputError):
    """Failure of a *task* of a sweep."""

    def __init__(self, task: SweepTask, error: str) -> None:
        super().__init__(error)
        self.task = task


def run_sweep_tasks(
    tasks: Sequence[SweepTask],
    table: SweepTable,
    workers: int | None = None,
    progress: Progress = no_progress,
    *,
    cluster: str = "",
    fail_fast: bool = False,
) -> list[TaskRow]:
    """Run the *tasks* without a result in *table*, and return one row for each distinct task.

    A task runs again if it has failed, or if a file that it opened has changed.

    Parameters
    ----------
    tasks, table
        Tasks, and the table to which their rows are appended.
    workers : int or None
        Number of local processes. None starts one process per core.
    progress : callable
        Called with the number of finished tasks and the number of tasks to run.
    cluster : str
        Address of a Dask scheduler, or empty to use local processes.
    fail_fast : bool
        Whether the first failure ends the sweep. If false, the row of a failed task contains the error
        message.

    Raises
    ------
    TaskFailedError
        If a task fails and *fail_fast* is true.
    InputError
        If an input is invalid (checked before the first task runs), or if the table cannot be written.
    """
    WORKERS.check(workers, "sweep")
    if cluster and workers is not None:
        raise InputError(
            f"workers={workers} conflicts with cluster={cluster!r}, which has its own workers; remove one of"
            " them."
        )
    digest = cache(file_digest)
    by_key = {task.scenario.key([task.policy], digest): task for task in tasks}
    is_current = {files: are_unchanged(dict(files)) for files in {_opened(row) for row in table.rows}}
    rows = {
        row.key: row for row in table.rows if row.key in by_key and not row.error and is_current[_opened(row)]
    }
    missing = {key: task for key, task in by_key.items() if key not in rows}

    def add(finished: Sequence[TaskRow]) -> None:
        table.append(finished)
        rows.update((row.key, row) for row in finished)
        left = len(by_key) - len(rows)
        progress(len(missing) - left, len(missing), "")
        for row in finished:
            if fail_fast and row.error:
                raise TaskFailedError(by_key[row.key], row.error)

    # Read once, before the checks run user code, so that later edits do not change the results.
    policies = {str(task.policy): task.policy for task in missing.values()}
    files = {file for policy in policies.values() for file in policy.files()}
    contents = {str(file): file.read_bytes() for file in files if file.suffix.lower() == ".py"}
    processes = 1 if cluster else process_count(len(missing), workers)
    jobs, failed = make_jobs(missing, processes)
    # Readers use the last row of a task. If the files of an earlier row have their old content again, the
    # earlier row is appended again.
    last = {row.task: row for row in table.rows}
    table.append([row for row in rows.values() if last[row.task] is not row])
    add(failed)
    names_files = {key for job in jobs for key in _keys_with_files(job)}
    isolated = bool(names_files) if cluster else limits_user_code()
    function = partial(run_job, contents, folder=Path.cwd() if cluster and isolated else None)
    waiting = deque(jobs)
    with closing(run_as_completed(function, waiting, processes, cluster, isolated)) as outputs:
        for job, output in outputs:
            first = sum(row.key in rows for row in job.rows)
            if isinstance(output, TaskRow):
                opened = output.files if output.key in names_files else {}
                if cluster:
                    opened = {path: digest for path, digest in opened.items() if Path(path).exists()}
                add([replace(output, files=opened)])
            elif first < len(job.rows):
                retried, finished = _after_end(job.part(first) if first else job, output.error)
                waiting.extend(retried)
                add(finished)
    return [rows[key] for key in by_key]


def _after_end(job: Job, error: BaseException | None) -> tuple[list[Job], list[TaskRow]]:
    """Return the jobs to repeat, and the rows of failed tasks, if *job* ends before its last task.

    If the process died, the first task has failed if its policy is in a user's file, or if this is a retry.
    Otherwise, the process may have been killed from outside, and the whole job is repeated. After any other
    error, all tasks have failed.
    """
    if error is None:  # another task has spent the memory of the process
        return [job], []
    died = isinstance(error, WorkerDiedError)
    has_code = any(file.suffix.lower() == ".py" for file in job.policies[0].files())
    if died and not (has_code or job.is_retry):
        return [replace(job, is_retry=True)], []
    failed = job.rows[:1] if died else job.rows
    rest = [job.part(len(failed))] if len(failed) < len(job.rows) else []
    return rest, [replace(row, error=reason_of(error)) for row in failed]


def _opened(row: TaskRow) -> tuple[tuple[str, str], ...]:
    return tuple(row.files.items())


def _keys_with_files(job: Job) -> list[str]:
    """Return the keys of the tasks that name a file. The code in this file may open further files."""
    stations = job.scenario.resolve_topology().stations
    shared = [Spec.parse(station.policy, "policy") for station in stations if station.policy]
    shared.append(Spec.parse(job.scenario.trace_name, "trace"))
    has_files = any(spec.files() for spec in shared)
    pairs = zip(job.policies, job.rows, strict=True)
    return [row.key for policy, row in pairs if has_files or policy.files()]

"""Batches of tasks for one worker, and their execution."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from psm_sim.campaign.sweep.task_outcome import Outcome
from psm_sim.campaign.sweep.user_files import (
    LocalFiles,
    PathMap,
    UserFiles,
    relocate_paths,
    restore_user_paths,
)
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError, describe_error
from psm_sim.common.formatting import flatten
from psm_sim.network import Topology
from psm_sim.policies.always_on import AlwaysOn
from psm_sim.simulation.policy_comparison import compare_runs
from psm_sim.simulation.result import Result, flatten_failures
from psm_sim.simulation.run import page_times_s, prepare
from psm_sim.simulation.scenario import Scenario
from psm_sim.version import __version__
from psm_sim.workload import Workload, load_workload

MAX_POLICIES = 8
"""Maximum number of policies per job.

The policies of a job share an always-on run. If their worker dies, all of them must run again.
"""

_ALWAYS_ON = Spec("always-on")
_EXCLUDED_KEYS = ("policy", "parameters", "pages", "wall_s", "stations")


@dataclass(frozen=True)
class Job:
    """Policies that run on the same pages, and the keys of their tasks."""

    resolved_topology: Topology
    trace: Spec
    pages: int
    seed: int
    policies: tuple[Spec, ...]
    keys: tuple[str, ...]


@dataclass(frozen=True)
class Batch:
    """Jobs that one worker runs one after the other, and the user files that they need."""

    jobs: tuple[Job, ...]
    files: UserFiles | LocalFiles
    version: str = __version__

    @property
    def keys(self) -> list[str]:
        """Keys of all tasks of the batch."""
        return [key for job in self.jobs for key in job.keys]


def run_batch(batch: Batch) -> list[Outcome]:
    """Run the jobs in this process. The outcome of a failed task contains its error message.

    Raises
    ------
    InputError
        If another version of psm_sim created the batch.
    """
    if batch.version != __version__:
        raise InputError(
            f"The worker has psm_sim {__version__}, expected {batch.version}; install {batch.version} there."
        )
    paths = batch.files.worker_paths()
    return [outcome for job in batch.jobs for outcome in _run_job(job, paths)]


def _run_job(job: Job, paths: PathMap) -> Iterator[Outcome]:
    if job.resolved_topology.stations:
        yield from _run_station_job(job, paths)
        return
    begun = time.perf_counter()
    try:
        workload = load_workload(relocate_paths(job.trace, paths), job.pages, job.seed)
        always_on = prepare(_ALWAYS_ON, job.resolved_topology).execute(
            workload.pages, messages=workload.messages
        )
    except Exception as error:
        yield from (Outcome(key, None, _error_message(error, paths)) for key in job.keys)
        return
    shared_s = (time.perf_counter() - begun) / len(job.keys)
    for key, policy in _tasks(job):
        yield _run_task(key, relocate_paths(policy, paths), (job, workload, always_on), paths, shared_s)


def _run_task(
    key: str, policy: Spec, shared: tuple[Job, Workload, Result], paths: PathMap, shared_s: float
) -> Outcome:
    """Run one policy of a job, on the workload of its always-on run.

    Parameters
    ----------
    key, policy
        Task to run.
    shared : tuple of (Job, Workload, Result)
        Job, workload and always-on result, which all policies of the job share.
    paths : mapping
        See :data:`~psm_sim.campaign.sweep.user_files.PathMap`.
    shared_s : float
        Share of the task in the time of the always-on run, in seconds.
    """
    begun, (job, workload, always_on) = time.perf_counter(), shared
    try:
        run = prepare(policy, job.resolved_topology)
        is_always_on = isinstance(run.policy, AlwaysOn)
        times_s = page_times_s(always_on)
        result = (
            always_on if is_always_on else run.execute(workload.pages, times_s, messages=workload.messages)
        )
    except Exception as error:
        return Outcome(key, None, _error_message(error, paths), shared_s + time.perf_counter() - begun)
    return Outcome(key, _measures(result), None, shared_s + time.perf_counter() - begun)


def _run_station_job(job: Job, paths: PathMap) -> Iterator[Outcome]:
    """Run a job whose topology has several stations. If it fails, run each policy separately."""
    begun = time.perf_counter()
    try:
        scenario = Scenario(relocate_paths(job.trace, paths), job.resolved_topology, job.pages, job.seed)
        runs = compare_runs([relocate_paths(policy, paths) for policy in job.policies], scenario).runs
    except Exception as error:
        if len(job.keys) == 1:
            yield Outcome(job.keys[0], None, _error_message(error, paths), time.perf_counter() - begun)
        else:
            singles = (replace(job, policies=(policy,), keys=(key,)) for key, policy in _tasks(job))
            yield from (outcome for single in singles for outcome in _run_station_job(single, paths))
        return
    wall_s = (time.perf_counter() - begun) / len(runs)
    yield from (Outcome(key, _measures(run), None, wall_s) for key, run in zip(job.keys, runs, strict=True))


def _tasks(job: Job) -> Iterator[tuple[str, Spec]]:
    """Return pairs (key, policy) of the tasks of a job."""
    return zip(job.keys, job.policies, strict=True)


def _measures(result: Result) -> dict[str, Any]:
    values = {key: value for key, value in result.to_dict().items() if key not in _EXCLUDED_KEYS}
    return flatten(flatten_failures(values))


def _error_message(error: Exception, paths: PathMap) -> str:
    text = str(error) if isinstance(error, InputError) else describe_error(error)
    return restore_user_paths(text, paths)


def split_batches(groups: Sequence[Sequence[Any]], size: int) -> list[list[Any]]:
    """Split groups into groups of at most *size* elements, in the same order."""
    return [list(group[first : first + size]) for group in groups for first in range(0, len(group), size)]

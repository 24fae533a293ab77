"""Work of a sweep: batches of tasks as a worker gets them, and what comes of each."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from psm_sim.campaign.sweep.outcome import Outcome
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
from psm_sim.simulation.compare_policies import compare_runs
from psm_sim.simulation.failed_pages import flatten_failures
from psm_sim.simulation.result import Result
from psm_sim.simulation.run import page_times_s, prepare
from psm_sim.simulation.scenario import Scenario
from psm_sim.version import __version__
from psm_sim.workload import Workload, load_workload

MAX_POLICIES = 8
"""The most policies of one job: they share a run without power saving, and are lost together."""

_ALWAYS_ON = Spec("always-on")
_NO_MEASURES = ("policy", "parameters", "pages", "wall_s", "stations")


@dataclass(frozen=True)
class Job:
    """Policies over the same pages, and the keys of their tasks, one for each."""

    resolved_topology: Topology
    trace: Spec
    pages: int
    seed: int
    policies: tuple[Spec, ...]
    keys: tuple[str, ...]


@dataclass(frozen=True)
class Batch:
    """Jobs that one worker does one after the other, and the files that they name."""

    jobs: tuple[Job, ...]
    files: UserFiles | LocalFiles
    version: str = __version__

    @property
    def keys(self) -> list[str]:
        """The keys of all its tasks."""
        return [key for job in self.jobs for key in job.keys]


def run_batch(batch: Batch) -> list[Outcome]:
    """Do the jobs, here; a task that fails is an outcome as well, and does not stop the others.

    Raises
    ------
    InputError
        If another version of psm_sim has made the batch.
    """
    if batch.version != __version__:
        raise InputError(f"The worker has psm_sim {__version__}; expected {batch.version}: install that one.")
    places = batch.files.places()
    return [outcome for job in batch.jobs for outcome in _outcomes(job, places)]


def _outcomes(job: Job, places: PathMap) -> Iterator[Outcome]:
    if job.resolved_topology.stations:
        yield from _among(job, places)
        return
    begun = time.perf_counter()
    try:
        workload = load_workload(relocate_paths(job.trace, places), job.pages, job.seed)
        always_on = prepare(_ALWAYS_ON, job.resolved_topology).execute(
            workload.pages, messages=workload.messages
        )
    except Exception as error:
        yield from (Outcome(key, None, _sentence(error, places)) for key in job.keys)
        return
    shared_s = (time.perf_counter() - begun) / len(job.keys)
    for key, policy in _tasks(job):
        yield _outcome(key, relocate_paths(policy, places), (job, workload, always_on), places, shared_s)


def _outcome(
    key: str, policy: Spec, over: tuple[Job, Workload, Result], places: PathMap, shared_s: float
) -> Outcome:
    begun, (job, workload, always_on) = time.perf_counter(), over
    try:
        run = prepare(policy, job.resolved_topology)
        same = isinstance(run.policy, AlwaysOn)
        times_s = page_times_s(always_on)
        result = always_on if same else run.execute(workload.pages, times_s, messages=workload.messages)
    except Exception as error:
        return Outcome(key, None, _sentence(error, places), shared_s + time.perf_counter() - begun)
    return Outcome(key, _measures(result), None, shared_s + time.perf_counter() - begun)


def _among(job: Job, places: PathMap) -> Iterator[Outcome]:
    """Run the policies on several stations of one access point; if that fails, each by itself."""
    begun = time.perf_counter()
    try:
        scenario = Scenario(relocate_paths(job.trace, places), job.resolved_topology, job.pages, job.seed)
        runs = compare_runs([relocate_paths(policy, places) for policy in job.policies], scenario).runs
    except Exception as error:
        if len(job.keys) == 1:
            yield Outcome(job.keys[0], None, _sentence(error, places), time.perf_counter() - begun)
        else:
            alone = (replace(job, policies=(each,), keys=(key,)) for key, each in _tasks(job))
            yield from (outcome for each in alone for outcome in _among(each, places))
        return
    wall_s = (time.perf_counter() - begun) / len(runs)
    yield from (Outcome(key, _measures(run), None, wall_s) for key, run in zip(job.keys, runs, strict=True))


def _tasks(job: Job) -> Iterator[tuple[str, Spec]]:
    """Yield the key and the policy of each of its tasks."""
    return zip(job.keys, job.policies, strict=True)


def _measures(result: Result) -> dict[str, Any]:
    values = {key: value for key, value in result.to_dict().items() if key not in _NO_MEASURES}
    return flatten(flatten_failures(values))


def _sentence(error: Exception, places: PathMap) -> str:
    text = str(error) if isinstance(error, InputError) else describe_error(error)
    return restore_user_paths(text, places)


def split_batches(groups: Sequence[Sequence[Any]], most: int) -> list[list[Any]]:
    """Return groups of at most *most* elements each, in the same order."""
    return [list(group[first : first + most]) for group in groups for first in range(0, len(group), most)]

"""Execution of a sweep, which runs the tasks that its store does not contain yet."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

from psm_sim.campaign.sweep.cluster import run_on_cluster
from psm_sim.campaign.sweep.database import lock_store
from psm_sim.campaign.sweep.grid import SweepTask
from psm_sim.campaign.sweep.job import Job, Outcome, run_job
from psm_sim.campaign.sweep.planning import PlannedTask, TaskChecker, TopologyCache, plan_tasks
from psm_sim.campaign.sweep.store import Store, StoredRow
from psm_sim.campaign.sweep.user_files import UserFiles
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError, describe_error
from psm_sim.common.parallel import WorkerDiedError, process_count, unordered_map
from psm_sim.common.parameters import Parameter
from psm_sim.common.progress import Progress, no_progress
from psm_sim.common.provenance import collect_provenance
from psm_sim.simulation.scenario import Scenario

MAX_POLICIES = 8
"""Maximum number of policies per job.

The policies of a job share an always-on run. If their worker dies, all of them must run again.
"""

_WORKERS = Parameter("workers", 1, at_least=1, at_most=1024)


@dataclass(frozen=True)
class Resources:
    """Workers of a sweep, which are processes of this machine or of a Dask cluster.

    Parameters
    ----------
    workers : int or None
        Number of local processes. None starts one per core.
    cluster : str
        Address of a Dask scheduler, or empty to use local processes.
    retry : bool
        Whether to run failed tasks again.
    """

    workers: int | None = None
    cluster: str = ""
    retry: bool = False

    def __post_init__(self) -> None:
        if self.workers is not None:
            _WORKERS.check(self.workers, "sweep")
            if self.cluster:
                raise InputError(
                    f"workers={self.workers} conflicts with cluster={self.cluster!r}, which has its own "
                    "workers; remove one of them."
                )


def run_sweep_tasks(
    sweep_tasks: Sequence[SweepTask],
    store: Store,
    resources: Resources | None = None,
    command: str = "",
    progress: Progress = no_progress,
    fail_fast: bool = False,
) -> list[StoredRow]:
    """Run the *sweep_tasks* that the *store* does not contain, and return all rows, without duplicates.

    *resources* are the workers. *command* is listed in the store. *progress* is called with the number of
    finished tasks and of all tasks that run. With *fail_fast*, no task runs after one has failed.

    Raises
    ------
    InputError
        If an input is invalid (checked before the first task runs), if another sweep uses the store, or if
        the store cannot be written.
    """
    tasks = plan_tasks(sweep_tasks)
    resources = resources or Resources()
    with lock_store(store.path):
        states = store.states()
        final = ("done",) if resources.retry else ("done", "failed")
        missing = [task for task in tasks if states.get(task.key) not in final]
        # read the files before the checks, which run user code
        files = UserFiles.of(planned.task for planned in missing)
        check = TaskChecker()
        store.enrol(tasks, {task.key: check.parameters(task) for task in missing})
        if missing:
            sweep = store.begin(command, collect_provenance(_user_files(missing)))
            _run_missing(missing, files, store, resources, sweep, progress, fail_fast)
    return store.rows(keys=[task.key for task in tasks])


def _run_missing(
    tasks: Sequence[PlannedTask],
    files: UserFiles,
    store: Store,
    resources: Resources,
    sweep: int,
    progress: Progress,
    fail_fast: bool,
) -> None:
    """Run the tasks of a sweep, store their outcomes, and report the number of finished tasks.

    The tasks of a job that returned no outcomes run again one at a time, because one of them may have ended
    the worker. A task that returns no outcome again fails.
    """
    workers = 1 if resources.cluster else process_count(len(tasks), resources.workers)
    jobs, again, done = deque(_jobs(tasks, workers)), set[str](), 0
    status = "interrupted"
    try:
        progress(done, len(tasks), "")
        with _results(jobs, files, workers, resources.cluster) as results:
            for job, result in results:
                if isinstance(result, BaseException):
                    if again.isdisjoint(job.keys):
                        again.update(job.keys)
                        jobs.extend(job.split())
                        continue
                    reason = result if isinstance(result, WorkerDiedError) else describe_error(result)
                    error = f"The worker returned no result: {reason}"
                    outcomes = [Outcome(key, None, error) for key in job.keys]
                else:
                    outcomes = [_with_files_here(each) for each in result] if resources.cluster else result
                store.record(outcomes)
                done += len(outcomes)
                progress(done, len(tasks), "")
                if fail_fast and any(outcome.error for outcome in outcomes):
                    break
        status = "finished" if done == len(tasks) else "failed"
    except Exception:  # interrupts and signals are not subclasses of Exception
        status = "failed"
        raise
    finally:
        store.end(sweep, status)


def _with_files_here(outcome: Outcome) -> Outcome:
    """Return an outcome without those files of its worker that do not exist on this machine."""
    return replace(
        outcome, files={path: digest for path, digest in outcome.files.items() if Path(path).exists()}
    )


@contextmanager
def _results(
    jobs: deque[Job], files: UserFiles, workers: int, cluster: str
) -> Iterator[Iterator[tuple[Job, list[Outcome] | BaseException]]]:
    """Yield an iterator over the jobs with their outcomes or exceptions. The workers end with the block."""
    if cluster:
        with closing(run_on_cluster(files, jobs, cluster)) as results:
            yield results
        return
    with TemporaryDirectory(prefix="psm_sim-") as folder:
        # Edits during the sweep do not change the copies.
        copies = files.write_to(Path(folder))
        with closing(unordered_map(partial(run_job, copies), jobs, workers)) as results:
            yield results


def _jobs(tasks: Sequence[PlannedTask], workers: int) -> list[Job]:
    """Group the tasks of each scenario into jobs, the largest first, so that the last ones are short."""
    topologies = TopologyCache()
    limit = min(MAX_POLICIES, -(-len(tasks) // workers))
    ordered = sorted(tasks, key=lambda task: repr(task.scenario_id))
    jobs = []
    for _, members in groupby(ordered, lambda task: task.scenario_id):
        group = list(members)
        firsts = range(0, len(group), limit)
        jobs += [_job(group[first : first + limit], topologies) for first in firsts]
    return sorted(jobs, key=lambda job: -job.pages * len(job.keys))


def _job(group: Sequence[PlannedTask], topologies: TopologyCache) -> Job:
    scenario = group[0].task.scenario
    return Job(
        topologies.of(group[0]),
        Spec.parse(scenario.trace_name, "trace"),
        scenario.pages,
        scenario.seed,
        scenario.battery,
        tuple(member.task.policy for member in group),
        tuple(member.key for member in group),
    )


def _user_files(tasks: Sequence[PlannedTask]) -> list[Path]:
    """Return the user files that the tasks name."""
    scenarios = {(task.scenario_id[0], task.topology_id): task.task.scenario for task in tasks}
    policies = {str(task.task.policy): task.task.policy for task in tasks}
    named = [scenario.files() for scenario in scenarios.values()] + [
        Scenario().files(list(policies.values()))
    ]
    return list(dict.fromkeys(file for files in named for file in files))

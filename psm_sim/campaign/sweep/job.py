"""Job of a sweep: the policies that run on the same pages, and the outcomes of these tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from psm_sim.campaign.sweep.user_files import PathMap, UserFiles, relocate_paths, restore_user_paths
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError, describe_error
from psm_sim.common.formatting import flatten
from psm_sim.common.opened_files import note_opened_files, opened_files
from psm_sim.common.user_code_guards import is_memory_spent
from psm_sim.network import Topology
from psm_sim.simulation.policy_comparison import run_comparison
from psm_sim.simulation.result import Result, flatten_failures
from psm_sim.simulation.scenario import Scenario
from psm_sim.version import __version__

_EXCLUDED_KEYS = ("policy", "station", "station_policy", "parameters", "pages", "wall_s", "stations")


@dataclass(frozen=True)
class Outcome:
    """Measures of a finished task by name, or the error message of a failed task.

    With several ``[[stations]]`` tables, the measures of each one are nested under its name. *files* are
    those that user code has opened in the worker and that the task does not name: digests by absolute path.
    """

    key: str
    measures: Mapping[str, Any] | None = None
    error: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Job:
    """Policies that run on the same pages, and the keys of their tasks.

    A cluster runs a job that ``is_alone`` while no other one runs.
    """

    resolved_topology: Topology
    trace: Spec
    pages: int
    seed: int
    battery: str | None
    policies: tuple[Spec, ...]
    keys: tuple[str, ...]
    version: str = __version__
    is_alone: bool = False

    def split(self) -> list[Job]:
        """Return a job for each policy, which runs alone."""
        pairs = zip(self.policies, self.keys, strict=True)
        return [replace(self, policies=(policy,), keys=(key,), is_alone=True) for policy, key in pairs]


def run_job(files: UserFiles | PathMap, job: Job) -> list[Outcome]:
    """Run a job in this process. The outcome of a failed task contains its error message.

    *files* are those that the job names, as contents or as copies that this process can read.

    Raises
    ------
    InputError
        If another version of psm_sim created the job.
    """
    if job.version != __version__:
        raise InputError(
            f"The worker has psm_sim {__version__}, expected {job.version}; install {job.version} there."
        )
    paths = files.worker_paths() if isinstance(files, UserFiles) else files
    with note_opened_files():
        outcomes = list(_run(job, paths))
    opened = opened_files(named=(*paths, *paths.values()))
    return [
        replace(outcome, files=opened) if _has_files(relocate_paths(policy, paths), job) else outcome
        for policy, outcome in zip(job.policies, outcomes, strict=True)
    ]


def _has_files(policy: Spec, job: Job) -> bool:
    """Return whether a policy of a task names a file, so that it may run user code."""
    stations = [station.policy for station in job.resolved_topology.stations if station.policy]
    return any(spec.files() for spec in (policy, *(Spec.parse(text, "policy") for text in stations)))


def _run(job: Job, paths: PathMap) -> Iterator[Outcome]:
    """Run a job. If it fails, run each policy separately."""
    try:
        scenario = Scenario(
            relocate_paths(job.trace, paths), job.resolved_topology, job.pages, job.seed, battery=job.battery
        )
        runs = run_comparison([relocate_paths(policy, paths) for policy in job.policies], scenario).runs
        size = len(runs) // len(job.keys)  # several kinds of stations have a result each
        measures = [_measures_by_station(runs[start : start + size]) for start in range(0, len(runs), size)]
    except Exception as error:
        if len(job.keys) == 1:
            yield Outcome(job.keys[0], None, _error_message(error, paths))
        elif is_memory_spent():
            raise  # so that each policy runs in a process of its own
        else:
            yield from (outcome for single in job.split() for outcome in _run(single, paths))
        return
    yield from map(Outcome, job.keys, measures)


def _measures_by_station(results: Sequence[Result]) -> dict[str, Any]:
    if len(results) == 1:
        return _measures(results[0])
    return {result.station: _measures(result) for result in results}


def _measures(result: Result) -> dict[str, Any]:
    values = {key: value for key, value in result.to_dict().items() if key not in _EXCLUDED_KEYS}
    return flatten(flatten_failures(values))


def _error_message(error: Exception, paths: PathMap) -> str:
    text = str(error) if isinstance(error, InputError) else describe_error(error)
    return restore_user_paths(text, paths)

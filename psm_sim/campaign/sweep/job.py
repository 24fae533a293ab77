"""Jobs of a sweep: tasks that run on the same pages."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from psm_sim.campaign.sweep.grid import SweepTask
from psm_sim.campaign.sweep.table import LABEL, Row
from psm_sim.campaign.sweep.user_files import PathMap, UserFiles, relocate_paths, restore_user_paths
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError, describe_error
from psm_sim.common.formatting import flatten
from psm_sim.common.opened_files import note_opened_files, opened_files
from psm_sim.common.user_code_guards import is_memory_spent
from psm_sim.network import Topology
from psm_sim.simulation.comparison import Comparison
from psm_sim.simulation.policy_comparison import run_comparison
from psm_sim.simulation.result import Result, flatten_failures
from psm_sim.simulation.run import prepare
from psm_sim.simulation.scenario import Scenario
from psm_sim.version import __version__
from psm_sim.workload import load_workload

_EXCLUDED_KEYS = ("policy", "station", "station_policy", "parameters", "pages", "wall_s", "stations")

MAX_POLICIES = 8
"""Maximum number of policies per job.

The policies of a job share an always-on run. If their worker dies, all of them must run again.
"""


@dataclass(frozen=True)
class Job:
    """Policies that run in one scenario, and the rows of their tasks without results.

    ``is_retry`` states that its single policy has run before, in a worker that ended.
    """

    scenario: Scenario
    topology: Topology
    policies: tuple[Spec, ...]
    rows: tuple[Row, ...]
    is_retry: bool = False

    def split(self) -> list[Job]:
        """Return a job for each policy."""
        pairs = zip(self.policies, self.rows, strict=True)
        return [replace(self, policies=(policy,), rows=(row,), is_retry=True) for policy, row in pairs]

    def failed_and_retried(self, done: Collection[str]) -> tuple[list[Job], list[Job]]:
        """Return a job for each policy: those that have ended the worker, and those that run again.

        Tasks whose keys are in *done* are left out.

        User code has ended it, if only one policy has such code. The worker may also have been killed for
        another reason.
        """
        jobs = [job for job in self.split() if job.rows[0].key not in done]
        if self.is_retry or sum(_has_code(job.policies[0]) for job in jobs) == 1:
            return jobs[-1:], jobs[:-1]
        return [], jobs


def make_jobs(tasks: Mapping[str, SweepTask], workers: int) -> list[Job]:
    """Group the tasks of a sweep by scenario, the largest jobs first, so that the last ones are short.

    *tasks* are by their keys. At least one job per worker is made, if there are as many tasks.

    Raises
    ------
    InputError
        If a policy, a trace, a topology or one of their parameters is invalid.
    """
    inputs = _Inputs()
    groups: dict[tuple[Any, ...], list[tuple[Spec, Row]]] = {}
    scenarios: dict[tuple[Any, ...], Scenario] = {}
    # User code comes last in a job, because it may fail.
    for key, task in sorted(tasks.items(), key=lambda pair: _has_code(pair[1].policy)):
        scenario = task.scenario
        names = (str(task.policy), scenario.trace_name, scenario.topology_name)
        row = Row(key, *names, scenario.pages, scenario.seed, inputs.parameters(task))
        place = (scenario.trace_name, scenario.pages, scenario.seed, *_topology_id(scenario))
        scenarios[place] = scenario
        groups.setdefault(place, []).append((task.policy, row))
    limit = min(MAX_POLICIES, -(-len(tasks) // workers))
    jobs = []
    for place, members in groups.items():
        topology = replace(inputs.topology(scenarios[place]), seed=scenarios[place].seed)
        for first in range(0, len(members), limit):
            policies, rows = zip(*members[first : first + limit], strict=True)
            jobs.append(Job(scenarios[place], topology, policies, rows))
    return sorted(jobs, key=lambda job: -job.scenario.pages * len(job.rows))


class _Inputs:
    """Policies, traces and topologies of tasks, which are loaded once."""

    def __init__(self) -> None:
        self._topologies: dict[tuple[Any, ...], Topology] = {}
        self._policies: dict[tuple[str, float], dict[str, Any]] = {}
        self._traces: dict[str, dict[str, Any]] = {}

    def topology(self, scenario: Scenario) -> Topology:
        """Return the topology of a scenario without its seed."""
        key = _topology_id(scenario)
        if key not in self._topologies:
            self._topologies[key] = scenario.resolve_unseeded_topology()
        return self._topologies[key]

    def parameters(self, task: SweepTask) -> dict[str, Any]:
        """Return the parameters of the policy and the trace of a task, and its settings."""
        policy, scenario, topology = task.policy, task.scenario, self.topology(task.scenario)
        prepared = (str(policy), topology.beacon.interval_s)
        if prepared not in self._policies:
            with note_opened_files():
                self._policies[prepared] = prepare(policy, topology).parameters
        if scenario.trace_name not in self._traces:
            values = load_workload(str(scenario.trace), 1, scenario.seed).parameters
            self._traces[scenario.trace_name] = {key: _to_number(value) for key, value in values.items()}
        config = topology.config() if scenario.settings else {}
        return {
            **({LABEL: policy.label} if policy.label else {}),
            **{f"policy.{policy.name}.{key}": value for key, value in self._policies[prepared].items()},
            **{f"trace.{key}": value for key, value in self._traces[scenario.trace_name].items()},
            **{key: config[key] for key in scenario.settings},
        }


def _topology_id(scenario: Scenario) -> tuple[Any, ...]:
    return (scenario.topology_name, scenario.profile, *scenario.settings.items())


def _to_number(value: Any) -> Any:
    """Convert numeric strings to float, because some parameters accept a number or a name."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def run_job(files: UserFiles | PathMap, job: Job) -> Iterator[Row]:
    """Run a job in this process, and yield its rows. The row of a failed task contains its error message.

    *files* are those that the job names, as contents or as copies that this process can read.

    Raises
    ------
    InputError
        If another version of psm_sim created the job.
    """
    if (version := job.rows[0].version) != __version__:
        raise InputError(
            f"The worker has psm_sim {__version__}, expected {version}; install {version} there."
        )
    paths = files.worker_paths() if isinstance(files, UserFiles) else files
    with note_opened_files():
        for policy, row in zip(job.policies, _run(job, paths), strict=True):
            has_files = _has_files(relocate_paths(policy, paths), job)
            yield replace(row, files=opened_files(named=(*paths, *paths.values()))) if has_files else row


def _has_code(policy: Spec) -> bool:
    return any(file.suffix.lower() == ".py" for file in policy.files())


def _has_files(policy: Spec, job: Job) -> bool:
    """Return whether a policy of a task names a file, so that it may run user code."""
    stations = [station.policy for station in job.topology.stations if station.policy]
    return any(spec.files() for spec in (policy, *(Spec.parse(text, "policy") for text in stations)))


def _run(job: Job, paths: PathMap) -> Iterator[Row]:
    """Run a job. If it fails, run each policy without a result separately."""
    finished: list[Comparison] = []
    failure: Exception | None = None
    size = len(job.topology.stations) or 1  # several kinds of stations have a result each

    def keep(partial: Comparison) -> None:
        if len(partial.runs) // size + len(partial.missing) == len(job.rows):  # no client is missing
            finished.append(partial)

    try:
        trace = relocate_paths(Spec.parse(job.scenario.trace_name, "trace"), paths)
        scenario = replace(job.scenario, trace=trace, topology=job.topology, settings={}, profile="")
        policies = [relocate_paths(policy, paths) for policy in job.policies]
        finished.append(run_comparison(policies, scenario, on_failure=keep))
    except Exception as error:
        failure = error
    runs = finished[0].runs if finished else ()
    measures = [_measures_by_station(runs[start : start + size]) for start in range(0, len(runs), size)]
    yield from (replace(row, measures=each) for row, each in zip(job.rows, measures, strict=False))
    waiting = job.split()[len(measures) :]
    if failure and (finished or len(waiting) == 1):  # the first of them has failed
        text = str(failure) if isinstance(failure, InputError) else describe_error(failure)
        yield replace(waiting.pop(0).rows[0], error=restore_user_paths(text, paths))
    if failure and waiting and is_memory_spent():
        raise failure  # so that each policy runs in a process of its own
    yield from (row for single in waiting for row in _run(single, paths))


def _measures_by_station(results: Sequence[Result]) -> dict[str, Any]:
    if len(results) == 1:
        return _measures(results[0])
    return {result.station: _measures(result) for result in results}


def _measures(result: Result) -> dict[str, Any]:
    values = {key: value for key, value in result.to_dict().items() if key not in _EXCLUDED_KEYS}
    return flatten(flatten_failures(values))

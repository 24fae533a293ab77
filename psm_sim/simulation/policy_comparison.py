"""Runs of several policies on the same pages, for one or several seeds, clients and stations."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.common.parallel import Ended, WorkerDiedError, report_progress, unordered_map
from psm_sim.common.parameters import Parameter
from psm_sim.common.progress import Progress, no_progress
from psm_sim.common.run_many import WORKERS, run_in_order
from psm_sim.network import Observer, Topology
from psm_sim.policies.factory import PolicyLike, label_of, spec_text
from psm_sim.policies.psm import AlwaysOn
from psm_sim.simulation.comparison import (
    NO_REFERENCES,
    REFERENCE_NUMBER,
    Comparison,
    References,
    all_policies,
    reason_of,
    roles_of,
)
from psm_sim.simulation.run import (
    Run,
    StationSetup,
    Task,
    execute,
    observe_station,
    page_times_s,
    prepare,
    prepare_stations,
)
from psm_sim.simulation.run_outputs import NO_OUTPUTS, RunOutputs
from psm_sim.simulation.scenario import Scenario
from psm_sim.simulation.table import Block

_ALWAYS_ON = Spec("always-on")
# With 10,000 replications, the 95 % interval of the mean is +-2 % of the standard deviation.
_REPLICATIONS = Parameter("replications", 1, at_least=1, at_most=10_000)

OnFailure = Callable[[Comparison], None]
"""Function called with the finished part of a comparison, before the exception that ended it is raised."""


def run_comparison(
    policies: Sequence[PolicyLike],
    scenario: Scenario,
    replications: int = 1,
    progress: Progress = no_progress,
    workers: int | None = None,
    references: References = NO_REFERENCES,
    outputs: RunOutputs = NO_OUTPUTS,
    on_failure: OnFailure = lambda _: None,
    isolated: bool = False,
) -> Comparison:
    """Run each policy, and a policy without power saving, on the pages of each seed or client.

    All policies are initialised before the first page is loaded, so that errors are found early.

    Parameters
    ----------
    policies
        At least one policy: names with optional parameters (``"bsd:p=0.5"``), ``FILE.py:CLASS``, specs
        or policy instances.
    scenario
        Pages, topology and first seed. ``scenario.pages`` is the maximum number of pages for each client.
    replications
        Number of consecutive seeds, at least 1.
    progress
        Called after each seed or client, if there are several. Otherwise called with the numbers of loaded
        and of all pages, before each policy and, with a single station, after each page.
    workers
        Number of processes for several seeds or clients; None uses all cores. The results do not depend on
        this number.
    references
        Baselines, and the reference for relative energy and slowdown.
    outputs
        Files to write. Only supported for a single seed and client. If a policy fails, no file is written.
    on_failure
        Called with a partial comparison before an exception is raised, unless there is no result. A partial
        comparison has the seeds or clients for which all policies have finished, or, if there is none, the
        finished policies of the first seed or client.
    isolated
        Whether to simulate in other processes, so that user code cannot end this process.

    Raises
    ------
    InputError
        If an argument is invalid, or the pages do not depend on the seed. No simulation has started then.
    """
    _REPLICATIONS.check(replications, "comparison")
    WORKERS.check(workers, "comparison")
    simulated = all_policies(policies, references)
    topology = scenario.resolve_topology()
    if replications > 1:
        outputs.refuse(f"{replications} replications")
    else:
        outputs.check(policies, scenario, topology)
    tasks, replicate = _tasks(scenario, topology, replications)
    if replicate == "client":
        outputs.refuse(f"{len(tasks)} clients")
    if replicate:
        for policy in () if isolated else simulated:
            prepare(policy, topology)
        runs = _run_each(simulated, tasks, f"{replicate}s", progress, workers, isolated)
    else:
        run = partial(_run_alone, simulated, policies, outputs, tasks[0])
        runs = _run_isolated(run, simulated, progress) if isolated else run(progress)
    blocks: list[Block] = []
    by_keys = {(task.scenario.seed, task.client): task for task in tasks}

    def comparison(missing: Mapping[str, str] = MappingProxyType({})) -> Comparison:
        done = tasks[: _count_tasks(blocks)]
        roles = roles_of(policies, references, [block.keys["number"] for block in blocks])
        return Comparison(scenario, done, replicate if len(done) > 1 else "", blocks, roles, missing)

    try:
        for run_blocks in runs:
            blocks += [
                _observable(block, simulated, by_keys[block.keys["seed"], block.keys["client"]])
                for block in run_blocks
            ]
    except BaseException as error:
        if blocks:
            on_failure(comparison(_missing(simulated, tasks, replicate, blocks, error)))
        raise
    return comparison()


def _count_tasks(blocks: Sequence[Block]) -> int:
    return len({(block.keys["seed"], block.keys["client"]) for block in blocks})


def _tasks(scenario: Scenario, topology: Topology, replications: int) -> tuple[list[Task], str]:
    """Return the tasks, and whether they differ in ``"seed"`` or ``"client"``; ``""`` for a single task."""
    if replications > 1:
        seeds = [replace(scenario, seed=scenario.seed + number) for number in range(replications)]
        tasks = [Task(seeded, replace(topology, seed=seeded.seed)) for seeded in seeds]
        _check_pages_depend_on_seed(tasks)
        return tasks, "seed"
    if topology.stations:
        return [Task(scenario, topology)], ""
    loads = scenario.workloads()
    tasks = [
        Task(replace(scenario, trace=load, pages=len(load.pages)), topology, load.client) for load in loads
    ]
    return tasks, "client" if len(tasks) > 1 else ""


def _check_pages_depend_on_seed(tasks: Sequence[Task]) -> None:
    """Raise InputError if the pages are equal for all seeds, because intervals would be meaningless."""
    first, second = (
        [(station.workload.pages, station.workload.messages) for station in replace(task).stations]
        for task in tasks[:2]
    )
    if first == second:
        raise InputError(
            f"replications must be 1 for trace {tasks[0].scenario.trace_name}, got {len(tasks)}; its pages "
            "are the same for every seed."
        )


def _missing(
    policies: Sequence[PolicyLike],
    tasks: Sequence[Task],
    replicate: str,
    blocks: Sequence[Block],
    error: BaseException,
) -> dict[str, str]:
    """Return the policies, seeds or clients without a result, each with the reason."""
    names = [label_of(policy) or spec_text(policy) for policy in policies]
    left = names[len({block.keys["number"] for block in blocks} - {REFERENCE_NUMBER}) :]
    missing = dict.fromkeys(left, "not run") | dict.fromkeys(left[:1], reason_of(error))
    rest = [str(task.client or task.scenario.seed) for task in tasks[_count_tasks(blocks) :]]
    if rest:
        name = f"{replicate}s {rest[0]} to {rest[-1]}" if len(rest) > 1 else f"{replicate} {rest[0]}"
        missing[name] = "not run" if left else reason_of(error)
    return missing


def _run_alone(
    policies: Sequence[PolicyLike],
    observed: Sequence[PolicyLike],
    outputs: RunOutputs,
    task: Task,
    progress: Progress,
) -> Iterator[list[Block]]:
    """Yield the results of each policy of a single task. Write the files of the *observed* policies."""
    outputs.check_size([station.workload for station in task.stations], task.resolved_topology)
    names = [station.name or "station" for station in task.stations]
    with outputs.observers(observed, names) as observers:
        yield from run_task(policies, task, observers, progress)


def _run_isolated(
    run: Callable[[Progress], Iterator[list[Block]]], policies: Sequence[PolicyLike], progress: Progress
) -> Iterator[list[Block]]:
    """Call *run* in another process, and yield its results."""
    work, done = partial(_run_in_worker, run), 0
    with closing(unordered_map(work, deque([report_progress]), 1, progress=progress)) as values:
        for _, value in values:
            if not isinstance(value, Ended):
                done += 1
                yield value
            elif value.error is not None:
                raise _named(value.error, policies, done)


def _run_each(
    policies: Sequence[PolicyLike],
    tasks: Sequence[Task],
    unit: str,
    progress: Progress,
    workers: int | None,
    isolated: bool,
) -> Iterator[list[Block]]:
    """Yield the results of each task. If the first task fails, yield the results of its finished policies."""
    run = partial(_run_in_worker, partial(run_task, policies))
    results = run_in_order(run, tasks, workers, progress, unit, isolated)
    for number, (outputs, error) in enumerate(results):
        if error is None or number == 0:
            yield [block for blocks in outputs for block in blocks]
        if error is not None:
            raise _named(error, policies, len(outputs))


def _run_in_worker(run: Callable[[Any], Iterator[list[Block]]], argument: Any) -> Iterator[list[Block]]:
    """Yield the results of *run* without the policy instances, which the parent process does not need."""
    for blocks in run(argument):
        yield [replace(block, policy_state=None) for block in blocks]


def _named(error: BaseException, policies: Sequence[PolicyLike], done: int) -> BaseException:
    """Return *error*, or an error that names the policy that ended the worker process.

    *done* is the number of finished runs, including the run without power saving. If *done* is 0, the error
    names all policies that refer to files.
    """
    if not isinstance(error, WorkerDiedError):
        return error
    created = [policy for policy in policies if isinstance(policy, Spec) and policy.files()]
    names = [spec_text(policy) for policy in (policies[done - 1 :][:1] if done else created)]
    return WorkerDiedError(f"Policy {' or '.join(names)} returned no result: {error}")


def _observable(block: Block, policies: Sequence[PolicyLike], task: Task) -> Block:
    """Return a copy of *block* whose ``observe`` function repeats the run in this process."""
    number, station = block.keys["number"], block.keys["station"]
    policy = None if number == REFERENCE_NUMBER else policies[number]
    return replace(block, observe=partial(_observe, policy, task, station))


def _observe(
    policy: PolicyLike | None, task: Task, station: str, observers: Sequence[Observer], pages: int | None
) -> None:
    """Repeat the run of a station. If *policy* is None, repeat the run without power saving."""
    stations = _without_policies(task.stations) if policy is None else task.stations
    index = [setup.name for setup in stations].index(station)
    observe_station(policy or _ALWAYS_ON, stations, index, observers, pages)


def _without_policies(stations: Sequence[StationSetup]) -> list[StationSetup]:
    return [station._replace(policy=None) for station in stations]


def run_task(
    policies: Sequence[PolicyLike],
    task: Task,
    observers: Sequence[Sequence[Sequence[Observer]]] = (),
    progress: Progress = no_progress,
) -> Iterator[list[Block]]:
    """Yield the blocks of each policy. The run without power saving comes first.

    *observers* belong to the last policies: ``observers[-1][j]`` observe station *j* under ``policies[-1]``.
    """
    stations, has_own_policy = task.stations, any(station.policy for station in task.stations)
    observed = [*[()] * (len(policies) - len(observers)), *observers]
    groups = [prepare_stations(policy, stations, own) for policy, own in zip(policies, observed, strict=True)]
    is_always_on = [not has_own_policy and isinstance(runs[0].policy, AlwaysOn) for runs in groups]
    battery_mah = task.scenario.battery_mah
    keys = {"seed": task.scenario.seed, "client": task.client}
    keys |= {"battery_mah": battery_mah} if battery_mah else {}
    pages, done = sum(len(station.workload.pages) for station in stations), 0
    total = pages * (1 + is_always_on.count(False))

    def run(
        runs: Sequence[Run], stations: Sequence[StationSetup], policy: PolicyLike, number: int, times_s: Any
    ) -> list[Block]:
        nonlocal done
        before, done = done, done + pages
        label = spec_text(policy)
        progress(before, total, label)
        if len(runs) == 1:
            runs[0].world.progress = lambda count: progress(before + count, total, label)
        return execute(runs, stations, policy, {"number": number, **keys}, times_s)

    plain = _without_policies(stations)
    first = next(
        (runs for runs, is_reference in zip(groups, is_always_on, strict=True) if is_reference), None
    )
    reference = run(first or prepare_stations(_ALWAYS_ON, plain), plain, _ALWAYS_ON, REFERENCE_NUMBER, None)
    yield reference
    times_s = list(map(page_times_s, reference))
    for number, (policy, runs) in enumerate(zip(policies, groups, strict=True)):
        if is_always_on[number]:
            own_keys = {"number": number, "policy": spec_text(policy), "label": label_of(policy)}
            yield [replace(block, keys=block.keys | own_keys) for block in reference]
        else:
            yield run(runs, stations, policy, number, times_s)

"""Plan of a sweep: tasks with their keys, and the checks of all that is run before the first run begins."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psm_sim.campaign.sweep.grid import SweepTask
from psm_sim.common.errors import InputError
from psm_sim.network import Topology
from psm_sim.simulation.run import prepare
from psm_sim.version import __version__
from psm_sim.workload import load_workload


@dataclass(frozen=True)
class PlannedTask:
    """A task and its key: the hash of everything that decides its numbers."""

    task: SweepTask
    key: str

    @property
    def place(self) -> tuple[Any, ...]:
        """The topology and its settings, to be compared."""
        return (self.task.scenario.topology_name, *self.task.scenario.settings.items())

    @property
    def over(self) -> tuple[Any, ...]:
        """The scenario, to be compared."""
        scenario = self.task.scenario
        return (scenario.trace_name, scenario.pages, scenario.seed, *self.place)

    @property
    def label(self) -> str:
        """The task in the user's words: the same for two tasks that differ in a file's content alone."""
        return json.dumps([__version__, str(self.task.policy), *self.over])


def plan_tasks(tasks: Sequence[SweepTask]) -> list[PlannedTask]:
    """Return the tasks with their keys, one for each key; errors as :meth:`Scenario.key`."""
    known: dict[tuple[Any, ...], str] = {}
    found = {task.scenario.key([task.policy], known): task for task in tasks}
    return [PlannedTask(task, key) for key, task in found.items()]


class TopologyCache:
    """Topologies of tasks: each is read once for all that share it, and has the seed of faults of each."""

    def __init__(self) -> None:
        self._read: dict[tuple[Any, ...], Topology] = {}

    def of(self, each: PlannedTask) -> Topology:
        """Return the topology of a task; errors as :meth:`Scenario.resolve_topology`."""
        scenario = each.task.scenario
        if each.place not in self._read:
            self._read[each.place] = scenario.resolve_unseeded_topology()
        return self._read[each.place].with_fault_seed(scenario.seed)


class TaskChecker:
    """Check of tasks before they are run; what several tasks have in common is made once."""

    def __init__(self) -> None:
        self._places = TopologyCache()
        self._policies: dict[tuple[str, float], dict[str, Any]] = {}
        self._traces: dict[str, dict[str, Any]] = {}

    def parameters(self, each: PlannedTask) -> dict[str, Any]:
        """Return the parameters of a task as plain values: the policy's, the trace's, and the settings.

        Raises
        ------
        InputError
            If the policy, the trace, the topology or one of their parameters cannot be used.
        """
        place, scenario = self._places.of(each), each.task.scenario
        keys = place.config() if scenario.settings else {}
        return {
            **_below(f"policy.{each.task.policy.name}", self._policy(each, place)),
            **_below("trace", self._trace(each)),
            **{key: keys[key] for key in scenario.settings},
        }

    def _policy(self, each: PlannedTask, topology: Topology) -> dict[str, Any]:
        name = (str(each.task.policy), topology.beacon.interval_s)
        if name not in self._policies:
            found = prepare(each.task.policy, topology).parameters
            if found.get("state"):
                raise InputError(
                    f"policy {each.task.policy.name}: state is {found['state']!r}, but every task would "
                    "write it; leave it out of a sweep."
                )
            self._policies[name] = found
        return self._policies[name]

    def _trace(self, each: PlannedTask) -> dict[str, Any]:
        scenario = each.task.scenario
        if scenario.trace_name not in self._traces:
            found = load_workload(str(scenario.trace), 1, scenario.seed)
            self._traces[scenario.trace_name] = {
                key: _number(value) for key, value in found.parameters.items()
            }
        return self._traces[scenario.trace_name]


def _below(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{name}.{key}": value for key, value in values.items()}


def _number(value: Any) -> Any:
    """Return the number that a text spells: some parameters take a number or a word."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value

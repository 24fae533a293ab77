"""Tasks of a sweep with their keys, and their validation before the first run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from psm_sim.campaign.sweep.grid import SweepTask
from psm_sim.common.opened_files import note_opened_files
from psm_sim.network import Topology
from psm_sim.simulation.run import prepare
from psm_sim.version import __version__
from psm_sim.workload import load_workload

LABEL = "policy.label"
"""Parameter of a task whose policy has a label."""


@dataclass(frozen=True)
class PlannedTask:
    """Task and its key, see :meth:`Scenario.key`."""

    task: SweepTask
    key: str

    @property
    def topology_id(self) -> tuple[Any, ...]:
        """Topology and settings, for comparison with other tasks."""
        return (self.task.scenario.topology_name, *self.task.scenario.settings.items())

    @property
    def scenario_id(self) -> tuple[Any, ...]:
        """Scenario, for comparison with other tasks."""
        scenario = self.task.scenario
        return (scenario.trace_name, scenario.pages, scenario.seed, *self.topology_id)

    @property
    def label(self) -> str:
        """Task as the user wrote it. Tasks that differ only in the content of a file have the same label."""
        return json.dumps([__version__, str(self.task.policy), *self.scenario_id])


def plan_tasks(tasks: Sequence[SweepTask]) -> list[PlannedTask]:
    """Return the tasks with their keys, without duplicates. See :meth:`Scenario.key` for the errors."""
    cache: dict[tuple[Any, ...], str] = {}
    by_key = {task.scenario.key([task.policy], cache): task for task in tasks}
    return [PlannedTask(task, key) for key, task in by_key.items()]


class TopologyCache:
    """Cache of the topologies of tasks. Only the seed differs between tasks."""

    def __init__(self) -> None:
        self._cache: dict[tuple[Any, ...], Topology] = {}

    def of(self, planned: PlannedTask) -> Topology:
        """Return the topology of a task. See :meth:`Scenario.resolve_topology` for the errors."""
        scenario = planned.task.scenario
        if planned.topology_id not in self._cache:
            self._cache[planned.topology_id] = scenario.resolve_unseeded_topology()
        return replace(self._cache[planned.topology_id], seed=scenario.seed)


class TaskChecker:
    """Validator of tasks before a sweep starts. Policies, traces and topologies are loaded once."""

    def __init__(self) -> None:
        self._topologies = TopologyCache()
        self._policies: dict[tuple[str, float], dict[str, Any]] = {}
        self._traces: dict[str, dict[str, Any]] = {}

    def parameters(self, planned: PlannedTask) -> dict[str, Any]:
        """Return the parameters of the policy and the trace of a task, and its settings.

        Raises
        ------
        InputError
            If the policy, the trace, the topology or one of their parameters is invalid.
        """
        topology, scenario = self._topologies.of(planned), planned.task.scenario
        config = topology.config() if scenario.settings else {}
        label = planned.task.policy.label
        return {
            **({LABEL: label} if label else {}),
            **_add_prefix(f"policy.{planned.task.policy.name}", self._policy(planned, topology)),
            **_add_prefix("trace", self._trace(planned)),
            **{key: config[key] for key in scenario.settings},
        }

    def _policy(self, planned: PlannedTask, topology: Topology) -> dict[str, Any]:
        cache_key = (str(planned.task.policy), topology.beacon.interval_s)
        if cache_key not in self._policies:
            with note_opened_files():
                self._policies[cache_key] = prepare(planned.task.policy, topology).parameters
        return self._policies[cache_key]

    def _trace(self, planned: PlannedTask) -> dict[str, Any]:
        scenario = planned.task.scenario
        if scenario.trace_name not in self._traces:
            workload = load_workload(str(scenario.trace), 1, scenario.seed)
            self._traces[scenario.trace_name] = {
                key: _to_number(value) for key, value in workload.parameters.items()
            }
        return self._traces[scenario.trace_name]


def _add_prefix(prefix: str, values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{prefix}.{key}": value for key, value in values.items()}


def _to_number(value: Any) -> Any:
    """Convert numeric strings to float, because some parameters accept a number or a name."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value

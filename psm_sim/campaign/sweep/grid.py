"""Grid of a sweep: axes with their values, one task per combination, and its file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from psm_sim.common.component_spec import Spec, split_commas, strip_parentheses
from psm_sim.common.errors import InputError, did_you_mean
from psm_sim.common.formatting import flatten, parameter_text
from psm_sim.common.input_files import read_toml
from psm_sim.common.input_limits import MAX_PAGES, MAX_SEED
from psm_sim.common.parameters import Parameter
from psm_sim.network import load_topology
from psm_sim.network.topology import check_settings, conditions_of, topology_keys
from psm_sim.policies import POLICIES
from psm_sim.simulation.comparison import check_labels
from psm_sim.simulation.preset import Preset, load_preset
from psm_sim.simulation.scenario import Scenario

MAX_TASKS = 100_000
"""Maximum number of tasks of a sweep.

The plan and its rows need about 2 kB of memory per task. More tasks are most likely the result of a mistyped
step of a range.
"""

_NUMBER = r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d{1,3})?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?::({_NUMBER}))?", re.ASCII)

# The bounds are those of Scenario. They are checked before the first run.
_COUNTS = {
    "pages": Parameter("pages", 1, at_least=1, at_most=MAX_PAGES),
    "seed": Parameter("seed", 1, at_least=0, at_most=MAX_SEED),
}
_PLAIN_KEYS = ("loss", "trace", "topology", *_COUNTS)
_EXPECTED = f"{', '.join(_PLAIN_KEYS)}, policy.NAME.PARAMETER, trace.PARAMETER or a topology key"
_FILE_KEYS = ("policies", "trace", "topology", "battery", "loss", "preset", *_COUNTS, "vary", "set")


@dataclass(frozen=True)
class GridAxis:
    """Key of a grid and its values: several if the key varies, otherwise one.

    Parameters
    ----------
    key : str
        ``loss``, ``trace``, ``topology``, ``pages`` or ``seed``, a parameter ``policy.NAME.PARAMETER`` or
        ``trace.PARAMETER``, or a topology key.
    values : tuple of str
        Values as text, at least one.

    Raises
    ------
    InputError
        If the key is unknown, there is no value, a value is duplicate, or a value of pages or seed is not a
        valid integer.
    """

    key: str
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        is_component = self.policy or self.key.startswith("trace.") or self.key in _PLAIN_KEYS
        if not is_component and self.key not in topology_keys():
            meant = did_you_mean(self.key, [*_PLAIN_KEYS, *topology_keys()])
            if self.key.partition(".")[0] in POLICIES.names():
                meant = f" Did you mean 'policy.{self.key}'?"
            raise InputError(f"Unknown axis {self.key!r}; expected {_EXPECTED}.{meant}")
        if not self.values:
            raise InputError(f"{self.key} has no values; expected at least one.")
        seen = set[str | float]()
        for value in self.values:
            if self.key in _COUNTS:
                _COUNTS[self.key].read(value, "sweep")
            if (number := to_number(value)) in seen:
                raise InputError(f"{self.key}: duplicate value {value}; specify it once.")
            seen.add(number)

    @classmethod
    def parse(cls, text: str) -> GridAxis:
        """Parse ``KEY=VALUES``. See :func:`expand_values`.

        Raises
        ------
        InputError
            If *text* has another form, or a value is missing or duplicate.
        """
        key, equals, values = (part.strip() for part in text.partition("="))
        if not equals or not key:
            raise InputError(
                f"Invalid axis {text!r}; expected KEY=VALUES, e.g. policy.bsd.p=0.1,0.2,0.5 or seed=1..20."
            )
        return cls.of(key, values)

    @classmethod
    def of(cls, key: str, values: object) -> GridAxis:
        """Create an axis from a string, a number, or a list of strings and numbers.

        Raises
        ------
        InputError
            If there is no value, or a value is invalid or duplicate.
        """
        if isinstance(values, str):
            return cls(key, expand_values(values, key))
        items = values if isinstance(values, Iterable) else [values]
        return cls(key, tuple(map(parameter_text, items)))

    @property
    def policy(self) -> str:
        """Name of the policy whose parameter varies. Empty for other axes."""
        name, _, parameter = self.key.removeprefix("policy.").rpartition(".")
        return name if self.key.startswith("policy.") and parameter else ""

    @property
    def is_scenario_axis(self) -> bool:
        """Whether the axis varies the scenario, not the policy or its loss."""
        return not self.policy and self.key != "loss"

    def applies_to(self, policy: Spec) -> bool:
        """Return whether the axis affects *policy*, through the scenario, a parameter or the loss."""
        if self.policy:
            return self.policy == policy.name
        return self.is_scenario_axis or policy.name == _DEFAULT_POLICY


_DEFAULT_POLICY = "lpsm"
"""Policy of a sweep without policies. It is the only policy with a loss."""


def fixed_axes(values: Mapping[str, Any], settings: Mapping[str, Any]) -> list[GridAxis]:
    """Return an axis with one value for each item of *values* and *settings*, except None values.

    Raises
    ------
    InputError
        If a value is invalid, or a key of *settings* is not a topology key.
    """
    check_settings(settings, "settings")
    fixed = {**values, **settings}
    return [GridAxis.of(key, [value]) for key, value in fixed.items() if value is not None]


def expand_values(text: str, owner: str) -> tuple[str, ...]:
    """Expand a comma-separated list of values and ranges. *owner* is the key of the axis, for error messages.

    The default step of a range is 1. The range ``1..6:2`` contains 1, 3 and 5. Ranges use decimal arithmetic,
    so ``0.1..0.3:0.1`` is exactly 0.1, 0.2 and 0.3. A value that contains commas must be enclosed in
    parentheses.

    Raises
    ------
    InputError
        If a value is missing, or a range has no values or more than :data:`MAX_TASKS`.
    """
    values = [value for part in split_commas(text) for value in _expand_part(part.strip(), owner)]
    if not all(values):
        raise InputError(f"{owner} must be values such as a,b,c or FROM..TO:STEP, got {text!r}.")
    return tuple(values)


def _expand_part(part: str, owner: str) -> list[str]:
    match = _RANGE.fullmatch(part)
    if not match:
        return [strip_parentheses(part)]
    first, last, step = (Decimal(number or "1") for number in match.groups())
    try:
        count = int((last - first) // step) + 1 if step > 0 and first <= last else 0
    except InvalidOperation:  # more digits than a Decimal has
        count = MAX_TASKS + 1
    if not 0 < count <= MAX_TASKS:
        raise InputError(
            f"{owner}: the range {part!r} has {count} values; expected FROM..TO:STEP with "
            f"FROM <= TO, STEP > 0 and at most {MAX_TASKS} values."
        )
    return [f"{(first + index * step).normalize():f}" for index in range(count)]


def to_number(value: str) -> str | float:
    """Return *value* as a float if it is a number, because some parameters accept a number or a name."""
    try:
        return float(value)
    except ValueError:
        return value


@dataclass(frozen=True)
class SweepTask:
    """Pair of a policy and a scenario, the unit that is run and stored."""

    policy: Spec
    scenario: Scenario


@dataclass(frozen=True)
class Grid:
    """Axes of a sweep.

    Parameters
    ----------
    axes : sequence of GridAxis
        Axes with distinct keys. Values that do not vary are axes with a single value, see :func:`fixed_axes`.
        A key without an axis has the default of the preset or of
        :class:`~psm_sim.simulation.scenario.Scenario`.
    policies : sequence of str
        Policy specs. Policies that are named only by axes are appended. The default is lpsm.
    preset : Preset
        Defaults of the policies, the trace and the topology.
    battery : str or None
        Capacity of the battery, see :class:`~psm_sim.simulation.scenario.Scenario`.

    Raises
    ------
    InputError
        If *policies* is a string instead of a list.
    """

    axes: Sequence[GridAxis] = ()
    policies: Sequence[str] = ()
    preset: Preset = field(default_factory=Preset)
    battery: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.policies, str):
            raise InputError(f"policies must be a list of strings, got {self.policies!r}.")

    def tasks(self) -> list[SweepTask]:
        """Return the tasks, policy after policy. The last axis varies fastest.

        An axis adds no tasks of a policy that it does not affect. For example, ``policy.bsd.p`` does not
        affect psm.

        Raises
        ------
        InputError
            If a key is specified twice or applies to no policy, a value is invalid, or there are more than
            :data:`~psm_sim.campaign.sweep.grid.MAX_TASKS` tasks.
        """
        policies = self._policies()
        axes = [[axis for axis in self.axes if axis.applies_to(policy)] for policy in policies]
        self._check_keys(policies)
        count = sum(prod(len(axis.values) for axis in policy_axes) for policy_axes in axes)
        if count > MAX_TASKS:
            raise InputError(f"The sweep has {count} tasks, expected at most {MAX_TASKS}; use larger steps.")
        self._check_effects()
        pairs = zip(policies, axes, strict=True)
        tasks = [task for policy, policy_axes in pairs for task in self._tasks_of(policy, policy_axes)]
        check_labels(list({str(task.policy): task.policy for task in tasks}.values()))
        return tasks

    def _policies(self) -> list[Spec]:
        specs = [Spec.of(text, "policy") for text in self.policies]
        names = [spec.name for spec in specs]
        axis_policies = dict.fromkeys(axis.policy for axis in self.axes if axis.policy)
        specs += [Spec.parse(name, "policy") for name in axis_policies if name not in names]
        return specs or [Spec(_DEFAULT_POLICY)]

    def _check_keys(self, policies: Sequence[Spec]) -> None:
        keys = [axis.key for axis in self.axes]
        for axis in self.axes:
            if keys.count(axis.key) > 1:
                raise InputError(f"{axis.key} is specified twice; either vary it or set it once.")
            if not any(map(axis.applies_to, policies)):
                names = ", ".join(dict.fromkeys(policy.name for policy in policies))
                raise InputError(
                    f"{axis.key} has no effect on the policies {names}; add a policy that uses it."
                )

    def _check_effects(self) -> None:
        """Reject a topology key that has no effect in any task, because its condition is never met."""
        values = {axis.key: axis.values for axis in self.axes}
        keys = [key for key in values if key in topology_keys() and conditions_of(key)]
        if not keys:
            return
        first = {key: each[0] for key, each in values.items()}
        names = values.get("topology", (Scenario().topology_name,))
        configs = [{**load_topology(name, self.preset.settings).config(), **first} for name in names]
        configs += [{**configs[0], key: value} for key, each in values.items() for value in each]
        for key in keys:
            for condition in conditions_of(key):
                if not any(map(condition.is_met, configs)):
                    raise condition.error("sweep", key)

    def _tasks_of(self, policy: Spec, axes: Sequence[GridAxis]) -> Iterator[SweepTask]:
        for point in product(*(axis.values for axis in axes)):
            own, values = policy, {}
            for axis, value in zip(axes, point, strict=True):
                if axis.is_scenario_axis:
                    values[axis.key] = value
                else:
                    own = _add_parameter(own, axis.key.rpartition(".")[2], value, "policy")
            yield SweepTask(self.preset.policy_spec(own), self._scenario(values))

    def _scenario(self, values: dict[str, str]) -> Scenario:
        trace = Spec.parse(values.pop("trace", self.preset.trace), "trace")
        arguments: dict[str, Any] = {key: int(values.pop(key)) for key in _COUNTS if key in values}
        arguments |= {key: values.pop(key) for key in ("topology",) if key in values}
        settings = dict(self.preset.settings)
        for key, value in values.items():
            if key.startswith("trace."):
                trace = _add_parameter(trace, key.removeprefix("trace."), value, "trace")
            else:
                settings[key] = value
        return Scenario(self.preset.trace_spec(trace), settings=settings, battery=self.battery, **arguments)


def _add_parameter(spec: Spec, name: str, value: str, kind: str) -> Spec:
    """Return *spec*, of a *kind* such as ``"policy"``, with an additional parameter."""
    if name in spec.values:
        raise InputError(f"{name} is both varied and set in {kind} {str(spec)!r}; remove one of them.")
    return spec.with_(name, value)


def read_grid(path: Path) -> Grid:
    """Read a grid file.

    All keys are optional: ``policies`` (a list), ``trace``, ``topology``, ``battery``, ``loss``, ``preset``,
    ``pages``, ``seed`` and the tables ``[set]`` and ``[vary]``. The table ``[set]`` contains topology keys
    and their values. The table ``[vary]`` contains keys with a list of values, or with a string such as
    ``"1..20"`` in the syntax of the command line.

    Raises
    ------
    InputError
        If the file cannot be read, is not valid TOML or is too large, or if a key or value is invalid.
    """
    document = read_toml(path, "grid")
    for key, value in document.items():
        if key not in _FILE_KEYS:
            hint = did_you_mean(key, _FILE_KEYS)
            raise InputError(f"{path}: unknown key {key!r}; expected {', '.join(_FILE_KEYS)}.{hint}")
        if key in ("vary", "set") and not isinstance(value, dict):
            raise InputError(f"{path}: {key} must be a table, got {value!r}.")
    settings, vary = (flatten(document.get(key, {})) for key in ("set", "vary"))
    fixed = {key: document[key] for key in _PLAIN_KEYS if key in document}
    try:
        grid = Grid(
            [*fixed_axes(fixed, settings), *(GridAxis.of(*axis) for axis in vary.items())],
            document.get("policies", ()),
            load_preset(str(document["preset"])) if "preset" in document else Preset(),
            document.get("battery"),
        )
        grid.tasks()
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    return grid

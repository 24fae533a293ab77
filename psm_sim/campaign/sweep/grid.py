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
from psm_sim.common.formatting import flatten
from psm_sim.common.input_files import read_toml
from psm_sim.common.input_limits import MAX_PAGES, MAX_SEED
from psm_sim.common.parameters import Parameter
from psm_sim.network import load_topology
from psm_sim.network.topology import conditions_of, topology_keys
from psm_sim.policies import POLICIES
from psm_sim.simulation.comparison import check_labels
from psm_sim.simulation.preset import Preset, load_preset
from psm_sim.simulation.scenario import Scenario

MAX_TASKS = 100_000
"""Maximum number of tasks of a sweep.

The plan and its rows need about 2 kB of memory per task. A task takes at least 0.05 s of one core, and a
larger sweep would take days on a machine with a few cores. Most likely the step of a range is mistyped.
"""

_NUMBER = r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d{1,3})?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?::({_NUMBER}))?", re.ASCII)

_COUNTS = {
    "pages": Parameter("pages", 1, at_least=1, at_most=MAX_PAGES),
    "seed": Parameter("seed", 1, at_least=0, at_most=MAX_SEED),
}
_PLAIN_KEYS = ("loss", "trace", "topology", *_COUNTS)
_PARAMETER_KEYS = ("policy.NAME.PARAMETER", "trace.PARAMETER")


@dataclass(frozen=True)
class GridAxis:
    """Varied key and its values.

    Parameters
    ----------
    key : str
        ``loss``, ``trace``, ``topology``, ``pages`` or ``seed``, a parameter ``policy.NAME.PARAMETER`` or
        ``trace.PARAMETER``, or a topology key.
    values : tuple of str
        At least one value, as text.

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
            raise InputError(
                f"Unknown axis {self.key!r}; expected {', '.join((*_PLAIN_KEYS, *_PARAMETER_KEYS))} "
                f"or a topology key.{meant}"
            )
        if not self.values:
            raise InputError(f"{self.key} has no values; expected at least one.")
        seen = set[str | float]()
        for value in self.values:
            if self.key in _COUNTS:
                _COUNTS[self.key].read(value, "sweep")
            if (number := _to_number(value)) in seen:
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
        return cls(key, expand_values(values, key))

    @classmethod
    def of(cls, key: str, values: object) -> GridAxis:
        """Create an axis from a string, a number, or a list of both (from Python or a grid file).

        Raises
        ------
        InputError
            If there is no value, or a value is invalid or duplicate.
        """
        if isinstance(values, str):
            return cls(key, expand_values(values, key))
        items = values if isinstance(values, Iterable) else [values]
        return cls(key, tuple(str(item).lower() if isinstance(item, bool) else str(item) for item in items))

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
        """Return whether the axis varies the tasks of *policy*."""
        if self.policy:
            return self.policy == policy.name
        return self.is_scenario_axis or policy.name == "lpsm"

    def apply(self, policy: Spec, value: str) -> Spec:
        """Return *policy* with *value* set. A scenario axis returns the policy unchanged.

        Raises
        ------
        InputError
            If the policy already sets the parameter.
        """
        if self.is_scenario_axis:
            return policy
        return add_parameter(policy, self.key.rpartition(".")[2], value, "policy")


def add_parameter(spec: Spec, name: str, value: str, kind: str) -> Spec:
    """Return *spec*, of a *kind* such as ``"policy"``, with an additional parameter *name* and its *value*.

    Raises
    ------
    InputError
        If *spec* already sets the parameter.
    """
    if name in spec.values:
        raise InputError(f"{name} is both varied and set in {kind} {str(spec)!r}; remove one of them.")
    return spec.with_(name, value)


def expand_values(text: str, owner: str) -> tuple[str, ...]:
    """Expand a comma-separated list of values and ranges. *owner* is the key of the axis, for error messages.

    The default step of a range is 1. A range includes its last number if a step ends on it. Ranges use
    decimal arithmetic, so ``0.1..0.3:0.1`` is exactly 0.1, 0.2 and 0.3. A value that contains commas must be
    enclosed in parentheses.

    Raises
    ------
    InputError
        If a value is missing, or a range has no values or more than :data:`MAX_TASKS`.
    """
    values = [value for part in split_commas(text) for value in _expand_part(part.strip(), owner)]
    if not all(values):
        raise InputError(f"{owner} must be values such as a,b,c or FROM..TO:STEP, got {text!r}.")
    return tuple(values)


def _to_number(value: str) -> str | float:
    try:
        return float(value)
    except ValueError:
        return value


def _expand_part(part: str, owner: str) -> list[str]:
    match = _RANGE.fullmatch(part)
    if not match:
        return [strip_parentheses(part)]
    first, last, step = (Decimal(number or "1") for number in match.groups())
    count = _count_values(first, last, step)
    if not 0 < count <= MAX_TASKS:
        raise InputError(
            f"{owner}: the range {part!r} has {max(count, 0)} values; expected FROM..TO:STEP with "
            f"FROM <= TO, STEP > 0 and at most {MAX_TASKS} values."
        )
    return [_format_decimal(first + index * step) for index in range(count)]


def _count_values(first: Decimal, last: Decimal, step: Decimal) -> int:
    try:
        return int((last - first) // step) + 1 if step > 0 and first <= last else 0
    except InvalidOperation:
        return MAX_TASKS + 1


def _format_decimal(number: Decimal) -> str:
    """Format a number without an exponent and without trailing zeros."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


_DEFAULT_POLICY = "lpsm"
_INTEGER_KEYS = ("pages", "seed")
_NON_TRACE_KEYS = ("topology", *_INTEGER_KEYS)
_SCENARIO_KEYS = ("trace", *_NON_TRACE_KEYS)

_FILE_TABLES = ("vary", "set")
_FILE_KEYS = ("policies", "trace", "topology", "battery", "loss", "preset", *_INTEGER_KEYS, *_FILE_TABLES)

_TYPES: tuple[tuple[str, type | tuple[type, ...], str], ...] = (
    ("policies", (tuple, list), "a list of strings"),
    *((name, str, "a string") for name in ("trace", "topology", "loss", "battery")),
    *((name, int, "an integer") for name in _INTEGER_KEYS),
    ("settings", Mapping, "a dictionary of topology keys"),
)


@dataclass(frozen=True)
class SweepTask:
    """Pair of a policy and a scenario, the unit that is run and stored."""

    policy: Spec
    scenario: Scenario


@dataclass(frozen=True)
class Grid:
    """Axes of a sweep and the values that do not vary.

    Parameters
    ----------
    axes : tuple of GridAxis
        Axes with distinct keys.
    policies : sequence of str
        Policy specs. Policies that are named only by axes are appended. The default is lpsm.
    trace, topology, pages, seed
        See :class:`~psm_sim.simulation.scenario.Scenario`. None selects its default, or the preset's trace.
        A value that an axis varies must be None.
    loss : str or None
        Loss of every lpsm policy. None keeps the loss of each policy.
    settings : mapping
        Topology keys that are the same in all tasks.
    preset : Preset
        Defaults of the policies, the trace and the topology.
    battery : str or None
        Capacity of the battery, see :class:`~psm_sim.simulation.scenario.Scenario`.

    Raises
    ------
    InputError
        If an argument has a wrong type, e.g. *policies* is a string instead of a list.
    """

    axes: tuple[GridAxis, ...] = ()
    policies: Sequence[str] = ()
    trace: str | None = None
    topology: str | None = None
    pages: int | None = None
    seed: int | None = None
    loss: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    preset: Preset = field(default_factory=Preset)
    battery: str | None = None

    def __post_init__(self) -> None:
        for name, kind, expected in _TYPES:
            value = getattr(self, name)
            if value is not None and not isinstance(value, kind):
                raise InputError(f"{name} must be {expected}, got {value!r}.")

    def tasks(self) -> list[SweepTask]:
        """Return the tasks, policy after policy. The last axis varies fastest.

        An axis that does not apply to a policy does not multiply its tasks. For example, ``policy.bsd.p``
        does not apply to psm.

        Raises
        ------
        InputError
            If a key is specified twice or applies to no policy, a value is invalid, or there are more than
            :data:`~psm_sim.campaign.sweep.grid.MAX_TASKS` tasks.
        """
        self._check_keys()
        policies = self._policies()
        axes = [self._axes_of(policy) for policy in policies]
        self._check_axes(policies, axes)
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

    def _axes_of(self, policy: Spec) -> list[GridAxis]:
        fixed = [] if self.loss is None else [GridAxis("loss", (self.loss,))]
        return [axis for axis in (*fixed, *self.axes) if axis.applies_to(policy)]

    def _check_keys(self) -> None:
        keys = [axis.key for axis in self.axes]
        keys += [key for key in ("loss", *_SCENARIO_KEYS) if getattr(self, key) is not None]
        for key in [*keys, *self.settings]:
            if [*keys, *self.settings].count(key) > 1:
                raise InputError(f"{key} is specified twice; either vary it or set it once.")

    def _check_axes(self, policies: list[Spec], axes: list[list[GridAxis]]) -> None:
        used = {axis.key for policy_axes in axes for axis in policy_axes}
        actions = dict.fromkeys((axis.key for axis in self.axes), "Varying")
        actions |= {} if self.loss is None else {"loss": "Setting"}
        for key, action in actions.items():
            if key not in used:
                names = ", ".join(dict.fromkeys(policy.name for policy in policies))
                raise InputError(
                    f"{action} {key} has no effect on the policies {names}; add a policy that uses it."
                )
        count = sum(prod(len(axis.values) for axis in policy_axes) for policy_axes in axes)
        if count > MAX_TASKS:
            raise InputError(f"The sweep has {count} tasks, expected at most {MAX_TASKS}; use larger steps.")

    def _check_effects(self) -> None:
        """Reject a topology key that acts in no task, because its switch is off in all of them."""
        varied = {axis.key: axis.values for axis in self.axes}
        keys = [key for key in (*self.settings, *varied) if key in topology_keys() and conditions_of(key)]
        if not keys:
            return
        names = varied.get("topology", (self.topology or Scenario().topology_name,))
        settings = {**self.preset.settings, **self.settings}
        first = {key: values[0] for key, values in varied.items()}
        configs = [{**load_topology(name, settings).config(), **first} for name in names]
        configs += [{**configs[0], key: value} for key, values in varied.items() for value in values]
        for key in keys:
            for condition in conditions_of(key):
                if not any(map(condition.is_met, configs)):
                    raise condition.error("sweep", key)

    def _tasks_of(self, policy: Spec, axes: list[GridAxis]) -> Iterator[SweepTask]:
        for values in product(*(axis.values for axis in axes)):
            point = list(zip(axes, values, strict=True))
            texts = {axis.key: value for axis, value in point if axis.is_scenario_axis}
            yield SweepTask(self._policy(policy, point), self._scenario(texts))

    def _policy(self, policy: Spec, point: list[tuple[GridAxis, str]]) -> Spec:
        for axis, value in point:
            policy = axis.apply(policy, value)
        return self.preset.policy_spec(policy)

    def _scenario(self, texts: dict[str, str]) -> Scenario:
        spec = (
            Spec.parse(texts["trace"], "trace")
            if "trace" in texts
            else Spec.parse(self.trace or self.preset.trace, "trace")
        )
        settings = {**self.preset.settings, **self.settings}
        for key, value in texts.items():
            if key.startswith("trace."):
                spec = add_parameter(spec, key.removeprefix("trace."), value, "trace")
            elif key not in _SCENARIO_KEYS:
                settings[key] = value
        fixed = {key: getattr(self, key) for key in _NON_TRACE_KEYS}
        fixed |= {
            key: int(text) if key in _INTEGER_KEYS else text for key, text in texts.items() if key in fixed
        }
        arguments = {key: value for key, value in fixed.items() if value is not None}
        return Scenario(self.preset.trace_spec(spec), settings=settings, battery=self.battery, **arguments)


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
        if key in _FILE_TABLES and not isinstance(value, dict):
            raise InputError(f"{path}: {key} must be a table, got {value!r}.")
    names = ("trace", "topology", "battery", "loss", *_INTEGER_KEYS)
    fixed = {key: document[key] for key in names if key in document}
    try:
        grid = Grid(
            axes=tuple(GridAxis.of(key, values) for key, values in flatten(document.get("vary", {})).items()),
            policies=document.get("policies", ()),
            settings=flatten(document.get("set", {})),
            preset=load_preset(str(document["preset"])) if "preset" in document else Preset(),
            **fixed,
        )
        grid.tasks()
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    return grid

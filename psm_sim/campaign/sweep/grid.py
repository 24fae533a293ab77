"""Grid: policies and the axes along which they and their scenario vary; one task for each combination."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

from psm_sim.campaign.sweep.axis_values import MAX_TASKS
from psm_sim.campaign.sweep.grid_axis import GridAxis, add_parameter
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.simulation.preset import Preset
from psm_sim.simulation.scenario import Scenario

_DEFAULT_POLICY = "lpsm"
_COUNTED = ("pages", "seed")
_BESIDE_TRACE = ("topology", *_COUNTED)
_OF_SCENARIO = ("trace", *_BESIDE_TRACE)

_KINDS: tuple[tuple[str, type | tuple[type, ...], str], ...] = (
    ("policies", (tuple, list), "a list of texts"),
    *((name, str, "a text") for name in ("trace", "topology", "loss")),
    ("settings", Mapping, "a dictionary of topology keys"),
)


@dataclass(frozen=True)
class SweepTask:
    """One policy in one scenario: the unit that is run once and kept."""

    policy: Spec
    scenario: Scenario


@dataclass(frozen=True)
class Grid:
    """Axes, and what stays the same on all of them.

    Parameters
    ----------
    axes
        Each key at most once.
    policies
        Texts of policies; those that the axes name join them, and without any it is lpsm.
    trace, topology, pages, seed
        As for :class:`~psm_sim.simulation.scenario.Scenario`, and its defaults if None; a trace of None is
        the preset's. What an axis varies is None.
    loss
        The loss of every lpsm; None: its own.
    settings
        Topology keys that are the same in all tasks.
    preset
        Defaults of the policies, the trace and the topology.

    Raises
    ------
    InputError
        If one of these is of another kind, such as one text for a list of them.
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

    def __post_init__(self) -> None:
        for name, kind, expected in _KINDS:
            value = getattr(self, name)
            if value is not None and not isinstance(value, kind):
                raise InputError(f"{name} is {value!r}; expected {expected}.")

    def tasks(self) -> list[SweepTask]:
        """Return the tasks: policy after policy, the last axis varying fastest.

        An axis that does not concern a policy, as ``policy.bsd.p`` does not concern psm, does not multiply
        its tasks.

        Raises
        ------
        InputError
            If a key is given twice or concerns no policy, a value cannot be read, or there are more than
            :data:`~psm_sim.campaign.sweep.axis_values.MAX_TASKS` tasks.
        """
        return list(self._tasks)

    @cached_property
    def _tasks(self) -> tuple[SweepTask, ...]:
        self._check_keys()
        policies = self._policies()
        axes = [self._axes_of(policy) for policy in policies]
        self._check(policies, axes)
        pairs = zip(policies, axes, strict=True)
        return tuple(task for policy, concerned in pairs for task in self._tasks_of(policy, concerned))

    @cached_property
    def _fixed_trace(self) -> Spec:
        return Spec.parse(self.trace or self.preset.trace, "trace")

    def _policies(self) -> list[Spec]:
        varied = [value for axis in self.axes if axis.key == "policy" for value in axis.values]
        given = [Spec.parse(text, "policy") for text in (*self.policies, *varied)]
        names = [spec.name for spec in given]
        named = dict.fromkeys(axis.policy for axis in self.axes if axis.policy)
        given += [Spec.parse(name, "policy") for name in named if name not in names]
        return given or [Spec(_DEFAULT_POLICY)]

    def _axes_of(self, policy: Spec) -> list[GridAxis]:
        fixed = [] if self.loss is None else [GridAxis("loss", (self.loss,))]
        return [axis for axis in (*fixed, *self.axes) if axis.concerns(policy)]

    def _check_keys(self) -> None:
        keys = [axis.key for axis in self.axes]
        keys += ["policy"] if self.policies else []
        keys += [key for key in ("loss", *_OF_SCENARIO) if getattr(self, key) is not None]
        for key in [*keys, *self.settings]:
            if [*keys, *self.settings].count(key) > 1:
                raise InputError(f"{key} is given twice; vary it, or give it one value.")

    def _check(self, policies: list[Spec], axes: list[list[GridAxis]]) -> None:
        used = {axis.key for each in axes for axis in each}
        given = dict.fromkeys((axis.key for axis in self.axes), "varied")
        given |= {} if self.loss is None else {"loss": "given"}
        for key, how in given.items():
            if key not in used and key != "policy":
                names = ", ".join(dict.fromkeys(policy.name for policy in policies))
                raise InputError(f"{key} is {how}, but it concerns none of the policies {names}; add one.")
        count = sum(prod(len(axis.values) for axis in axis) for axis in axes)
        if count > MAX_TASKS:
            raise InputError(f"The sweep has {count} tasks; expected at most {MAX_TASKS}: take larger steps.")

    def _tasks_of(self, policy: Spec, axes: list[GridAxis]) -> Iterator[SweepTask]:
        for values in product(*(axis.values for axis in axes)):
            point = list(zip(axes, values, strict=True))
            texts = {axis.key: value for axis, value in point if axis.of_scenario}
            yield SweepTask(self._policy(policy, point), self._scenario(texts))

    def _policy(self, policy: Spec, point: list[tuple[GridAxis, str]]) -> Spec:
        spec = policy
        for axis, value in sorted(point, key=lambda pair: pair[0].key.startswith("loss.")):
            spec = axis.put(spec, value)
        return self.preset.policy_spec(spec)

    def _scenario(self, texts: dict[str, str]) -> Scenario:
        spec = Spec.parse(texts["trace"], "trace") if "trace" in texts else self._fixed_trace
        settings = {**self.preset.settings, **self.settings}
        for key, value in texts.items():
            if key.startswith("trace."):
                spec = add_parameter(spec, key.removeprefix("trace."), value, "trace")
            elif key not in _OF_SCENARIO:
                settings[key] = value
        fixed = {key: getattr(self, key) for key in _BESIDE_TRACE}
        fixed |= {key: int(word) if key in _COUNTED else word for key, word in texts.items() if key in fixed}
        given = {key: value for key, value in fixed.items() if value is not None}
        return Scenario(self.preset.trace_spec(spec), settings=settings, **given)

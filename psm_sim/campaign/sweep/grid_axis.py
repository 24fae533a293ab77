"""Axis of a grid, which is a varied key with its values (``a,b,c`` or ``first..last:step``)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from psm_sim.common.component_spec import Spec, split_commas, strip_parentheses
from psm_sim.common.errors import InputError, did_you_mean
from psm_sim.common.input_limits import MAX_PAGES, MAX_SEED
from psm_sim.common.parameters import Parameter
from psm_sim.losses.factory import LOSSES
from psm_sim.network import topology_keys

MAX_TASKS = 100_000
"""Maximum number of tasks of a sweep.

The plan and its rows need about 2 kB of memory per task. A task takes at least 0.05 s of one core, and a
larger sweep would take days on a machine with a few cores. Most likely the step of a range is mistyped.
"""

_NUMBER = r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d{1,3})?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?::({_NUMBER}))?")

_COUNTS = {
    "pages": Parameter("pages", 1, at_least=1, at_most=MAX_PAGES),
    "seed": Parameter("seed", 1, at_least=0, at_most=MAX_SEED),
}
_PLAIN_KEYS = ("policy", "loss", "trace", "topology", *_COUNTS)
_PARAMETER_KEYS = ("policy.NAME.PARAMETER", "loss.PARAMETER", "trace.PARAMETER")


@dataclass(frozen=True)
class GridAxis:
    """Varied key and its values.

    Parameters
    ----------
    key : str
        ``policy``, ``loss``, ``trace``, ``topology``, ``pages`` or ``seed``, a parameter such as
        ``policy.NAME.PARAMETER``, ``loss.PARAMETER`` or ``trace.PARAMETER``, or a topology key.
    values : tuple of str
        At least one value, as text.

    Raises
    ------
    InputError
        If the key is unknown, there is no value, or a value of pages or seed is not a valid integer.
    """

    key: str
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        is_component = self.policy or self.key.startswith(("loss.", "trace.")) or self.key in _PLAIN_KEYS
        if not is_component and self.key not in topology_keys():
            raise InputError(
                f"Unknown axis {self.key!r}; expected {', '.join((*_PLAIN_KEYS, *_PARAMETER_KEYS))} "
                f"or a topology key.{did_you_mean(self.key, [*_PLAIN_KEYS, *topology_keys()])}"
            )
        if not self.values:
            raise InputError(f"{self.key} has no values; expected at least one.")
        for value in self.values:
            if self.key in _COUNTS:
                _COUNTS[self.key].read(value, "sweep")

    @classmethod
    def parse(cls, text: str) -> GridAxis:
        """Parse ``KEY=VALUES``. See :func:`expand_values`."""
        key, equals, values = (part.strip() for part in text.partition("="))
        if not equals or not key:
            raise InputError(
                f"Invalid axis {text!r}; expected KEY=VALUES, e.g. policy.bsd.p=0.1,0.2,0.5 or seed=1..20."
            )
        return cls(key, expand_values(values, key))

    @classmethod
    def of(cls, key: str, values: object) -> GridAxis:
        """Create an axis from a string, a number, or a list of both (from Python or a grid file)."""
        if isinstance(values, str):
            return cls(key, expand_values(values, key))
        items = values if isinstance(values, Iterable) else [values]
        texts = tuple(str(item).lower() if isinstance(item, bool) else str(item) for item in items)
        if len(set(texts)) < len(texts):
            raise InputError(f"{key} must have distinct values, got {values!r}.")
        return cls(key, texts)

    @property
    def policy(self) -> str:
        """Name of the policy whose parameter varies. Empty for other axes."""
        name, _, parameter = self.key.removeprefix("policy.").rpartition(".")
        return name if self.key.startswith("policy.") and parameter else ""

    @property
    def is_scenario_axis(self) -> bool:
        """Whether the axis varies the scenario, not the policy or its loss."""
        return not self.policy and self.key.partition(".")[0] not in ("policy", "loss")

    def applies_to(self, policy: Spec) -> bool:
        """Return whether the axis varies the tasks of *policy*."""
        if self.policy:
            return self.policy == policy.name
        return self.is_scenario_axis or (self.key != "policy" and policy.name == "lpsm")

    def apply(self, policy: Spec, value: str) -> Spec:
        """Return *policy* with *value* set. A scenario axis returns the policy unchanged.

        Raises
        ------
        InputError
            If the policy already sets the parameter, or its loss has no parameters.
        """
        if self.policy:
            return add_parameter(policy, self.key.rpartition(".")[2], value, "policy")
        if self.key == "loss":
            return add_parameter(policy, "loss", value, "policy")
        return self._apply_to_loss(policy, value) if self.key.startswith("loss.") else policy

    def _apply_to_loss(self, policy: Spec, value: str) -> Spec:
        if self.key == "loss.gamma":  # a parameter of lpsm, so that loss and gamma have a column each
            return add_parameter(policy, "gamma", value, "policy")
        loss = policy.values.get("loss")
        if loss is None or not LOSSES.knows(loss):
            raise InputError(f"Varying {self.key} requires a loss with parameters, got loss={loss!r}.")
        name = self.key.removeprefix("loss.")
        return policy.with_("loss", f"({add_parameter(Spec.parse(loss, 'loss'), name, value, 'loss')})")


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
        If a value is missing or duplicate, or a range has no values or more than :data:`MAX_TASKS`.
    """
    values = [value for part in split_commas(text) for value in _expand_part(part.strip(), owner)]
    if not all(values):
        raise InputError(f"{owner} must be values such as a,b,c or FROM..TO:STEP, got {text!r}.")
    for value in values:
        # counting is quadratic, so long lists are only deduplicated
        if values.count(value) > 1 and len(values) < 1000:
            raise InputError(f"{owner}: duplicate value {value}; specify it once.")
    return tuple(dict.fromkeys(values))


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

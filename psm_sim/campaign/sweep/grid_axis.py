"""Axis of a grid, which is a varied key with its values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from psm_sim.campaign.sweep.axis_values import expand_values
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError, did_you_mean
from psm_sim.common.input_limits import MAX_PAGES, MAX_SEED
from psm_sim.common.parameters import Parameter
from psm_sim.losses.factory import LOSSES
from psm_sim.network import topology_keys

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
        """Parse ``KEY=VALUES``. See :func:`~psm_sim.campaign.sweep.axis_values.expand_values`."""
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
        loss = policy.values.get("loss")
        if loss is None or not LOSSES.knows(loss):
            raise InputError(f"Varying {self.key} requires a loss with parameters, got loss={loss!r}.")
        name = self.key.removeprefix("loss.")
        return policy.with_("loss", f"({add_parameter(Spec.parse(loss, 'loss'), name, value, 'loss')})")


def add_parameter(spec: Spec, name: str, value: str, kind: str) -> Spec:
    """Return *spec* with an additional parameter.

    Parameters
    ----------
    spec : Spec
        Policy, loss or trace.
    name : str
        Name of the parameter, which *spec* must not set yet.
    value : str
        Value of the parameter.
    kind : str
        Kind of *spec* for error messages, e.g. ``"policy"``.

    Raises
    ------
    InputError
        If *spec* already sets the parameter.
    """
    if name in spec.values:
        raise InputError(f"{name} is both varied and set in {kind} {str(spec)!r}; remove one of them.")
    return spec.with_(name, value)

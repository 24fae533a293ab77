"""Axis: a key that varies in a sweep, and its values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from psm_sim.campaign.sweep.axis_values import expand_values
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError, did_you_mean
from psm_sim.common.input_limits import MAX_PAGES, MAX_SEED
from psm_sim.common.parameter_values import Parameter
from psm_sim.losses.factory import LOSSES
from psm_sim.network import topology_keys

_COUNTS = {
    "pages": Parameter("pages", 1, at_least=1, at_most=MAX_PAGES),
    "seed": Parameter("seed", 1, at_least=0, at_most=MAX_SEED),
}
_WORDS = ("policy", "loss", "trace", "topology", *_COUNTS)
_FORMS = ("policy.NAME.PARAMETER", "loss.PARAMETER", "trace.PARAMETER")


@dataclass(frozen=True)
class GridAxis:
    """A key and the texts of its values, at least one.

    The keys are ``policy``, ``loss``, ``trace``, ``topology``, ``pages``, ``seed``, a parameter as
    ``policy.NAME.PARAMETER``, ``loss.PARAMETER`` or ``trace.PARAMETER``, and every key of a topology.

    Raises
    ------
    InputError
        If there is no such key, no value, or a value of pages or seed is no whole number.
    """

    key: str
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        known = self.policy or self.key.startswith(("loss.", "trace.")) or self.key in _WORDS
        if not known and self.key not in topology_keys():
            raise InputError(
                f"There is nothing to vary called {self.key!r}; expected {', '.join((*_WORDS, *_FORMS))} "
                f"or a topology key.{did_you_mean(self.key, [*_WORDS, *topology_keys()])}"
            )
        if not self.values:
            raise InputError(f"{self.key} has no values; expected at least one.")
        for value in self.values:
            if self.key in _COUNTS:
                _COUNTS[self.key].read(value, "sweep")

    @classmethod
    def parse(cls, text: str) -> GridAxis:
        """Read ``KEY=VALUES``; the values as :func:`~psm_sim.campaign.sweep.axis_values.expand_values`."""
        key, equals, values = (part.strip() for part in text.partition("="))
        if not equals or not key:
            raise InputError(
                f"{text!r} is no axis; expected KEY=VALUES, as policy.bsd.p=0.1,0.2,0.5 or seed=1..20."
            )
        return cls(key, expand_values(values, key))

    @classmethod
    def of(cls, key: str, values: object) -> GridAxis:
        """Return an axis of a text, a number, or a list of them, as a grid file or Python gives them."""
        if isinstance(values, str):
            return cls(key, expand_values(values, key))
        several = values if isinstance(values, Iterable) else [values]
        texts = tuple(str(each).lower() if isinstance(each, bool) else str(each) for each in several)
        if len(set(texts)) < len(texts):
            raise InputError(f"{key} is {values!r}; give each value once.")
        return cls(key, texts)

    @property
    def policy(self) -> str:
        """The policy whose parameter varies; empty for any other axis."""
        name, _, parameter = self.key.removeprefix("policy.").rpartition(".")
        return name if self.key.startswith("policy.") and parameter else ""

    @property
    def of_scenario(self) -> bool:
        """Whether it varies where and over which pages the policies run."""
        return not self.policy and self.key.partition(".")[0] not in ("policy", "loss")

    def concerns(self, policy: Spec) -> bool:
        """Say whether the tasks of *policy* differ along it."""
        if self.policy:
            return self.policy == policy.name
        return self.of_scenario or (self.key != "policy" and policy.name == "lpsm")

    def put(self, policy: Spec, value: str) -> Spec:
        """Return *policy* with *value* if this is an axis of policies, else unchanged.

        Raises
        ------
        InputError
            If the policy gives that parameter already, or has no loss to set a parameter of.
        """
        if self.policy:
            return add_parameter(policy, self.key.rpartition(".")[2], value, "policy")
        if self.key == "loss":
            return add_parameter(policy, "loss", value, "policy")
        return self._put_into_loss(policy, value) if self.key.startswith("loss.") else policy

    def _put_into_loss(self, policy: Spec, value: str) -> Spec:
        loss = policy.values.get("loss")
        if loss is None or not LOSSES.knows(loss):
            raise InputError(f"{self.key} is varied, but loss is {loss!r}; name a loss that has parameters.")
        name = self.key.removeprefix("loss.")
        return policy.with_("loss", f"({add_parameter(Spec.parse(loss, 'loss'), name, value, 'loss')})")


def add_parameter(spec: Spec, name: str, value: str, kind: str) -> Spec:
    """Return *spec* with a parameter that it must not give already.

    Parameters
    ----------
    spec
        A policy, loss or trace.
    name, value
        The parameter and its text.
    kind
        What *spec* names, for the error.
    """
    if name in spec.values:
        raise InputError(f"{kind} {str(spec)!r} gives {name}, which is varied too; drop one of the two.")
    return spec.with_(name, value)

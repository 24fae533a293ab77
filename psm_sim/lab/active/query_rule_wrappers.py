"""Query rules that wrap another rule: one-sided labels and a minimum probability."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.common.parameters import parameter
from psm_sim.lab.active.online_learner import wrong_type_error
from psm_sim.lab.active.query_rules import MarginQuery, QueryRule


class WrappedRule(QueryRule):
    """Rule that wraps another rule and passes the labels on to it."""

    rule: QueryRule
    state_attributes: ClassVar[tuple[str, ...]] = ("rule",)

    def _begin(self) -> None:
        if not isinstance(self.rule, QueryRule):
            raise InputError(wrong_type_error(self.rule, QueryRule, f"{self.name}: rule"))

    @property
    def needs_spread(self) -> bool:
        """Whether the wrapped rule needs the spread."""
        return self.rule.needs_spread

    def on_label(self, is_correct: bool) -> None:
        """Notify the wrapped rule."""
        self.rule.on_label(is_correct)


@dataclass(eq=False)
class OneSided(WrappedRule):
    """Rule for one-sided labels: every label is known at margins >= 0.

    Below margin 0 the wrapped rule decides. In a spam filter, for example, a delivered message reveals its
    label, while the label of a blocked message costs a query. The bounds of the margin rules hold unchanged.
    """

    rule: QueryRule = field(default_factory=MarginQuery)

    name: ClassVar[str] = "one-sided"

    def query_probability(self, x: FloatArray, margin: float, spread: float) -> float:
        """Return 1 at a margin of 0 or more, else the probability of the wrapped rule.

        See :meth:`QueryRule.query_probability` for *x*, *margin* and *spread*.
        """
        return 1.0 if margin >= 0 else self.rule.query_probability(x, margin, spread)


@dataclass(eq=False)
class MinimumProbability(WrappedRule):
    """Lower bound of the query probability, so that a confident learner still queries labels.

    Required for targets that drift. A margin-based rule queries least where the learner is most confident,
    and after a jump of the target the learner is confident and wrong.
    """

    p: float = parameter(0.02, "minimum probability", at_least=0, at_most=1)
    rule: QueryRule = field(default_factory=MarginQuery)

    name: ClassVar[str] = "floor"

    def query_probability(self, x: FloatArray, margin: float, spread: float) -> float:
        """Return the larger of p and the probability of the wrapped rule.

        See :meth:`QueryRule.query_probability` for *x*, *margin* and *spread*.
        """
        return max(self.p, self.rule.query_probability(x, margin, spread))

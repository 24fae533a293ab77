"""Query rules around another rule: labels that come by themselves on one side, and a least probability."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from psm_sim.array_types import FloatArray
from psm_sim.errors import InputError
from psm_sim.lab.active.online_learner import wrong_type_error
from psm_sim.lab.active.query_rules import MarginCoin, QueryRule
from psm_sim.parameters import parameter


class WrappedRule(QueryRule):
    """Rule around another one, which hears the bought labels too."""

    rule: QueryRule
    state_attributes: ClassVar[tuple[str, ...]] = ("rule",)

    def _begin(self) -> None:
        if not isinstance(self.rule, QueryRule):
            raise InputError(wrong_type_error(self.rule, QueryRule, f"{self.name}: rule"))

    @property
    def needs_spread(self) -> bool:
        """As the wrapped rule."""
        return self.rule.needs_spread

    def told(self, right: bool) -> None:
        """Pass on to the wrapped rule."""
        self.rule.told(right)


@dataclass(eq=False)
class OneSided(WrappedRule):
    """One-sided labels: all are bought at a margin of 0 or more, else by the wrapped rule.

    A message that is let through shows what it was; the label of one that is held back has its price.
    The bounds of the margin coins hold unchanged.
    """

    rule: QueryRule = field(default_factory=MarginCoin)

    name: ClassVar[str] = "one-sided"

    def chance(self, x: FloatArray, margin: float, spread: float) -> float:
        """Return 1 at a margin of 0 or more, else the rule's.

        *x*, *margin* and *spread* as in :meth:`QueryRule.chance`.
        """
        return 1.0 if margin >= 0 else self.rule.chance(x, margin, spread)


@dataclass(eq=False)
class MinimumProbability(WrappedRule):
    """Least probability: the larger of *p* and the wrapped rule's, so that a sure learner still looks.

    Needed by anything that must follow drift: a margin's rule asks least where it is surest, and a target
    that has jumped leaves it sure and wrong.
    """

    p: float = parameter(0.02, "least probability", at_least=0, at_most=1)
    rule: QueryRule = field(default_factory=MarginCoin)

    name: ClassVar[str] = "floor"

    def chance(self, x: FloatArray, margin: float, spread: float) -> float:
        """Return the larger of p and the rule's.

        *x*, *margin* and *spread* as in :meth:`QueryRule.chance`.
        """
        return max(self.p, self.rule.chance(x, margin, spread))

"""Query rules, which return the probability of querying a label."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

from numpy.typing import ArrayLike

from psm_sim.common.array_types import FloatArray
from psm_sim.common.parameters import check_all, parameter
from psm_sim.lab.active import input_checks
from psm_sim.lab.active.online_learner import OnlineLearner
from psm_sim.lab.active.serializable import Serializable


@dataclass(eq=False)
class QueryRule(Serializable, ABC):
    """Rule that returns a query probability; it draws no random numbers itself.

    A subclass implements :meth:`query_probability`. It may override :meth:`on_label` to learn whether a
    queried label was predicted correctly.
    """

    def __post_init__(self) -> None:
        check_all(self, self.name)
        self._begin()

    def _begin(self) -> None:
        """Set the attributes of a new rule."""

    @property
    def needs_spread(self) -> bool:
        """Whether :meth:`query_probability` uses the spread and so requires a second-order learner."""
        return False

    def probability(self, learner: OnlineLearner, x: ArrayLike) -> float:
        """Return the probability of querying the label of *x*, shape (features,), under *learner*.

        A rule that counts rounds counts this call as a round.
        """
        instance, _ = input_checks.check_instance(x, learner.features, self.name)
        return self.query_probability(instance, *learner._view(instance))

    @abstractmethod
    def query_probability(self, x: FloatArray, margin: float, spread: float) -> float:
        """Return the query probability; called once per round.

        Parameters
        ----------
        x : ndarray, shape (features,)
            Instance.
        margin : float
            Margin of the instance under the learner, in units of the label.
        spread : float
            x'A^-1 x before the instance, in units of 1/label^2; 0 for a first-order learner.

        Returns
        -------
        float
            Probability, 0 to 1; for 0 and 1 no Bernoulli draw is made.
        """

    def on_label(self, is_correct: bool) -> None:
        """Handle a queried label; *is_correct* is whether the sign of the margin predicted it."""


@dataclass(eq=False)
class AlwaysQuery(QueryRule):
    """Rule that queries every label (supervised learning)."""

    name: ClassVar[str] = "always"
    band: ClassVar[float] = float("inf")

    def query_probability(self, x: FloatArray, margin: float, spread: float) -> float:
        """Return 1.

        See :meth:`QueryRule.query_probability` for *x*, *margin* and *spread*.
        """
        return 1.0


@dataclass(eq=False)
class BernoulliQuery(QueryRule):
    """Rule that queries every label with the same probability, independent of the margin."""

    p: float = parameter(0.5, "probability of querying a label", at_least=0, at_most=1)

    name: ClassVar[str] = "coin"

    def query_probability(self, x: FloatArray, margin: float, spread: float) -> float:
        """Return p.

        See :meth:`QueryRule.query_probability` for *x*, *margin* and *spread*.
        """
        return self.p


@dataclass(eq=False)
class MarginQuery(QueryRule):
    """Margin rule with query probability ``b / (b + |r|)``, which increases towards the plane.

    For a Perceptron only b / eta matters. With ``adaptive`` set, ``b`` is replaced by
    ``adaptive * max |x|^2 * sqrt(1 + K)``, where K is the number of queried mistakes so far.

    Source: Cesa-Bianchi, Gentile and Zaniboni, figure 1. The adaptive form is from the journal version
    (JMLR 7, 2006); it performed worse in Monteleoni's experiments.
    """

    b: float = parameter(0.1, "margin with query probability 1/2", above=0)
    adaptive: float | None = parameter(
        None, "scale of a b that grows with the queried mistakes", above=0, optional=True
    )

    name: ClassVar[str] = "margin-coin"
    state_attributes: ClassVar[tuple[str, ...]] = ("mistakes", "longest")

    def _begin(self) -> None:
        self.mistakes, self.longest = 0, 0.0

    def query_probability(self, x: FloatArray, margin: float, spread: float) -> float:
        """Return b / (b + |margin|).

        See :meth:`QueryRule.query_probability` for *x*, *margin* and *spread*.
        """
        b = self.b if self.adaptive is None else self._adaptive_b(self.adaptive, x)
        return b / (b + abs(margin)) if margin else 1.0

    def _adaptive_b(self, scale: float, x: FloatArray) -> float:
        self.longest = max(self.longest, float(x.dot(x)))
        return scale * self.longest * sqrt(1 + self.mistakes)

    def on_label(self, is_correct: bool) -> None:
        """Count a queried mistake."""
        self.mistakes += not is_correct


@dataclass(eq=False)
class SecondOrderQuery(QueryRule):
    """Second-order margin rule with probability ``b / (b + |r| + r^2 (1 + q) / 2)`` for spread q.

    Source: Cesa-Bianchi, Gentile and Zaniboni, figure 2, equation 3.
    """

    b: float = parameter(0.1, "scale of the margin", above=0)

    name: ClassVar[str] = "second-order-coin"

    @property
    def needs_spread(self) -> bool:
        """Whether the spread is needed (always true)."""
        return True

    def query_probability(self, x: FloatArray, margin: float, spread: float) -> float:
        """Return the probability.

        See :meth:`QueryRule.query_probability` for *x*, *margin* and *spread*.
        """
        return self.b / (self.b + abs(margin) + margin * margin * (1 + spread) / 2)

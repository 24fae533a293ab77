"""Query rules: with what probability a label is bought."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

from numpy.typing import ArrayLike

from psm_sim.array_types import FloatArray
from psm_sim.lab.active import input_checks
from psm_sim.lab.active.online_learner import OnlineLearner
from psm_sim.lab.active.serializable import Serializable
from psm_sim.parameters import check_all, parameter


@dataclass(eq=False)
class QueryRule(Serializable, ABC):
    """Rule that says how likely the label of an instance is bought; it draws nothing itself.

    A subclass supplies :meth:`chance`; :meth:`told` hears whether a bought label was predicted right.
    """

    def __post_init__(self) -> None:
        check_all(self, self.name)
        self._begin()

    def _begin(self) -> None:
        """Set the attributes of a rule that has seen nothing."""

    @property
    def needs_spread(self) -> bool:
        """Whether :meth:`chance` uses the spread, so that only a second-order learner will do."""
        return False

    def probability(self, learner: OnlineLearner, x: ArrayLike) -> float:
        """Return the probability, 0 to 1, of buying the label of *x*, shape (features,); may count rounds."""
        found, _ = input_checks.check_instance(x, learner.features, self.name)
        return self.chance(found, *learner._view(found))

    @abstractmethod
    def chance(self, x: FloatArray, margin: float, spread: float) -> float:
        """Return the probability of buying a label, called once per round.

        Parameters
        ----------
        x : ndarray, shape (features,)
            The instance.
        margin : float
            Its margin under the learner, in units of the label.
        spread : float
            x'A^-1 x before the instance, in units of 1/label^2; 0 for a first-order learner.

        Returns
        -------
        float
            From 0 to 1; 0 and 1 draw no coin.
        """

    def told(self, right: bool) -> None:
        """Hear that a label was bought and that the margin had its sign (*right*) or not."""


@dataclass(eq=False)
class AlwaysQuery(QueryRule):
    """Every label is bought: the supervised learner."""

    name: ClassVar[str] = "always"
    band: ClassVar[float] = float("inf")

    def chance(self, x: FloatArray, margin: float, spread: float) -> float:
        """Return 1.

        *x*, *margin* and *spread* as in :meth:`QueryRule.chance`.
        """
        return 1.0


@dataclass(eq=False)
class BernoulliQuery(QueryRule):
    """Fixed bias: every label is bought with the same probability, whatever the margin."""

    p: float = parameter(0.5, "probability of buying a label", at_least=0, at_most=1)

    name: ClassVar[str] = "coin"

    def chance(self, x: FloatArray, margin: float, spread: float) -> float:
        """Return p.

        *x*, *margin* and *spread* as in :meth:`QueryRule.chance`.
        """
        return self.p


@dataclass(eq=False)
class MarginCoin(QueryRule):
    """Margin coin: probability ``b / (b + |r|)``; the closer to the plane, the more likely.

    Only b / eta matters to a Perceptron. With ``adaptive`` b grows as
    ``adaptive * max |x|^2 * sqrt(1 + K)``, K the mistakes bought so far, and ``b`` is not used.

    Source: Cesa-Bianchi, Gentile and Zaniboni, figure 1; the adaptive form is of the journal version
    (JMLR 7, 2006) and did worse in Monteleoni's experiments.
    """

    b: float = parameter(0.1, "margin at which a label is bought with probability 1/2", above=0)
    adaptive: float | None = parameter(
        None, "scale of a b that grows with the mistakes", above=0, optional=True
    )

    name: ClassVar[str] = "margin-coin"
    state_attributes: ClassVar[tuple[str, ...]] = ("mistakes", "longest")

    def _begin(self) -> None:
        self.mistakes, self.longest = 0, 0.0

    def chance(self, x: FloatArray, margin: float, spread: float) -> float:
        """Return b / (b + |margin|).

        *x*, *margin* and *spread* as in :meth:`QueryRule.chance`.
        """
        b = self.b if self.adaptive is None else self._grown(self.adaptive, x)
        return b / (b + abs(margin)) if margin else 1.0

    def _grown(self, scale: float, x: FloatArray) -> float:
        self.longest = max(self.longest, float(x.dot(x)))
        return scale * self.longest * sqrt(1 + self.mistakes)

    def told(self, right: bool) -> None:
        """Count a bought mistake."""
        self.mistakes += not right


@dataclass(eq=False)
class SecondOrderCoin(QueryRule):
    """Second-order margin coin: probability ``b / (b + |r| + r^2 (1 + q) / 2)``, q the spread.

    Source: Cesa-Bianchi, Gentile and Zaniboni, figure 2, equation 3.
    """

    b: float = parameter(0.1, "scale of the margin", above=0)

    name: ClassVar[str] = "second-order-coin"

    @property
    def needs_spread(self) -> bool:
        """The spread stands in the probability."""
        return True

    def chance(self, x: FloatArray, margin: float, spread: float) -> float:
        """Return the probability.

        *x*, *margin* and *spread* as in :meth:`QueryRule.chance`.
        """
        return self.b / (self.b + abs(margin) + margin * margin * (1 + spread) / 2)

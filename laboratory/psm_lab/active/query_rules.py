"""Query rules, which return the probability of querying a label."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

from psm_lab.active.online_learner import wrong_type_error
from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.common.parameters import check_all, parameter


@dataclass(eq=False)
class QueryRule(ABC):
    """Rule that returns a query probability; it draws no random numbers itself.

    A subclass implements :meth:`query_probability`. It may override :meth:`on_label` to learn whether a
    queried label was predicted correctly.
    """

    name: ClassVar[str] = ""

    def __post_init__(self) -> None:
        check_all(self, self.name)
        self._begin()

    def _begin(self) -> None:  # noqa: B027 (an optional hook)
        """Set the attributes of a new rule."""

    @property
    def needs_spread(self) -> bool:
        """Whether :meth:`query_probability` uses the spread and so requires a second-order learner."""
        return False

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

    def on_label(self, is_correct: bool) -> None:  # noqa: B027 (an optional hook)
        """Handle a queried label; *is_correct* is whether the sign of the margin predicted it."""


@dataclass(eq=False)
class AlwaysQuery(QueryRule):
    """Rule that queries every label (supervised learning)."""

    name: ClassVar[str] = "always"
    band: ClassVar[float] = float("inf")

    def query_probability(self, x: FloatArray, margin: float, spread: float) -> float:
        """Return 1."""
        return 1.0


@dataclass(eq=False)
class BernoulliQuery(QueryRule):
    """Rule that queries every label with the same probability, independent of the margin."""

    p: float = parameter(0.5, "probability of querying a label", at_least=0, at_most=1)

    name: ClassVar[str] = "coin"

    def query_probability(self, x: FloatArray, margin: float, spread: float) -> float:
        """Return p."""
        return self.p


@dataclass(eq=False)
class MarginQuery(QueryRule):
    """Margin rule with query probability ``b / (b + |r|)``, which increases towards the plane.

    For a Perceptron only b / eta matters.

    Source: Cesa-Bianchi, Gentile and Zaniboni, figure 1.
    """

    b: float = parameter(0.1, "margin with query probability 1/2", above=0)

    name: ClassVar[str] = "margin-coin"

    def query_probability(self, x: FloatArray, margin: float, spread: float) -> float:
        """Return b / (b + |margin|)."""
        return self.b / (self.b + abs(margin)) if margin else 1.0


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
        """Return the probability."""
        return self.b / (self.b + abs(margin) + margin * margin * (1 + spread) / 2)


@dataclass(eq=False)
class DkmHalvingRule(QueryRule):
    """Halving band of DKM: query labels with ``|r| <= s``, and halve s after R correct predictions in a row.

    A queried mistake resets the count and leaves s unchanged. A halving also resets the count (erratum E4 of
    the thesis's figure 3-4; otherwise s would decrease at every further correct label). If R is too small, s
    decreases faster than the error, and the learner stops querying. Memory: two numbers.

    Parameters
    ----------
    R : int
        Number of correct predictions in a row that halve the band, at least 1. For the theoretical value see
        :func:`~psm_lab.active.theorem_bounds.dkm_patience`.
    s1 : float or None
        Initial half width of the band, in units of the margin. None selects 1 for every distribution. The
        thesis uses ``1 / sqrt(features)`` for the uniform sphere.

    References
    ----------
    Thesis, figures 3-4 and 4-3; Dasgupta, Kalai and Monteleoni (2005).
    """

    R: int = parameter(16, "correct predictions in a row that halve the band", at_least=1)
    s1: float | None = parameter(None, "initial half width of the band; none is 1", above=0)

    name: ClassVar[str] = "halving"

    def _begin(self) -> None:
        self.s, self.run = 1.0 if self.s1 is None else float(self.s1), 0

    @property
    def band(self) -> float:
        """Half width s; labels are queried up to this margin only."""
        return self.s

    def query_probability(self, x: FloatArray, margin: float, spread: float) -> float:
        """Return 1 inside the band, else 0."""
        return 1.0 if abs(margin) <= self.s else 0.0

    def on_label(self, is_correct: bool) -> None:
        """Count correct predictions and halve the band after R in a row. A mistake resets the count."""
        self.run = self.run + 1 if is_correct else 0
        if self.run >= self.R:
            self.s, self.run = self.s / 2, 0


@dataclass(eq=False)
class BbqNoveltyRule(QueryRule):
    """Novelty rule of BBQ: query labels with ``q / (1 + q) > t^-kappa``, independent of the margin.

    t counts all rounds from 1, and q is the spread. The rule fails after a change of the target, because the
    spread stays small and no label is queried.

    Source: Cesa-Bianchi, Gentile and Orabona (2009), BBQ; baseline of Moroshko and Crammer.
    """

    kappa: float = parameter(0.33, "decay exponent of the threshold", at_least=0, at_most=1)

    name: ClassVar[str] = "novelty"

    def _begin(self) -> None:
        self.rounds = 0

    @property
    def needs_spread(self) -> bool:
        """Whether the spread is needed (always true)."""
        return True

    def query_probability(self, x: FloatArray, margin: float, spread: float) -> float:
        """Return 1 or 0, and count the round."""
        self.rounds += 1
        return 1.0 if spread / (1 + spread) > self.rounds**-self.kappa else 0.0


@dataclass(eq=False)
class OneSided(QueryRule):
    """Rule for one-sided labels: every label is known at margins >= 0.

    Below margin 0 the wrapped rule decides. In a spam filter, for example, a delivered message reveals its
    label, while the label of a blocked message costs a query. The bounds of the margin rules hold unchanged.
    """

    rule: QueryRule = field(default_factory=MarginQuery)

    name: ClassVar[str] = "one-sided"

    def _begin(self) -> None:
        if not isinstance(self.rule, QueryRule):
            raise InputError(wrong_type_error(self.rule, QueryRule, f"{self.name}: rule"))

    @property
    def needs_spread(self) -> bool:
        """Whether the wrapped rule needs the spread."""
        return self.rule.needs_spread

    def query_probability(self, x: FloatArray, margin: float, spread: float) -> float:
        """Return 1 at a margin of 0 or more, else the probability of the wrapped rule."""
        return 1.0 if margin >= 0 else self.rule.query_probability(x, margin, spread)

    def on_label(self, is_correct: bool) -> None:
        """Notify the wrapped rule."""
        self.rule.on_label(is_correct)

"""Query rules with a threshold: the halving band of DKM and the novelty rule of BBQ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from psm_sim.common.array_types import FloatArray
from psm_sim.common.parameters import parameter
from psm_sim.lab.active.query_rules import QueryRule


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
        :func:`~psm_sim.lab.active.theorem_bounds.dkm_patience`.
    s1 : float or None
        Initial half width of the band, in units of the margin. None is 1, for any distribution. The thesis
        uses ``1 / sqrt(features)`` for the uniform sphere.
    regrow : bool
        Extension for skewed streams, neither in the papers nor measured. A mistake doubles s, up to s1, and a
        run of correct predictions halves s only if it includes a positive.

    References
    ----------
    Thesis, figures 3-4 and 4-3; Dasgupta, Kalai and Monteleoni (2005).
    """

    R: int = parameter(16, "correct predictions in a row that halve the band", at_least=1)
    s1: float | None = parameter(None, "initial half width of the band; none is 1", above=0, optional=True)
    regrow: bool = parameter(False, "a mistake doubles the band; a run must include a positive")

    name: ClassVar[str] = "halving"
    state_attributes: ClassVar[tuple[str, ...]] = ("s", "run", "above", "positive")

    def _begin(self) -> None:
        self.s, self.run = 1.0 if self.s1 is None else float(self.s1), 0
        self.above = self.positive = False

    @property
    def band(self) -> float:
        """Half width s; labels are queried up to this margin only."""
        return self.s

    def query_probability(self, x: FloatArray, margin: float, spread: float) -> float:
        """Return 1 inside the band, else 0.

        See :meth:`QueryRule.query_probability` for *x*, *margin* and *spread*.
        """
        self.above = margin >= 0
        return 1.0 if abs(margin) <= self.s else 0.0

    def on_label(self, is_correct: bool) -> None:
        """Count correct predictions and halve the band after R in a row. A mistake resets the count."""
        if not is_correct:
            self.run, self.positive = 0, False
            if self.regrow:
                self.s = min(1.0 if self.s1 is None else self.s1, 2 * self.s)
            return
        self.run += 1
        self.positive = self.positive or self.above
        if self.run >= self.R and (self.positive or not self.regrow):
            self._halve()

    def _halve(self) -> None:
        self.s /= 2
        self.run, self.positive = 0, False


@dataclass(eq=False)
class BbqNoveltyRule(QueryRule):
    """Novelty rule of BBQ: query labels with ``q / (1 + q) > t^-kappa``, independent of the margin.

    t counts all rounds from 1, and q is the spread. The rule fails after a change of the target, because the
    spread stays small and no label is queried.

    Source: Cesa-Bianchi, Gentile and Orabona (2009), BBQ; baseline of Moroshko and Crammer.
    """

    kappa: float = parameter(0.33, "decay exponent of the threshold", at_least=0, at_most=1)

    name: ClassVar[str] = "novelty"
    state_attributes: ClassVar[tuple[str, ...]] = ("rounds",)

    def _begin(self) -> None:
        self.rounds = 0

    @property
    def needs_spread(self) -> bool:
        """Whether the spread is needed (always true)."""
        return True

    def query_probability(self, x: FloatArray, margin: float, spread: float) -> float:
        """Return 1 or 0, and count the round.

        See :meth:`QueryRule.query_probability` for *x*, *margin* and *spread*.
        """
        self.rounds += 1
        return 1.0 if spread / (1 + spread) > self.rounds**-self.kappa else 0.0

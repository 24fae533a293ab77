"""Query rules with a threshold: the halving band of DKM and the novelty rule of BBQ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from psm_sim.array_types import FloatArray
from psm_sim.lab.active.query_rules import QueryRule
from psm_sim.parameters import parameter


@dataclass(eq=False)
class DkmHalvingRule(QueryRule):
    """Halving band of DKM: a label is bought where ``|r| <= s``; R right ones in a row halve s.

    A bought mistake sets the run to 0 and leaves s; so does a halving (erratum E4 of the thesis's figure
    3-4: without it s falls at every further right label). Too small an R makes s fall faster than the
    error, and the learner goes blind: it asks no more. Memory: two numbers.

    Parameters
    ----------
    R : int
        Right labels in a row that halve the band, at least 1; theory:
        :func:`~psm_sim.lab.active.theorem_bounds.dkm_patience`.
    s1 : float or None
        The first half width of the band, in units of the margin. None is 1, for any distribution;
        ``1 / sqrt(features)`` is the thesis's for the uniform sphere.
    regrow : bool
        Not of the papers and not measured, for skewed streams: a mistake doubles s, up to s1, and a run
        halves only if it holds a positive.

    Source: thesis, figures 3-4 and 4-3; Dasgupta, Kalai and Monteleoni (2005).
    """

    R: int = parameter(16, "right labels in a row that halve the band", at_least=1)
    s1: float | None = parameter(None, "first half width of the band; none is 1", above=0, optional=True)
    regrow: bool = parameter(False, "a mistake doubles the band; runs must hold a positive")

    name: ClassVar[str] = "halving"
    state_attributes: ClassVar[tuple[str, ...]] = ("s", "run", "above", "positive")

    def _begin(self) -> None:
        self.s, self.run = 1.0 if self.s1 is None else float(self.s1), 0
        self.above = self.positive = False

    @property
    def band(self) -> float:
        """The half width s: labels are bought up to this margin, and none beyond."""
        return self.s

    def chance(self, x: FloatArray, margin: float, spread: float) -> float:
        """Return 1 inside the band, else 0.

        *x*, *margin* and *spread* as in :meth:`QueryRule.chance`.
        """
        self.above = margin >= 0
        return 1.0 if abs(margin) <= self.s else 0.0

    def told(self, right: bool) -> None:
        """Count a right label; halve the band after R of them; a mistake starts the run anew."""
        if not right:
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
    """Novelty rule of BBQ: a label is bought where ``q / (1 + q) > t^-kappa``, whatever the margin.

    t counts all rounds from 1, q is the spread. The rule deceives itself after a change of target: the
    spread has shrunk, and nothing is asked.

    Source: Cesa-Bianchi, Gentile and Orabona (2009), BBQ; baseline of Moroshko and Crammer.
    """

    kappa: float = parameter(0.33, "how fast the threshold falls with the rounds", at_least=0, at_most=1)

    name: ClassVar[str] = "novelty"
    state_attributes: ClassVar[tuple[str, ...]] = ("rounds",)

    def _begin(self) -> None:
        self.rounds = 0

    @property
    def needs_spread(self) -> bool:
        """The spread is all it looks at."""
        return True

    def chance(self, x: FloatArray, margin: float, spread: float) -> float:
        """Return 1 or 0, and count the round.

        *x*, *margin* and *spread* as in :meth:`QueryRule.chance`.
        """
        self.rounds += 1
        return 1.0 if spread / (1 + spread) > self.rounds**-self.kappa else 0.0

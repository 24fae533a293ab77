"""Second-order learners: LASEC, the second-order Perceptron and ridge regression."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from psm_lab.active import input_checks
from psm_lab.active.online_learner import OnlineLearner
from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.common.parameters import parameter


@dataclass(eq=False)
class Lasec(OnlineLearner):
    """LASEC: least squares over the mistakes, for a drifting target. Time and memory O(d^2).

    The state is w and G = P + I/c. With g = G x and q = x.g the margin is (w.x) / (1 + q). An update sets ``w
    += g (y - w.x) / (1 + q)`` and ``P = G - g g' / (1 + q)``. This is equivalent to the two inversions per
    round in figure 1 of the paper. w is the last vector of the sequence u that minimises ridge |u_1|^2 + c
    sum |u_{s+1} - u_s|^2 + sum (y_s - u_s.x_s)^2 over the updates.

    The drift applies once per update, not once per round. The mistake bound of the margin rule is
    :func:`~psm_lab.active.theorem_bounds.lasec_ss_bound`.

    Parameters
    ----------
    features : int
        Number of features d, at least 1.
    ridge : float
        Penalty on the first vector, in units of |x|^2; above 0.
    c : float or None
        Inverse drift rate, above the ridge. None or infinity disables drift, which gives the second-order
        Perceptron.

    References
    ----------
    Moroshko and Crammer, figure 1.

    Examples
    --------
    >>> learner = Lasec(features=2, ridge=1.0, c=None)
    >>> learner.learn([1.0, 0.0], 1)
    True
    >>> learner.w.tolist(), round(learner.margin([1.0, 0.0]), 6), learner.spread([1.0, 0.0])
    ([0.5, 0.0], 0.333333, 0.5)
    """

    ridge: float = parameter(10.0, "penalty on the first vector, in units of |x|^2", above=0)
    c: float | None = parameter(1000.0, "inverse drift rate; none disables drift", above=0)

    name: ClassVar[str] = "lasec"

    def __post_init__(self) -> None:
        self.c = None if self.c == math.inf else self.c
        super().__post_init__()

    def _begin(self) -> None:
        if self.c is not None and not self.ridge < self.c:
            raise InputError(f"{self.name}: c must be > ridge={self.ridge!r} or none, got {self.c!r}.")
        self._drift = 0.0 if self.c is None else 1 / self.c
        self.G: FloatArray = np.eye(self.features) / self.ridge

    def spread(self, x: ArrayLike) -> float:
        """Return q = x'G x of an instance, shape (features,), in units of 1/label^2."""
        return self._view(input_checks.check_instance(x, self.features, self.name)[0])[1]

    def _view(self, x: FloatArray) -> tuple[float, float]:
        q = float(x.dot(self.G.dot(x)))
        return float(x.dot(self.w)) / (1 + q), q

    def _margins(self, X: FloatArray) -> FloatArray:
        spreads = np.einsum("ij,ij->i", X @ self.G, X)
        return np.asarray((X @ self.w) / (1 + spreads))

    def _learn(self, x: FloatArray, y: float) -> bool:
        product = float(x.dot(self.w))
        if y * product > 0:
            return False
        self._fit(x, y - product)
        return True

    def _fit(self, x: FloatArray, error: float) -> None:
        """Add the squared loss of x to the fit; *error* is y - w.x."""
        g = self.G.dot(x)
        scaled = g / (1 + float(x.dot(g)))
        self.w += error * scaled
        self.G -= g[:, None] * scaled
        if self._drift:
            self.G.flat[:: self.features + 1] += self._drift


@dataclass(eq=False)
class SecondOrderPerceptron(Lasec):
    """Second-order Perceptron, which is LASEC without drift (c = infinity). Time and memory O(d^2).

    Source: Cesa-Bianchi, Conconi and Gentile (2005); Cesa-Bianchi, Gentile and Zaniboni, figure 2.
    """

    ridge: float = parameter(1.0, "penalty on w, in units of |x|^2", above=0)
    c: float | None = parameter(None, "inverse drift rate; none disables drift", above=0)

    name: ClassVar[str] = "second-order-perceptron"


@dataclass(eq=False)
class RidgeRegression(SecondOrderPerceptron):
    """Ridge regression, the learner of BBQ; every queried label causes an update.

    Source: Cesa-Bianchi, Gentile and Orabona (2009); baseline of Moroshko and Crammer.
    """

    name: ClassVar[str] = "ridge-regression"

    def _learn(self, x: FloatArray, y: float) -> bool:
        self._fit(x, y - float(x.dot(self.w)))
        return True

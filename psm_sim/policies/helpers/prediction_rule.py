"""Rules that turn the weights of the experts into one polling time."""

from __future__ import annotations

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError, did_you_mean
from psm_sim.common.random_streams import random_stream
from psm_sim.learning import Learner

MEAN = "mean"
"""Rule of the thesis, eq. 2.32."""

RULES = (MEAN, "harmonic", "median", "quantile:Q", "sample")
"""Names of the rules. Q is a share of the weight, from 0 to 1."""


class PredictionRule:
    """Rule that turns the weights of the experts into one polling time.

    ``mean`` and ``harmonic`` are weighted means of the times and of the polling rates. ``quantile:Q`` is the
    shortest time for which it and all shorter times have at least the weight Q, and ``median`` is
    ``quantile:0.5``. ``sample`` draws one expert's time by its weight. The draws are the same in every run.

    Parameters
    ----------
    rule : str
        One of :data:`RULES`.
    times_ms : ndarray, shape (n,)
        Polling times of the experts, in ms, ascending.
    owner : str
        Component named in error messages.

    Raises
    ------
    InputError
        If the rule is unknown, or Q is not a number from 0 to 1.
    """

    def __init__(self, rule: str, times_ms: FloatArray, owner: str) -> None:
        self._times_ms = times_ms
        self._kind, _, argument = rule.partition(":")
        self._quantile = 0.5
        if self._kind == "quantile":
            self._quantile = _parse_quantile(rule, argument, owner)
        elif rule not in RULES:
            raise InputError(
                f"{owner}: rule must be one of {', '.join(RULES)}, got {rule!r}.{did_you_mean(rule, RULES)}"
            )
        self.start()

    def start(self) -> None:
        """Restart the draws of ``sample``."""
        self._random = random_stream(0, "policy lpsm.sample")

    def predict(self, learner: Learner) -> float:
        """Return the polling time for the learner's weights, in ms."""
        if self._kind == MEAN:
            return learner.predict(self._times_ms)
        if self._kind == "harmonic":
            return 1 / learner.predict(1 / self._times_ms)
        share = float(self._random.random()) if self._kind == "sample" else self._quantile
        index = int(np.searchsorted(learner.weights.cumsum(), share))
        return float(self._times_ms[min(index, self._times_ms.size - 1)])


def _parse_quantile(rule: str, argument: str, owner: str) -> float:
    try:
        quantile = float(argument)
    except ValueError:
        quantile = -1.0
    if not 0 <= quantile <= 1:
        raise InputError(f"{owner}: the quantile of rule must be a number from 0 to 1, got {rule!r}.")
    return quantile

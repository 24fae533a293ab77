"""Fixed-share whose switching rate decreases with the number of rounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.learning import serialization
from psm_sim.learning.learner import Learner


class DecreasingShare(Learner):
    """Fixed-share learner with the switching rate 1 / (t + 1) after round t.

    The learner has no parameter and needs no horizon (Adamskiy, Koolen, Chernov and Vovk, "A closer look at
    adaptive regret", Journal of Machine Learning Research 17, 2016). A round takes O(n) time.

    Parameters
    ----------
    n_experts : int
        Number of experts, at least 1.

    Examples
    --------
    >>> import math
    >>> learner = DecreasingShare(n_experts=3)
    >>> _ = learner.update([0.0, math.log(3), math.log(3)])
    >>> learner.weights.round(6).tolist()  # 1/2 * (0.6, 0.2, 0.2) + 1/4 * (0.4, 0.8, 0.8)
    [0.4, 0.3, 0.3]
    """

    name = "decreasing-share"

    @property
    def alpha(self) -> float:
        """Switching rate after the next round."""
        return 1 / (self.rounds + 2)

    def _learn(self, relative: FloatArray) -> float:
        posterior = np.exp(relative) * self._weights
        total = float(posterior.sum())
        posterior /= total
        if self.n_experts > 1:
            share = self.alpha / (self.n_experts - 1)
            posterior = (1 - self.alpha) * posterior + share * (1 - posterior)
        self._weights = posterior
        return -float(np.log(total))

    def _dump_state(self) -> dict[str, Any]:
        return {"weights": self._weights.tolist()}

    def _load_state(self, state: Mapping[str, Any]) -> None:
        self._weights = serialization.load_weights(state, "weights", self._shape, self.name)

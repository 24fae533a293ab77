"""Learn-alpha with few switching rates."""

from __future__ import annotations

import numpy as np

from psm_sim.learning.thesis_learners import LearnAlpha


class ShortLearnAlpha(LearnAlpha):
    """Learn-alpha learner with eight switching rates, equally spaced on a logarithmic scale.

    It needs no horizon, and a round takes less time than with the rates of the thesis. Its loss exceeds that
    of Fixed-share with the best of its rates by at most log 8 nats. The bound of Corollary 1, against any
    switching rate, does not apply.

    Parameters
    ----------
    n_experts : int
        Number of experts, at least 1.

    Examples
    --------
    >>> ShortLearnAlpha(n_experts=2).rates.round(4).tolist()
    [0.0001, 0.0003, 0.0011, 0.0038, 0.013, 0.0439, 0.1481, 0.5]
    """

    name = "short-learn-alpha"

    def __init__(self, n_experts: int) -> None:
        super().__init__(n_experts, np.geomspace(1e-4, 0.5, 8))

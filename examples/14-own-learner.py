"""Write your own learner, which weights the polling times of LPSM.

A learner is a class with the method learn(). This method receives the log-likelihoods of the experts
relative to the best one, sets the weights for the next round, and returns the loss of the mixture.
MixingPast assumes that the same few experts become best again and again. The next weights are the last
posterior, mixed with the mean of all earlier posteriors (Bousquet and Warmuth, 2002, "uniform past").

On the command line:  python -m psm_sim --policy lpsm:learner=examples/14-own-learner.py:MixingPast
Run:                  python examples/14-own-learner.py
Renew the output:     python examples/14-own-learner.py > examples/14-own-learner.txt
"""

import numpy as np

import psm_sim
from psm_sim.common.array_types import FloatArray
from psm_sim.learning import Learner


class MixingPast(Learner):
    """Mix the last posterior with the mean of all earlier posteriors."""

    name = "mixing-past"

    def __init__(self, n_experts: int, alpha: float = 0.02) -> None:
        super().__init__(n_experts)
        self.alpha = alpha
        self._past = self.weights

    def learn(self, log_likelihoods: FloatArray) -> float:
        """Update the weights with one round."""
        posterior = np.exp(log_likelihoods) * self.weights
        total = float(posterior.sum())
        posterior /= total
        self.weights = (1 - self.alpha) * posterior + self.alpha * self._past
        self._past += (posterior - self._past) / (self.rounds + 2)
        return -float(np.log(total))


def main() -> None:
    """Check the learner, and compare LPSM with it and with built-in learners."""
    print(psm_sim.check(MixingPast).summary)
    policies = {
        "Learn-alpha": "lpsm",
        "MixingPast": f"lpsm:learner={__file__}:MixingPast",
        "Fixed-share": "lpsm:alpha=0.02",
    }
    frame = psm_sim.compare(list(policies.values()), pages=20, baselines=False).frame
    frame.insert(0, "learner", list(policies))
    print(frame[["learner", "energy_per_page_j", "slowdown.mean"]].round(3).to_string(index=False))


if __name__ == "__main__":
    main()

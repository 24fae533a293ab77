"""Run Learn-alpha on any losses, without a radio or a simulator.

Six experts suffer a loss in every round. The best expert changes every 100 rounds, which the learners
do not know. Static-expert assumes that one expert is best throughout. Fixed-share assumes a switching
rate, the probability that the best expert changes. Learn-alpha learns the switching rate. The script
compares the losses of the learners with two offline optima: the best fixed expert, and Fixed-share
with the best switching rate.

Run:               python examples/07-stand-alone-learner.py
Renew the output:  python examples/07-stand-alone-learner.py > examples/07-stand-alone-learner.txt
"""

import numpy as np

from psm_sim.learning import (
    FixedShare,
    LearnAlpha,
    Learner,
    StaticExpert,
    best_expert,
    best_rate,
    switching_rates,
)

ROUNDS, EXPERTS = 1000, 6


def main() -> None:
    """Run three learners on the same losses."""
    # The best expert loses 0.2 nats in a round, the others 1 nat: shape (rounds, experts).
    best = (np.arange(ROUNDS) // 100 * 2) % EXPERTS
    losses = np.where(np.arange(EXPERTS) == best[:, None], 0.2, 1.0)

    learners: dict[str, Learner] = {
        "static-expert": StaticExpert(EXPERTS),
        "fixed-share, alpha 0.3": FixedShare(EXPERTS, alpha=0.3),
        "learn-alpha": LearnAlpha(EXPERTS, rates=switching_rates(horizon=ROUNDS)),
    }
    for name, learner in learners.items():
        total = sum(learner.update(row) for row in losses)  # the mixture loss, in nats
        print(f"{name:<24} {total:7.1f} nats")
    print(f"{'best fixed expert':<24} {losses[:, best_expert(losses)].sum():7.1f} nats")
    hindsight = best_rate(losses)
    print(f"{'best switching rate':<24} {hindsight.loss:7.1f} nats, alpha* = {hindsight.alpha:.4f}")

    learner = learners["learn-alpha"]
    print()
    print("weights of learn-alpha's experts:", np.round(learner.weights, 3).tolist())
    print(f"its prediction, if expert i predicts i: {learner.predict(np.arange(EXPERTS, dtype=float)):.3f}")


if __name__ == "__main__":
    main()

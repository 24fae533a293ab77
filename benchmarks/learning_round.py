"""What a round of learning costs, and a million rounds with losses up to 1e4.

``python benchmarks/learning_round.py`` prints the cost of a round of each learner in microseconds (the
best of repeated batches, and the median), with the least it could cost: NumPy's own calls on arrays of
the same size. With ``--million`` it also runs a million rounds and checks the weights after each batch.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

from psm_sim.learning import FixedShare, LearnAlpha, Learner, StaticExpert, switching_rates

N = 12
BATCH = 2_000
MILLION = 1_000_000


def microseconds(work: Callable[[], None], rounds: int, repeats: int = 20) -> tuple[float, float]:
    """Return the least and the median time of one of *rounds* done by *work*, in microseconds."""
    spent = []
    for _ in range(repeats):
        begun = time.perf_counter()
        work()
        spent.append((time.perf_counter() - begun) / rounds * 1e6)
    return min(spent), statistics.median(spent)


def bare_round(m: int) -> Callable[[], None]:
    """Return a batch of the arithmetic alone: no checks, no safety, no weights kept."""
    weights, levels, share = np.full((N, m), 1 / N), np.full(m, 1 / m), np.full(m, 1e-12)
    likelihood, mixture = np.full(N, 0.999), np.empty(m)

    def work() -> None:
        for _ in range(BATCH):
            np.exp(likelihood)
            np.dot(likelihood, weights, out=mixture)
            np.multiply(weights, likelihood[:, None], out=weights)
            np.divide(weights, mixture, out=weights)
            np.add(weights, share, out=weights)
            np.multiply(levels, mixture, out=levels)
            np.dot(weights, levels)
            levels[:] = 1 / m

    return work


def measure() -> None:
    """Print one line per learner."""
    table = list(np.random.default_rng(1).random((BATCH, N)) * 5)
    rates = switching_rates(horizon=27_000)
    learners: dict[str, Learner] = {
        f"learn-alpha {rates.size} x {N}": LearnAlpha(N, rates),
        f"fixed-share {N}": FixedShare(N, 0.01),
        f"static-expert {N}": StaticExpert(N),
    }
    print(f"{'':26}{'best us':>10}{'median us':>11}")
    for name, learner in learners.items():

        def work(learner: Learner = learner) -> None:
            for losses in table:
                learner.update(losses)

        print("{:26}{:10.2f}{:11.2f}".format(name, *microseconds(work, BATCH)))
    print("{:26}{:10.2f}{:11.2f}".format("arithmetic alone", *microseconds(bare_round(rates.size), BATCH)))


def million() -> None:
    """Run a million rounds of losses up to 1e4; the weights must stay a distribution."""
    rng, learner = np.random.default_rng(7), LearnAlpha(N, switching_rates(horizon=27_000))
    begun, worst, suffered = time.perf_counter(), 0.0, 0.0
    while learner.rounds < MILLION:
        for losses in rng.random((10_000, N)) * 1e4:
            suffered += learner.update(losses)
            worst = max(worst, abs(learner.weights.sum() - 1))
        assert learner.weights.min() > 0  # noqa: S101
        assert np.isfinite(suffered)  # noqa: S101
        assert worst < 1e-12  # noqa: S101
    spent = time.perf_counter() - begun
    print(f"{learner.rounds:,} rounds in {spent:.1f} s, sum of weights within {worst:.1e} of 1, no NaN")


def main() -> None:
    """Measure, as asked on the command line."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--million", action="store_true", help="also run a million rounds")
    asked = reader.parse_args()
    measure()
    if asked.million:
        million()


if __name__ == "__main__":
    main()

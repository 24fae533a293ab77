"""What hindsight costs: best k-switch sequence and best switching rate over a long run.

``python benchmarks/learning_comparators.py`` prints seconds and, from the operating system, the largest
memory the process has held so far.
"""

from __future__ import annotations

import resource
import time

import numpy as np

from psm_sim.learning import best_rate, best_switching

ROUNDS, N, SWITCHES = 100_000, 12, 50


def peak_mb() -> float:
    """Return the largest resident memory of this process so far, in MB (Linux counts in KiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def main() -> None:
    """Measure both on one table of losses whose best expert shifts 50 times."""
    rng = np.random.default_rng(1)
    losses = rng.exponential(1.0, (ROUNDS, N))
    best = np.arange(ROUNDS) * (SWITCHES + 1) // ROUNDS % N
    losses[np.arange(ROUNDS), best] *= 0.5
    print(f"{ROUNDS:,} rounds x {N} experts; {peak_mb():.0f} MB before")
    begun = time.perf_counter()
    best_switching(losses, SWITCHES)
    print(f"best {SWITCHES}-switch: {time.perf_counter() - begun:.1f} s, {peak_mb():.0f} MB")
    begun = time.perf_counter()
    rate = best_rate(losses)
    print(f"best rate {rate.alpha:.3g}: {time.perf_counter() - begun:.1f} s, {peak_mb():.0f} MB")


if __name__ == "__main__":
    main()

"""Adversarial loss sequences, for tests of the bounds."""

import numpy as np

from psm_sim.learning import FixedShare, LearnAlpha, switching_rates

KINDS = ("random", "switching", "against fixed-share", "all or nothing", "against learn-alpha")


def losses(kind, rng):
    """Return losses of one of KINDS, shape (T, n), with T from 2 to 40 and n from 2 to 5."""
    rounds, n = int(rng.integers(2, 41)), int(rng.integers(2, 6))
    if kind == "random":
        return rng.exponential(rng.choice([0.1, 1.0, 10.0]), (rounds, n))
    if kind == "switching":
        return clear_best(rng.integers(n, size=rounds), n, rng.choice([1.0, 5.0, 1000.0]))
    if kind == "all or nothing":
        return rng.integers(0, 2, (rounds, n)) * 1e4
    if kind == "against fixed-share":
        return _against(FixedShare(n, rng.random()), rounds, rng)
    return _against(LearnAlpha(n, switching_rates(rounds)), rounds, rng)


def clear_best(sequence, n, margin):
    """Return losses of 0 for the experts of *sequence* and *margin* for all others."""
    table = np.full((len(sequence), n), float(margin))
    table[np.arange(len(sequence)), sequence] = 0.0
    return table


def switching_sequence(rounds, switches, n=3):
    """Return a sequence of experts that switches *switches* times, evenly spread."""
    return (np.arange(rounds) * (switches + 1) // rounds) % n


def _against(learner, rounds, rng):
    """Return losses that are largest for the expert with the largest weight."""
    table = np.zeros((rounds, learner.n_experts))
    for row in table:
        weights = learner.weights
        if rng.random() < 0.5:
            row[weights.argmax()] = rng.exponential(3)
        else:
            row[:] = weights * rng.exponential(10)
        learner.update(row)
    return table

"""Contract checks of learners, part 1: weights and updates."""

from __future__ import annotations

import math
from copy import deepcopy

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.random_streams import random_stream
from psm_sim.contracts.check_suite import Subject, Suite, pickle_round_trip, require
from psm_sim.contracts.shared_checks import can_be_copied, documented
from psm_sim.learning import Learner

HUGE = 1e4
"""Loss in nats whose exponential underflows in float64."""

UPDATE_CHECKS = Suite[Subject[Learner]]("learner")


def draw_losses(learner: Learner, rounds: int, scale: float = 3.0, seed: int = 1) -> FloatArray:
    """Sample exponential losses, reproducibly for a *seed*.

    Parameters
    ----------
    learner : Learner
        Learner, which defines the number of experts n.
    rounds : int
        Number of rounds.
    scale : float
        Mean loss, in nats.
    seed : int
        Seed of the random stream.

    Returns
    -------
    ndarray, shape (rounds, n)
        One round per row, in nats.
    """
    return random_stream(seed, "contract losses").exponential(scale, (rounds, learner.n_experts))


def train_rounds(learner: Learner, rounds: int = 40, seed: int = 1) -> Learner:
    """Train *learner* itself on sampled losses, and return it.

    Parameters
    ----------
    learner : Learner
        Learner to train.
    rounds : int
        Number of rounds.
    seed : int
        Seed of :func:`draw_losses`.
    """
    for row in draw_losses(learner, rounds, seed=seed):
        learner.update(row)
    return learner


def continue_training(learner: Learner, rounds: int = 20) -> list[tuple[float, list[float]]]:
    """Train *learner* itself on further rounds. Return the loss of each round and the weights after it."""
    return [(learner.update(row), learner.weights.tolist()) for row in draw_losses(learner, rounds, seed=2)]


def require_distribution(learner: Learner, when: str) -> None:
    """Require that the weights are finite, nonnegative and sum to 1 within 1e-12.

    Parameters
    ----------
    learner : Learner
        Learner to check.
    when : str
        Time of the check, for the message.
    """
    weights = learner.weights
    fault = f"{when} the weights are {weights.tolist()}, with the sum {weights.sum()!r}; "
    expected = "expected nonnegative numbers that sum to 1 within 1e-12."
    require(weights.min() >= 0 and abs(weights.sum() - 1) <= 1e-12, fault + expected)


def _require_close(
    weights: FloatArray, expected: FloatArray, situation: str, tolerance: float = 1e-9
) -> None:
    require(
        np.allclose(weights, expected, rtol=0, atol=tolerance),
        f"{situation} the weights are {weights.tolist()}; expected {expected.tolist()}.",
    )


UPDATE_CHECKS.gate(can_be_copied)
UPDATE_CHECKS.check(documented)


@UPDATE_CHECKS.check
def copies(subject: Subject[Learner]) -> None:
    """A deep copy continues bit-for-bit identically to the original, and neither changes the other."""
    learner = train_rounds(subject.fresh())
    before = learner.weights.tolist()
    of_copy = continue_training(deepcopy(learner))
    require(learner.weights.tolist() == before, "Training a deep copy changed the original's weights.")
    require(continue_training(learner) == of_copy, "A deep copy continues differently from the original.")


@UPDATE_CHECKS.check
def pickles(subject: Subject[Learner]) -> None:
    """A pickled copy continues bit-for-bit identically to the original."""
    learner = train_rounds(subject.fresh())
    require(
        continue_training(pickle_round_trip(learner)) == continue_training(learner),
        "A pickled copy continues differently from the original.",
    )


@UPDATE_CHECKS.check
def distribution(subject: Subject[Learner]) -> None:
    """The weights are nonnegative and sum to 1 within 1e-12 after every round."""
    learner = subject.fresh()
    require_distribution(learner, "Before the first round")
    for scale in (1e-6, 1.0, HUGE):
        for row in draw_losses(learner, 200, scale):
            learner.update(row)
            require_distribution(learner, f"In round {learner.rounds}, with losses of about {scale:g},")


@UPDATE_CHECKS.check
def mixture_loss(subject: Subject[Learner]) -> None:
    """A round returns the mixture loss, -log of the sum of weights times exp(-losses), in nats."""
    learner = subject.fresh()
    for row in draw_losses(learner, 50):
        expected = -math.log(float(learner.weights @ np.exp(-row)))
        loss = learner.update(row)
        require(
            math.isclose(loss, expected, abs_tol=1e-9), f"The mixture loss is {loss}; expected {expected}."
        )


@UPDATE_CHECKS.check
def same_losses_same_weights(subject: Subject[Learner]) -> None:
    """The same losses give bit-for-bit the same weights."""
    first, second = subject.fresh(), subject.fresh()
    require(
        continue_training(first) == continue_training(second),
        "Two copies have different weights after the same losses.",
    )


@UPDATE_CHECKS.check
def differences_teach(subject: Subject[Learner]) -> None:
    """A constant added to all losses of a round is added to the mixture loss, and changes no weight."""
    plain, shifted = subject.fresh(), subject.fresh()
    for row in draw_losses(plain, 20):
        for constant in (0.1, 10.0, HUGE):
            expected, loss = plain.update(row) + constant, shifted.update(row + constant)
            require(
                math.isclose(loss, expected, abs_tol=1e-9),
                f"With {constant:g} added to all losses a round returned {loss}; expected {expected}.",
            )
    _require_close(shifted.weights, plain.weights, "With a constant added to all losses")


@UPDATE_CHECKS.check
def infinite_loss(subject: Subject[Learner]) -> None:
    """A loss of inf excludes an expert from the round, as a very large finite loss does."""
    learner, reference = train_rounds(subject.fresh()), train_rounds(subject.fresh())
    row = draw_losses(learner, 1)[0]
    row[-1] = math.inf
    expected, loss = reference.update(np.where(row < HUGE, row, 1e6)), learner.update(row)
    require(
        math.isclose(loss, expected, abs_tol=1e-12),
        f"With a loss of inf a round returned {loss}; expected {expected}, as with a loss of 1e6.",
    )
    _require_close(learner.weights, reference.weights, "After a loss of inf", 1e-12)
    require(
        math.isfinite(learner.update(np.ones(row.size))),
        "The loss of the round after a loss of inf is not finite.",
    )


@UPDATE_CHECKS.check
def no_expert_is_lost(subject: Subject[Learner]) -> None:
    """With a switching rate above 0, an expert recovers after an infinite loss or many large losses."""
    learner = subject.fresh()
    if not _switches(learner):
        return
    large_losses = np.full(learner.n_experts, HUGE)
    large_losses[0] = 0.0
    learner.update(np.where(large_losses > 0, math.inf, 0.0))
    require(
        learner.weights[1:].min() > 0, "An expert with an infinite loss in one round has weight 0 after it."
    )
    for _ in range(1000):
        learner.update(large_losses)
    for _ in range(3):
        learner.update(large_losses[::-1])
    best, last = int(learner.weights.argmax()), learner.n_experts - 1
    require(
        best == last,
        f"Three rounds after expert {last} became the best, expert {best} has the largest weight.",
    )


def _switches(learner: Learner) -> bool:
    """Return whether the learner's switching rate, or one of its rates, is above 0."""
    rates = getattr(learner, "rates", getattr(learner, "alpha", 0.0))
    return bool(np.max(rates) > 0)


@UPDATE_CHECKS.check
def huge_losses(subject: Subject[Learner]) -> None:
    """After ten thousand rounds with losses up to 1e4 nats, the weights still sum to 1, without a NaN."""
    learner = subject.fresh()
    rows = random_stream(3, "contract losses").random((100, learner.n_experts)) * HUGE
    for number in range(10_000):
        loss = learner.update(rows[number % 100])
        if number % 100 == 99:
            require(math.isfinite(loss), f"Round {number + 1} returned {loss}; expected a finite loss.")
            require_distribution(learner, f"After {number + 1} rounds")

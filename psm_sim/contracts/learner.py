"""Learner checks, first part: the distribution over experts and what a round does to it."""

from __future__ import annotations

import math
from copy import deepcopy

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.contracts.check_suite import Subject, Suite, pickle_round_trip, require
from psm_sim.contracts.shared_checks import can_be_copied, documented
from psm_sim.learning import Learner
from psm_sim.random_streams import random_stream

HUGE = 1e4
"""A loss in nats that no float64 exponential carries."""

UPDATE_CHECKS = Suite[Subject[Learner]]("learner")


def draw_losses(learner: Learner, rounds: int, scale: float = 3.0, seed: int = 1) -> FloatArray:
    """Return exponential losses for *learner*, always the same for a *seed*.

    Parameters
    ----------
    learner : Learner
        Has the number of experts, n.
    rounds : int
        How many rounds are drawn.
    scale : float
        Their mean, in nats.
    seed : int
        The seed of the draw.

    Returns
    -------
    ndarray, shape (rounds, n)
        One round per row, in nats.
    """
    return random_stream(seed, "contract losses").exponential(scale, (rounds, learner.n_experts))


def train_rounds(learner: Learner, rounds: int = 40, seed: int = 1) -> Learner:
    """Teach *learner* itself *rounds* rounds of losses :func:`draw_losses` with *seed*, and return it."""
    for row in draw_losses(learner, rounds, seed=seed):
        learner.update(row)
    return learner


def continue_training(learner: Learner, rounds: int = 20) -> list[tuple[float, list[float]]]:
    """Teach *learner* itself further rounds; return the loss of each and the weights after it."""
    return [(learner.update(row), learner.weights.tolist()) for row in draw_losses(learner, rounds, seed=2)]


def require_distribution(learner: Learner, when: str) -> None:
    """Require that the weights are finite, none negative, and sum to 1 within 1e-12."""
    weights = learner.weights
    fault = f"{when} the weights are {weights.tolist()}, with a sum of {weights.sum()!r}; "
    expected = "expected numbers of 0 or more that sum to 1 within 1e-12."
    require(weights.min() >= 0 and abs(weights.sum() - 1) <= 1e-12, fault + expected)


def _require_close(found: FloatArray, expected: FloatArray, what: str, within: float = 1e-9) -> None:
    require(
        np.allclose(found, expected, rtol=0, atol=within),
        f"{what} the weights are {found.tolist()}; expected {expected.tolist()}.",
    )


UPDATE_CHECKS.gate(can_be_copied)
UPDATE_CHECKS.check(documented)


@UPDATE_CHECKS.check
def copies(subject: Subject[Learner]) -> None:
    """A deep copy learns on as the original does, bit for bit, and neither changes the other."""
    learner = train_rounds(subject.fresh())
    before = learner.weights.tolist()
    ahead = continue_training(deepcopy(learner))
    require(learner.weights.tolist() == before, "What a deep copy learned changed the original's weights.")
    require(continue_training(learner) == ahead, "A deep copy does not learn on as the original does.")


@UPDATE_CHECKS.check
def pickles(subject: Subject[Learner]) -> None:
    """A pickled copy learns on as the original does, bit for bit."""
    learner = train_rounds(subject.fresh())
    require(
        continue_training(pickle_round_trip(learner)) == continue_training(learner),
        "A pickled copy does not learn on as the original does.",
    )


@UPDATE_CHECKS.check
def distribution(subject: Subject[Learner]) -> None:
    """The weights are a distribution after every round: none negative, their sum 1 within 1e-12."""
    learner = subject.fresh()
    require_distribution(learner, "At first")
    for scale in (1e-6, 1.0, HUGE):
        for row in draw_losses(learner, 200, scale):
            learner.update(row)
            require_distribution(learner, f"In round {learner.rounds}, losses about {scale:g},")


@UPDATE_CHECKS.check
def mixture_loss(subject: Subject[Learner]) -> None:
    """A round returns the mixture loss, -log of the sum of weights times exp(-losses), in nats."""
    learner = subject.fresh()
    for row in draw_losses(learner, 50):
        expected = -math.log(float(learner.weights @ np.exp(-row)))
        found = learner.update(row)
        require(math.isclose(found, expected, abs_tol=1e-9), f"It returned {found}; expected {expected}.")


@UPDATE_CHECKS.check
def same_losses_same_weights(subject: Subject[Learner]) -> None:
    """The same losses give the same weights, to the last bit."""
    one, other = subject.fresh(), subject.fresh()
    require(
        continue_training(one) == continue_training(other),
        "Two copies that were taught the same losses have other weights.",
    )


@UPDATE_CHECKS.check
def differences_teach(subject: Subject[Learner]) -> None:
    """A constant added to all losses of a round changes no weight, and the mixture loss by the constant."""
    plain, shifted = subject.fresh(), subject.fresh()
    for row in draw_losses(plain, 20):
        for constant in (0.1, 10.0, HUGE):
            expected, found = plain.update(row) + constant, shifted.update(row + constant)
            require(
                math.isclose(found, expected, abs_tol=1e-9),
                f"With {constant:g} added to all losses a round returned {found}; expected {expected}.",
            )
    _require_close(shifted.weights, plain.weights, "With a constant added to all losses")


@UPDATE_CHECKS.check
def infinite_loss(subject: Subject[Learner]) -> None:
    """A loss of inf removes an expert for the round, as a loss that is too large to count does."""
    learner, other = train_rounds(subject.fresh()), train_rounds(subject.fresh())
    row = draw_losses(learner, 1)[0]
    row[-1] = math.inf
    expected, found = other.update(np.where(row < HUGE, row, 1e6)), learner.update(row)
    require(
        math.isclose(found, expected, abs_tol=1e-12),
        f"With a loss of inf a round returned {found}; expected {expected}, as with one of 1e6.",
    )
    _require_close(learner.weights, other.weights, "After a loss of inf", 1e-12)
    require(math.isfinite(learner.update(np.ones(row.size))), "The round after a loss of inf is not finite.")


@UPDATE_CHECKS.check
def no_expert_is_lost(subject: Subject[Learner]) -> None:
    """With a switching rate above 0 an expert once removed, or long hopeless, is found again."""
    learner = subject.fresh()
    if not _switches(learner):
        return
    hopeless = np.full(learner.n_experts, HUGE)
    hopeless[0] = 0.0
    learner.update(np.where(hopeless > 0, math.inf, 0.0))
    require(learner.weights[1:].min() > 0, "An expert that lost inf in one round has no weight after it.")
    for _ in range(1000):
        learner.update(hopeless)
    for _ in range(3):
        learner.update(hopeless[::-1])
    best, last = int(learner.weights.argmax()), learner.n_experts - 1
    require(best == last, f"Three rounds after expert {last} became the best, {best} has most weight.")


def _switches(learner: Learner) -> bool:
    """Say whether the learner's own switching rate, or one of its rates, is above 0."""
    rates = getattr(learner, "rates", getattr(learner, "alpha", 0.0))
    return bool(np.max(rates) > 0)


@UPDATE_CHECKS.check
def huge_losses(subject: Subject[Learner]) -> None:
    """Ten thousand rounds of losses up to 1e4 nats leave a distribution, without a NaN."""
    learner = subject.fresh()
    rows = random_stream(3, "contract losses").random((100, learner.n_experts)) * HUGE
    for number in range(10_000):
        loss = learner.update(rows[number % 100])
        if number % 100 == 99:
            require(math.isfinite(loss), f"Round {number + 1} returned {loss}; expected a number of nats.")
            require_distribution(learner, f"After {number + 1} rounds")

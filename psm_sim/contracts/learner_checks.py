"""Contract checks of learners: weights, updates, rejected input and predictions."""

from __future__ import annotations

import math
import pickle
from copy import deepcopy

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError, describe_error
from psm_sim.common.random_streams import random_stream
from psm_sim.contracts.report import Check, ContractViolation, require
from psm_sim.contracts.shared_checks import (
    behaves_the_same_when_copied,
    behavior,
    can_be_copied,
    has_a_name_and_a_docstring,
)
from psm_sim.learning import Learner

HUGE = 1e4
"""Loss in nats whose exponential underflows in float64."""


def _sample_losses(learner: Learner, rounds: int, scale: float = 3.0) -> FloatArray:
    """Return fixed pseudorandom losses, exponential with mean *scale* in nats, shape (rounds, n)."""
    return random_stream(1, "contract losses").exponential(scale, (rounds, learner.n_experts))


@behavior.register
def _learnt(learner: Learner) -> list[tuple[float, list[float]]]:
    return [(learner.update(row), learner.weights.tolist()) for row in _sample_losses(learner, 40)]


def _require_close(value: float, expected: float, situation: str) -> None:
    require(math.isclose(value, expected, abs_tol=1e-9), f"{situation} is {value}; expected {expected}.")


def _require_distribution(learner: Learner) -> None:
    weights = learner.weights
    require(
        weights.min() >= 0 and abs(weights.sum() - 1) <= 1e-12,
        f"After {learner.rounds} rounds the weights are {weights.tolist()}, with the sum {weights.sum()!r}; "
        "expected nonnegative numbers that sum to 1 within 1e-12.",
    )


def keeps_a_distribution(learner: Learner) -> None:
    """The weights are nonnegative and sum to 1 within 1e-12, also after many rounds with losses up to 1e4."""
    _require_distribution(learner)
    for scale in (1e-6, 1.0, HUGE):
        for row in _sample_losses(learner, 200, scale):
            learner.update(row)
            _require_distribution(learner)
    rows = random_stream(3, "contract losses").random((100, learner.n_experts)) * HUGE
    for number in range(10_000):
        loss = learner.update(rows[number % 100])
        require(math.isfinite(loss), f"Round {learner.rounds} returned {loss}; expected a finite loss.")
    _require_distribution(learner)


def returns_the_mixture_loss(learner: Learner) -> None:
    """An update returns -log(sum(weights * exp(-losses))), in nats. A list of losses is accepted, too."""
    shifted = deepcopy(learner)
    for row in _sample_losses(learner, 50):
        expected = -math.log(float(learner.weights @ np.exp(-row)))
        _require_close(learner.update(row), expected, "The mixture loss")
        loss = shifted.update((row + HUGE).tolist())
        _require_close(loss - HUGE, expected, "With a list of losses that are 1e4 larger, their excess")
    row[-1] = math.inf
    expected = deepcopy(learner).update(np.where(row < HUGE, row, 1e6))
    _require_close(learner.update(row), expected, "With a loss of inf instead of 1e6 the mixture loss")
    loss = learner.update(np.ones(row.size))
    require(math.isfinite(loss), f"The round after a loss of inf returned {loss}; expected a finite loss.")


def lets_experts_recover(learner: Learner) -> None:
    """With a switching rate above 0, an expert recovers after an infinite loss or many large losses."""
    rates = getattr(learner, "rates", getattr(learner, "alpha", 0.0))
    if not np.max(rates) > 0:
        return
    large_losses = np.full(learner.n_experts, HUGE)
    large_losses[0] = 0.0
    learner.update(np.where(large_losses > 0, math.inf, 0.0))
    require(
        learner.weights[1:].min() > 0, "An expert with an infinite loss in one round has weight 0 after it."
    )
    for losses in [large_losses] * 1000 + [large_losses[::-1]] * 3:
        learner.update(losses)
    best, last = int(learner.weights.argmax()), learner.n_experts - 1
    require(
        best == last,
        f"Three rounds after expert {last} became the best, expert {best} has the largest weight.",
    )


def rejects_invalid_losses(learner: Learner) -> None:
    """Invalid losses (NaN, negative, all infinite, too many) change nothing; the error names the round."""
    behavior(learner)
    ones = np.ones(learner.n_experts)
    _require_rejected(learner, ones * math.inf, "A round with only infinite losses")
    _require_rejected(learner, np.append(ones, 1.0), "A round with one loss too many")
    for value in (math.nan, -2.5, -math.inf):
        _require_rejected(learner, np.append(ones[1:], value), f"A loss of {value}")


def _require_rejected(learner: Learner, losses: ArrayLike, description: str) -> None:
    before, number = learner.weights.tolist(), learner.rounds + 1
    try:
        learner.update(losses)
    except InputError as error:
        require(
            f"round {number}" in str(error),
            f"{description} raised {str(error)!r}; expected a message with 'round {number}'.",
        )
    except Exception as error:
        raise ContractViolation(
            f"{description} raised {describe_error(error)}; expected an InputError."
        ) from error
    else:
        raise ContractViolation(f"{description} was accepted; expected an InputError.")
    unchanged = learner.weights.tolist() == before and learner.rounds == number - 1
    require(unchanged, f"{description} was rejected, but changed the learner.")


def predicts_the_weighted_mean(learner: Learner) -> None:
    """A prediction is the weighted mean of the experts' values."""
    behavior(learner)
    for values in (np.linspace(100.0, 1200.0, learner.n_experts), np.geomspace(1e-9, 1e9, learner.n_experts)):
        prediction, expected = learner.predict(values), float(learner.weights @ values)
        require(
            math.isclose(prediction, expected, rel_tol=1e-12),
            f"From the values {values.tolist()} it predicts {prediction}; expected {expected}.",
        )


def shares_no_arrays(learner: Learner) -> None:
    """It does not modify the losses, and writing to the weights that it returned does not change it."""
    losses = np.arange(1.0, learner.n_experts + 1)
    expected = losses.tolist()
    learner.update(losses)
    require(losses.tolist() == expected, f"It modified the losses to {losses.tolist()}; expected {expected}.")
    losses.flags.writeable = False
    learner.update(losses)
    before, returned = learner.weights.tolist(), learner.weights
    returned[:] = 0.0
    require(learner.weights.tolist() == before, "Writing to the returned weights changed the learner.")


def keeps_no_history(learner: Learner) -> None:
    """Its pickle has the same size after a thousand rounds as after one."""
    sizes = []
    for rows in (_sample_losses(learner, 1), _sample_losses(learner, 1000)):
        for row in rows:
            learner.update(row)
        sizes.append(len(pickle.dumps(learner)))
    require(
        sizes[1] <= sizes[0] + 64,
        f"Its pickle has {sizes[0]} bytes after one round and {sizes[1]} bytes after a thousand.",
    )


LEARNER_CHECKS: tuple[Check, ...] = (
    can_be_copied,
    behaves_the_same_when_copied,
    has_a_name_and_a_docstring,
    keeps_a_distribution,
    returns_the_mixture_loss,
    lets_experts_recover,
    rejects_invalid_losses,
    predicts_the_weighted_mean,
    shares_no_arrays,
    keeps_no_history,
)
"""Checks of a learner."""

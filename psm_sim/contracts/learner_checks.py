"""Contract checks of learners: weights, updates, rejected input, and predictions."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator
from copy import deepcopy
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.common.array_types import FloatArray
from psm_sim.common.random_streams import random_stream
from psm_sim.contracts.check_suite import (
    Subject,
    Suite,
    can_be_copied,
    capture_refusal,
    documented,
    pickle_round_trip,
    require,
)
from psm_sim.learning import Learner

HUGE = 1e4
"""Loss in nats whose exponential underflows in float64."""

LEARNER_CHECKS = Suite[Subject[Learner]]("learner")


def draw_losses(learner: Learner, rounds: int, scale: float = 3.0, seed: int = 1) -> FloatArray:
    """Sample exponential losses of a *learner* with the mean *scale* in nats, reproducibly for a *seed*.

    The result has the shape (rounds, n): a row for each of the *rounds*, with n experts.
    """
    return random_stream(seed, "contract losses").exponential(scale, (rounds, learner.n_experts))


def train_rounds(learner: Learner, rounds: int = 40) -> Learner:
    """Train *learner* itself on *rounds* of :func:`draw_losses`, and return it."""
    for row in draw_losses(learner, rounds):
        learner.update(row)
    return learner


def continue_training(learner: Learner) -> list[tuple[float, list[float]]]:
    """Train *learner* itself on 20 further rounds. Return the loss of each round and the weights after it."""
    return [(learner.update(row), learner.weights.tolist()) for row in draw_losses(learner, 20, seed=2)]


def require_distribution(learner: Learner, when: str) -> None:
    """Require that the weights are finite, nonnegative and sum to 1 within 1e-12. *when* begins the error."""
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


LEARNER_CHECKS.gate(can_be_copied)
LEARNER_CHECKS.check(documented)


@LEARNER_CHECKS.check
def copies(subject: Subject[Learner]) -> None:
    """A deep copy continues bit-for-bit identically to the original, and neither changes the other."""
    learner = train_rounds(subject.fresh())
    before = learner.weights.tolist()
    of_copy = continue_training(deepcopy(learner))
    require(learner.weights.tolist() == before, "Training a deep copy changed the original's weights.")
    require(continue_training(learner) == of_copy, "A deep copy continues differently from the original.")


@LEARNER_CHECKS.check
def pickles(subject: Subject[Learner]) -> None:
    """A pickled copy continues bit-for-bit identically to the original."""
    learner = train_rounds(subject.fresh())
    require(
        continue_training(pickle_round_trip(learner)) == continue_training(learner),
        "A pickled copy continues differently from the original.",
    )


@LEARNER_CHECKS.check
def distribution(subject: Subject[Learner]) -> None:
    """The weights are nonnegative and sum to 1 within 1e-12 after every round."""
    learner = subject.fresh()
    require_distribution(learner, "Before the first round")
    for scale in (1e-6, 1.0, HUGE):
        for row in draw_losses(learner, 200, scale):
            learner.update(row)
            require_distribution(learner, f"In round {learner.rounds}, with losses of about {scale:g},")


@LEARNER_CHECKS.check
def mixture_loss(subject: Subject[Learner]) -> None:
    """A round returns the mixture loss, -log of the sum of weights times exp(-losses), in nats."""
    learner = subject.fresh()
    for row in draw_losses(learner, 50):
        expected = -math.log(float(learner.weights @ np.exp(-row)))
        loss = learner.update(row)
        require(
            math.isclose(loss, expected, abs_tol=1e-9), f"The mixture loss is {loss}; expected {expected}."
        )


@LEARNER_CHECKS.check
def same_losses_same_weights(subject: Subject[Learner]) -> None:
    """The same losses give bit-for-bit the same weights."""
    first, second = subject.fresh(), subject.fresh()
    require(
        continue_training(first) == continue_training(second),
        "Two copies have different weights after the same losses.",
    )


@LEARNER_CHECKS.check
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


@LEARNER_CHECKS.check
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


@LEARNER_CHECKS.check
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


@LEARNER_CHECKS.check
def huge_losses(subject: Subject[Learner]) -> None:
    """After ten thousand rounds with losses up to 1e4 nats, the weights still sum to 1, without a NaN."""
    learner = subject.fresh()
    rows = random_stream(3, "contract losses").random((100, learner.n_experts)) * HUGE
    for number in range(10_000):
        loss = learner.update(rows[number % 100])
        if number % 100 == 99:
            require(math.isfinite(loss), f"Round {number + 1} returned {loss}; expected a finite loss.")
            require_distribution(learner, f"After {number + 1} rounds")


def _require_rejected(learner: Learner, losses: ArrayLike, description: str) -> None:
    before, number = learner.weights.tolist(), learner.rounds + 1
    message = capture_refusal(partial(learner.update, losses), description)
    require(
        f"round {number}" in message,
        f"{description} raised {message!r}; expected a message with 'round {number}'.",
    )
    unchanged = learner.weights.tolist() == before and learner.rounds == number - 1
    require(unchanged, f"{description} was rejected, but changed the learner.")


@LEARNER_CHECKS.check
def all_infinite(subject: Subject[Learner]) -> None:
    """A round with only infinite losses is rejected, and the error names the round."""
    learner = train_rounds(subject.fresh())
    _require_rejected(learner, np.full(learner.n_experts, math.inf), "A round with only infinite losses")


@LEARNER_CHECKS.check
def unusable_losses(subject: Subject[Learner]) -> None:
    """NaN, a negative loss and a wrong number of losses are rejected, and nothing is learnt."""
    learner = train_rounds(subject.fresh())
    for value in (math.nan, -2.5, -math.inf):
        row = draw_losses(learner, 1)[0]
        row[-1] = value
        _require_rejected(learner, row, f"A loss of {value}")
    _require_rejected(learner, np.ones(learner.n_experts + 1), "A round with one loss too many")


@LEARNER_CHECKS.check
def prediction(subject: Subject[Learner]) -> None:
    """A prediction is the mean of the experts' values under the weights, and lies within their range."""
    learner = train_rounds(subject.fresh())
    for values in _expert_values(learner.n_experts):
        prediction, expected = learner.predict(values), float(learner.weights @ values)
        in_range = values.min() * (1 - 1e-12) <= prediction <= values.max() * (1 + 1e-12)
        require(
            in_range and math.isclose(prediction, expected, rel_tol=1e-12),
            f"From the values {values.tolist()} it predicts {prediction}; expected {expected}.",
        )


def _expert_values(count: int) -> Iterator[FloatArray]:
    yield np.linspace(100.0, 1200.0, count)
    yield np.full(count, 300.0)
    yield np.geomspace(1e-9, 1e9, count)


@LEARNER_CHECKS.check
def leaves_arguments(subject: Subject[Learner]) -> None:
    """Losses can be a read-only array, a list or integers, and they are not modified."""
    rows = [3, 1, 2, 5, 4][: subject.component.n_experts]
    rows += [1] * (subject.component.n_experts - len(rows))
    losses = np.array(rows, dtype=np.float64)
    learner = subject.fresh()
    loss = learner.update(losses)
    require(losses.tolist() == rows, f"It modified the losses to {losses.tolist()}; expected {rows}.")
    losses.flags.writeable = False
    require(subject.fresh().update(losses) == loss, "Read-only losses give another mixture loss.")
    require(
        subject.fresh().update(rows) == loss, "A list of losses gives another mixture loss than an array."
    )


@LEARNER_CHECKS.check
def hands_out_copies(subject: Subject[Learner]) -> None:
    """Writing to the returned weights does not change the learner."""
    learner = train_rounds(subject.fresh())
    before = learner.weights.tolist()
    returned = learner.weights
    returned[:] = 0.0
    require(learner.weights.tolist() == before, "Writing to the returned weights changed the learner.")


@LEARNER_CHECKS.check
def constant_memory(subject: Subject[Learner]) -> None:
    """It keeps no history: it is as large after a thousand rounds as after one."""
    learner = train_rounds(subject.fresh(), rounds=1)
    early = len(pickle.dumps(learner))
    late = len(pickle.dumps(train_rounds(learner, rounds=1000)))
    require(
        late <= early + 64, f"Its pickle has {early} bytes after one round and {late} bytes after a thousand."
    )

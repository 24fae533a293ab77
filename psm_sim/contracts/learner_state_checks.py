"""Contract checks of learners, part 2: rejected input, predictions and saved states."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.common.array_types import FloatArray
from psm_sim.contracts.check_suite import Subject, Suite, require
from psm_sim.contracts.learner_update_checks import (
    UPDATE_CHECKS,
    continue_training,
    draw_losses,
    train_rounds,
)
from psm_sim.contracts.shared_checks import capture_refusal
from psm_sim.learning import Learner

LEARNER_CHECKS = Suite[Subject[Learner]]("learner", UPDATE_CHECKS)


def _require_rejected(learner: Learner, losses: ArrayLike, description: str) -> None:
    before, number = learner.state(), learner.rounds + 1
    message = capture_refusal(partial(learner.update, losses), description)
    require(
        f"round {number}" in message,
        f"{description} raised {message!r}; expected a message with 'round {number}'.",
    )
    require(learner.state() == before, f"{description} was rejected, but changed the learner.")


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
def saved_state(subject: Subject[Learner]) -> None:
    """A new learner that loads the saved state, through JSON, continues bit-for-bit identically."""
    learner, fresh = train_rounds(subject.fresh()), subject.fresh()
    fresh.load_state(json.loads(json.dumps(learner.state(), allow_nan=False)))
    require(
        fresh.rounds == learner.rounds,
        f"After loading the saved state it has {fresh.rounds} rounds; expected {learner.rounds}.",
    )
    weights, expected = fresh.weights.tolist(), learner.weights.tolist()
    require(
        weights == expected, f"After loading the saved state the weights are {weights}; expected {expected}."
    )
    require(
        continue_training(fresh) == continue_training(learner),
        "After loading the saved state it continues differently from the saved learner.",
    )


@LEARNER_CHECKS.check
def foreign_state(subject: Subject[Learner]) -> None:
    """A damaged state, or one of another learner or number of experts, is rejected without any change."""
    learner = train_rounds(subject.fresh())
    before = learner.state()
    for change in ({"learner": "another"}, {"experts": learner.n_experts + 1}, {"rounds": -1}):
        description = f"A state with {change}"
        capture_refusal(partial(learner.load_state, before | change), description)
        require(learner.state() == before, f"{description} was rejected, but changed the learner.")
    capture_refusal(partial(learner.load_state, {}), "An empty state")


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

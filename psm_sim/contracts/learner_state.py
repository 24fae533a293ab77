"""Learner checks, second part: what a learner refuses, hands out, saves and keeps."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.array_types import FloatArray
from psm_sim.contracts.check_suite import Subject, Suite, require
from psm_sim.contracts.learner import UPDATE_CHECKS, continue_training, draw_losses, train_rounds
from psm_sim.contracts.shared_checks import capture_refusal
from psm_sim.learning import Learner

LEARNER_CHECKS = Suite[Subject[Learner]]("learner", UPDATE_CHECKS)


def _require_refused(learner: Learner, losses: ArrayLike, what: str) -> None:
    before, number = learner.state(), learner.rounds + 1
    sentence = capture_refusal(partial(learner.update, losses), what)
    require(f"round {number}" in sentence, f"{what} gave {sentence!r}; expected it to name round {number}.")
    require(learner.state() == before, f"{what} was refused, but changed what had been learned.")


@LEARNER_CHECKS.check
def all_infinite(subject: Subject[Learner]) -> None:
    """A round in which every loss is inf is refused with its number, and nothing is learned."""
    learner = train_rounds(subject.fresh())
    _require_refused(learner, np.full(learner.n_experts, math.inf), "A round of losses that are all inf")


@LEARNER_CHECKS.check
def unusable_losses(subject: Subject[Learner]) -> None:
    """NaN, a negative loss and another number of losses are refused, and nothing is learned."""
    learner = train_rounds(subject.fresh())
    for value in (math.nan, -2.5, -math.inf):
        row = draw_losses(learner, 1)[0]
        row[-1] = value
        _require_refused(learner, row, f"A loss of {value}")
    _require_refused(learner, np.ones(learner.n_experts + 1), "A round with one loss too many")


@LEARNER_CHECKS.check
def prediction(subject: Subject[Learner]) -> None:
    """A prediction is the mean of the experts' values under the weights, so it lies within them."""
    learner = train_rounds(subject.fresh())
    for values in _values(learner.n_experts):
        found, expected = learner.predict(values), float(learner.weights @ values)
        within = values.min() * (1 - 1e-12) <= found <= values.max() * (1 + 1e-12)
        require(
            within and math.isclose(found, expected, rel_tol=1e-12),
            f"From the values {values.tolist()} it predicts {found}; expected {expected}.",
        )


def _values(count: int) -> Iterator[FloatArray]:
    yield np.linspace(100.0, 1200.0, count)
    yield np.full(count, 300.0)
    yield np.geomspace(1e-9, 1e9, count)


@LEARNER_CHECKS.check
def saved_state(subject: Subject[Learner]) -> None:
    """A fresh learner that loads the saved state, by way of JSON, learns on bit for bit."""
    learner, fresh = train_rounds(subject.fresh()), subject.fresh()
    fresh.load_state(json.loads(json.dumps(learner.state(), allow_nan=False)))
    require(fresh.rounds == learner.rounds, f"Loaded, {fresh.rounds} rounds; expected {learner.rounds}.")
    found, expected = fresh.weights.tolist(), learner.weights.tolist()
    require(found == expected, f"Loaded, the weights are {found}; expected {expected}.")
    require(
        continue_training(fresh) == continue_training(learner),
        "Loaded, it does not learn on bit for bit as the one saved.",
    )


@LEARNER_CHECKS.check
def foreign_state(subject: Subject[Learner]) -> None:
    """A state of another learner, of other experts, or one that is damaged is refused and changes nothing."""
    learner = train_rounds(subject.fresh())
    before = learner.state()
    for change in ({"learner": "another"}, {"experts": learner.n_experts + 1}, {"rounds": -1}):
        what = f"A state with {change}"
        capture_refusal(partial(learner.load_state, before | change), what)
        require(learner.state() == before, f"{what} was refused, but changed what had been learned.")
    capture_refusal(partial(learner.load_state, {}), "An empty state")


@LEARNER_CHECKS.check
def leaves_arguments(subject: Subject[Learner]) -> None:
    """Losses can be read-only, a list or whole numbers; they are left as they were given."""
    rows = [3, 1, 2, 5, 4][: subject.given.n_experts]
    rows += [1] * (subject.given.n_experts - len(rows))
    losses = np.array(rows, dtype=np.float64)
    learner = subject.fresh()
    found = learner.update(losses)
    require(losses.tolist() == rows, f"It changed the losses to {losses.tolist()}; expected {rows}.")
    losses.flags.writeable = False
    require(subject.fresh().update(losses) == found, "Read-only losses are not learned from alike.")
    require(subject.fresh().update(rows) == found, "A list of losses is not learned from as an array is.")


@LEARNER_CHECKS.check
def hands_out_copies(subject: Subject[Learner]) -> None:
    """Writing to the weights it hands out changes nothing within."""
    learner = train_rounds(subject.fresh())
    before = learner.weights.tolist()
    handed_out = learner.weights
    handed_out[:] = 0.0
    require(learner.weights.tolist() == before, "Writing to the weights handed out changed its own.")


@LEARNER_CHECKS.check
def constant_memory(subject: Subject[Learner]) -> None:
    """It keeps no history: after a thousand rounds it is as large as after one."""
    learner = train_rounds(subject.fresh(), rounds=1)
    early = len(pickle.dumps(learner))
    late = len(pickle.dumps(train_rounds(learner, rounds=1000)))
    require(late <= early + 64, f"Pickled, it has {early} bytes after one round and {late} after a thousand.")

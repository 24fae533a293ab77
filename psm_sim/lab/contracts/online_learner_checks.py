"""Contract checks of online learners."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from psm_sim.contracts.check_suite import Suite, require
from psm_sim.contracts.shared_checks import capture_refusal
from psm_sim.lab.active import AlwaysQuery, OnlineLearner, SelectiveSampler
from psm_sim.lab.contracts.sampler_checks import (
    SAMPLER_CHECKS,
    SamplerSubject,
    invalid_instances,
    rows,
    snapshot,
)

INVALID_LABELS: tuple[Any, ...] = (0, 2, 0.5, math.nan, "1", None, True)


class OnlineLearnerSubject(SamplerSubject[OnlineLearner]):
    """Online learner under test, for which every label is queried."""

    @property
    def features(self) -> int:
        """Number of features of the learner."""
        return self.component.features

    def sampler(self, part: OnlineLearner) -> SelectiveSampler:
        """Return a sampler that queries every label for *part*."""
        return SelectiveSampler(part, AlwaysQuery())


ONLINE_LEARNER_CHECKS = Suite[OnlineLearnerSubject]("online learner", SAMPLER_CHECKS)


def _trained_learner(subject: OnlineLearnerSubject) -> OnlineLearner:
    learner = subject.fresh()
    for x, y in zip(*rows(subject.features), strict=True):
        learner.learn(x, int(y))
    return learner


@ONLINE_LEARNER_CHECKS.check
def undecided_at_first(subject: OnlineLearnerSubject) -> None:
    """An untrained learner has margin 0 everywhere, and a margin of 0 predicts +1."""
    learner, (points, _) = subject.fresh(), rows(subject.features)
    margins, predictions = learner.decision_function(points), learner.predict(points)
    require(not margins.any(), f"Every margin must be 0 before training, got {margins[margins != 0][:1]}.")
    require((predictions == 1).all(), "The prediction at margin 0 must be +1, got -1.")


@ONLINE_LEARNER_CHECKS.check
def first_label(subject: OnlineLearnerSubject) -> None:
    """The first label changes the learner: at margin 0 either label counts as a mistake."""
    for label in (-1, 1):
        learner, (points, _) = subject.fresh(), rows(subject.features)
        require(learner.learn(points[0], label), f"The first label, {label}, did not change the learner.")
        prediction = learner.predict_one(points[0])
        require(
            prediction == label, f"After the first label {label} it predicts {prediction} for that instance."
        )


@ONLINE_LEARNER_CHECKS.check
def rows_as_instances(subject: OnlineLearnerSubject) -> None:
    """Margins and predictions of rows equal those of instances, within 1e-9, and change nothing."""
    learner, (points, _) = _trained_learner(subject), rows(subject.features, 30, seed=4)
    before = snapshot(learner)
    margins, single = learner.decision_function(points), np.array([learner.margin(x) for x in points])
    require(margins.shape == (30,), f"The margins of 30 rows must have shape (30,), got {margins.shape}.")
    require(
        np.allclose(margins, single, rtol=1e-9, atol=1e-9), "Margins of rows differ from those of instances."
    )
    predictions = learner.predict(points)
    require(
        (predictions == np.where(margins >= 0, 1, -1)).all(),
        "A prediction differs from the sign of its margin.",
    )
    require(snapshot(learner) == before, "Computing margins and predictions changed the state.")


@ONLINE_LEARNER_CHECKS.check
def says_whether_it_moved(subject: OnlineLearnerSubject) -> None:
    """The method learn() returns whether the state changed."""
    learner = _trained_learner(subject)
    for x, y in zip(*rows(subject.features, seed=5), strict=True):
        before = snapshot(learner)
        returned = learner.learn(x, int(y))
        changed = snapshot(learner) != before
        require(
            returned == changed, f"learn() must return {changed}, whether its state changed, got {returned}."
        )


@ONLINE_LEARNER_CHECKS.check
def zeros(subject: OnlineLearnerSubject) -> None:
    """An instance of zeros has margin 0, and learning it keeps every weight finite."""
    learner, zeros = _trained_learner(subject), np.zeros(subject.features)
    margin = learner.margin(zeros)
    require(margin == 0, f"The margin of an instance of zeros must be 0, got {margin}.")
    for label in (-1, 1):
        learner.learn(zeros, label)
    require(np.isfinite(learner.w).all(), f"After an instance of zeros the weights are {learner.w.tolist()}.")


@ONLINE_LEARNER_CHECKS.check
def unusable_labels(subject: OnlineLearnerSubject) -> None:
    """A label other than -1 and +1, including a Boolean, is rejected, and nothing is learnt."""
    learner, x = _trained_learner(subject), np.ones(subject.features)
    before = snapshot(learner)
    for label in INVALID_LABELS:
        capture_refusal(partial(learner.learn, x, label), f"A label of {label!r}")
    require(snapshot(learner) == before, "A rejected label changed the state.")


@ONLINE_LEARNER_CHECKS.check
def unusable_instances(subject: OnlineLearnerSubject) -> None:
    """NaN, infinity, strings and a wrong number of features are rejected, and nothing is learnt."""
    learner = _trained_learner(subject)
    before = snapshot(learner)
    for x, name in invalid_instances(subject.features):
        for call in (learner.margin, learner.predict_one, partial(learner.learn, y=1)):
            capture_refusal(partial(call, x), name)
        capture_refusal(partial(learner.decision_function, [x]), name)
    require(snapshot(learner) == before, "A rejected instance changed the state.")

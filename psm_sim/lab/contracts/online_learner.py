"""Online learner checks: what a learner of half-spaces answers and learns, one bought label at a time."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from psm_sim.contracts.check_suite import Suite, require
from psm_sim.contracts.shared_checks import capture_refusal
from psm_sim.lab.active import AlwaysQuery, OnlineLearner, SelectiveSampler
from psm_sim.lab.contracts.sampler import SAMPLER_CHECKS, SamplerSubject, odd_instances, rows

ODD_LABELS: tuple[Any, ...] = (0, 2, 0.5, math.nan, "1", None, True)


class OnlineLearnerSubject(SamplerSubject[OnlineLearner]):
    """An online learner, which is sold every label."""

    @property
    def features(self) -> int:
        """Its own number of features."""
        return self.given.features

    def sampler(self, part: OnlineLearner, seed: int = 1) -> SelectiveSampler:
        """Return a sampler that buys every label for *part*; its coin, with that *seed*, is not used."""
        return SelectiveSampler(part, AlwaysQuery(), seed=seed)


ONLINE_LEARNER_CHECKS = Suite[OnlineLearnerSubject]("online learner", SAMPLER_CHECKS)


def _taught(subject: OnlineLearnerSubject) -> OnlineLearner:
    learner = subject.fresh()
    for x, y in zip(*rows(subject.features), strict=True):
        learner.learn(x, int(y))
    return learner


@ONLINE_LEARNER_CHECKS.check
def undecided_at_first(subject: OnlineLearnerSubject) -> None:
    """A new learner has margin 0 everywhere, and a margin of 0 predicts +1."""
    learner, (points, _) = subject.fresh(), rows(subject.features)
    margins, said = learner.decision_function(points), learner.predict(points)
    require(not margins.any(), f"Before it learned anything a margin is {margins[margins != 0][:1]}.")
    require((said == 1).all(), "It predicts -1 at a margin of 0; expected +1.")


@ONLINE_LEARNER_CHECKS.check
def first_label(subject: OnlineLearnerSubject) -> None:
    """The first label moves it, whichever it is: at margin 0 a label counts as a mistake."""
    for label in (-1, 1):
        learner, (points, _) = subject.fresh(), rows(subject.features)
        require(learner.learn(points[0], label), f"The first label, {label}, did not move it.")
        found = learner.predict_one(points[0])
        require(found == label, f"After a first label of {label} it predicts {found} for that instance.")


@ONLINE_LEARNER_CHECKS.check
def rows_as_instances(subject: OnlineLearnerSubject) -> None:
    """Rows have the margins and predictions of their instances, within 1e-9; looking changes nothing."""
    learner, (points, _) = _taught(subject), rows(subject.features, 30, seed=4)
    before = learner.state()
    found, single = learner.decision_function(points), np.array([learner.margin(x) for x in points])
    require(found.shape == (30,), f"Of 30 rows it returned margins of shape {found.shape}.")
    require(np.allclose(found, single, rtol=1e-9, atol=1e-9), "Margins of rows differ from the instances'.")
    said = learner.predict(points)
    require((said == np.where(found >= 0, 1, -1)).all(), "A prediction has not the sign of its margin.")
    require(learner.state() == before, "Asking for margins and predictions changed what had been learned.")


@ONLINE_LEARNER_CHECKS.check
def says_whether_it_moved(subject: OnlineLearnerSubject) -> None:
    """``learn`` returns whether the state moved, and says so truly."""
    learner = _taught(subject)
    for x, y in zip(*rows(subject.features, seed=5), strict=True):
        before = learner.state()
        said = learner.learn(x, int(y))
        moved = learner.state() != before
        require(said == moved, f"It returned {said}; expected {moved}, whether its state moved.")


@ONLINE_LEARNER_CHECKS.check
def zeros(subject: OnlineLearnerSubject) -> None:
    """An instance of zeros has margin 0 and leaves every weight finite when it is learned."""
    learner, nothing = _taught(subject), np.zeros(subject.features)
    found = learner.margin(nothing)
    require(found == 0, f"An instance of zeros has margin {found}; expected 0.")
    for label in (-1, 1):
        learner.learn(nothing, label)
    require(np.isfinite(learner.w).all(), f"After it the weights are {learner.w.tolist()}.")


@ONLINE_LEARNER_CHECKS.check
def unusable_labels(subject: OnlineLearnerSubject) -> None:
    """A label outside -1 and +1, a truth value too, is refused, and nothing is learned."""
    learner, x = _taught(subject), np.ones(subject.features)
    before = learner.state()
    for label in ODD_LABELS:
        capture_refusal(partial(learner.learn, x, label), f"A label of {label!r}")
    require(learner.state() == before, "A label was refused, but changed what had been learned.")


@ONLINE_LEARNER_CHECKS.check
def unusable_instances(subject: OnlineLearnerSubject) -> None:
    """NaN, infinity, text and another number of features are refused, and nothing is learned."""
    learner = _taught(subject)
    before = learner.state()
    for x, what in odd_instances(subject.features):
        for call in (learner.margin, learner.predict_one, partial(learner.learn, y=1)):
            capture_refusal(partial(call, x), what)
        capture_refusal(partial(learner.decision_function, [x]), what)
    require(learner.state() == before, "An instance was refused, but changed what had been learned.")

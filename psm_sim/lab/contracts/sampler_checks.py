"""Contract checks common to online learners and query rules, each run within a selective sampler."""

from __future__ import annotations

import math
import pickle
from copy import deepcopy
from typing import Any, TypeVar

import numpy as np

from psm_sim.common.array_types import FloatArray, IntArray
from psm_sim.common.random_streams import random_stream
from psm_sim.contracts.check_suite import Subject, Suite, pickle_round_trip, require
from psm_sim.contracts.shared_checks import can_be_copied, documented
from psm_sim.lab.active import OnlineLearner, QueryRule, SelectiveSampler

FEATURES = 4
"""Number of features of the online learners that are created for the checks."""
Part = TypeVar("Part", bound="OnlineLearner | QueryRule")


class SamplerSubject(Subject[Part]):
    """Online learner or query rule under test, and the sampler that runs it."""

    @property
    def features(self) -> int:
        """Number of features of the instances."""
        return FEATURES

    def sampler(self, part: Part) -> SelectiveSampler:
        """Return a sampler around *part* itself."""
        raise NotImplementedError


SAMPLER_CHECKS = Suite[SamplerSubject[Any]]("sampler")


def rows(features: int, number: int = 60, seed: int = 1) -> tuple[FloatArray, IntArray]:
    """Return Gaussian instances and their labels, a tenth of them flipped.

    Parameters
    ----------
    features, number : int
        The instances have shape (number, features).
    seed : int
        Seed of the instances and labels.
    """
    rng = random_stream(seed, "contract instances")
    points = rng.normal(size=(number, features))
    y = np.where(points @ rng.normal(size=features) >= 0, 1, -1)
    return points, np.where(rng.random(number) < 0.1, -y, y)


def invalid_instances(features: int) -> list[tuple[list[Any], str]]:
    """Return invalid instances, each with its name for the error messages."""
    ones = [1.0] * (features - 1)
    return [
        ([math.nan, *ones], "An instance with a NaN"),
        ([*ones, math.inf], "An instance with an infinity"),
        ([1.0, 1.0, *ones], "An instance with one feature too many"),
        (["a"] * features, "An instance of strings"),
    ]


def train_rounds(sampler: SelectiveSampler, number: int = 60, seed: int = 1) -> SelectiveSampler:
    """Run *sampler* itself over *number* instances generated with *seed*, and return it."""
    sampler.run(*rows(sampler.learner.features, number, seed))
    return sampler


def snapshot(part: OnlineLearner | QueryRule) -> bytes:
    """Return the attributes of a learner or rule, to see whether they change."""
    return pickle.dumps(vars(part))


def continue_training(sampler: SelectiveSampler) -> list[list[float]]:
    """Run *sampler* itself over further instances. Return its record and its weights."""
    record = sampler.run(*rows(sampler.learner.features, seed=2))
    outputs = (record.prediction, record.probability, record.queried, record.updated, sampler.learner.w)
    return [values.tolist() for values in outputs]


SAMPLER_CHECKS.gate(can_be_copied)
SAMPLER_CHECKS.check(documented)


@SAMPLER_CHECKS.gate
def runs(subject: SamplerSubject[Any]) -> None:
    """It runs over a stream, and its weights stay finite."""
    sampler = train_rounds(subject.sampler(subject.fresh()))
    weights = sampler.learner.w
    require(np.isfinite(weights).all(), f"After 60 instances the weights are {weights.tolist()}.")


@SAMPLER_CHECKS.check
def same_stream_same_run(subject: SamplerSubject[Any]) -> None:
    """The same instances, labels and random numbers give bit-for-bit identical runs."""
    first, second = (train_rounds(subject.sampler(subject.fresh())) for _ in range(2))
    require(
        continue_training(first) == continue_training(second),
        "Two copies differ on the same stream and random numbers.",
    )


@SAMPLER_CHECKS.check
def copies(subject: SamplerSubject[Any]) -> None:
    """A deep copy continues bit-for-bit identically to the original, and neither changes the other."""
    sampler = train_rounds(subject.sampler(subject.fresh()))
    before = snapshot(sampler.learner), snapshot(sampler.rule)
    expected = continue_training(deepcopy(sampler))
    after = snapshot(sampler.learner), snapshot(sampler.rule)
    require(after == before, "Training a deep copy changed the original.")
    require(continue_training(sampler) == expected, "A deep copy continues differently from the original.")


@SAMPLER_CHECKS.check
def pickles(subject: SamplerSubject[Any]) -> None:
    """A pickled copy continues bit-for-bit identically to the original."""
    sampler = train_rounds(subject.sampler(subject.fresh()))
    require(
        continue_training(pickle_round_trip(sampler)) == continue_training(sampler),
        "A pickled copy continues differently from the original.",
    )


@SAMPLER_CHECKS.check
def leaves_arguments(subject: SamplerSubject[Any]) -> None:
    """Instances may be read-only, and they are not modified."""
    points, y = rows(subject.features)
    instances = points.copy()
    subject.sampler(subject.fresh()).run(instances, y)
    require((instances == points).all(), "It modified the instances.")
    instances.flags.writeable = False
    subject.sampler(subject.fresh()).run(instances, y)


@SAMPLER_CHECKS.check
def constant_memory(subject: SamplerSubject[Any]) -> None:
    """It keeps no history: it is as large after a thousand instances as after a hundred."""
    part = subject.fresh()
    sampler = train_rounds(subject.sampler(part), 100)
    early = len(pickle.dumps(part))
    train_rounds(sampler, 900, seed=3)
    late = len(pickle.dumps(part))
    require(
        late <= early + 64, f"Its pickle has {early} bytes after 100 instances and {late} bytes after 1000."
    )

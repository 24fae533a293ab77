"""Sampler checks: what online learners and query rules have in common, each tried within a sampler."""

from __future__ import annotations

import json
import math
import pickle
from copy import deepcopy
from functools import partial
from typing import Any, TypeVar

import numpy as np

from psm_sim.array_types import FloatArray, IntArray
from psm_sim.contracts.check_suite import Subject, Suite, pickle_round_trip, require
from psm_sim.contracts.shared_checks import can_be_copied, capture_refusal, documented
from psm_sim.lab.active import OnlineLearner, QueryRule, SelectiveSampler
from psm_sim.random_streams import random_stream

FEATURES = 4
"""How many features an online learner has that is made for the checks."""
Part = TypeVar("Part", bound="OnlineLearner | QueryRule")


class SamplerSubject(Subject[Part]):
    """An online learner or a query rule, and how a sampler is made of it."""

    @property
    def features(self) -> int:
        """How many features the instances have that it is shown."""
        return FEATURES

    def sampler(self, part: Part, seed: int = 1) -> SelectiveSampler:
        """Return a sampler around *part* itself, whose coin has the given *seed*."""
        raise NotImplementedError


SAMPLER_CHECKS = Suite[SamplerSubject[Any]]("sampler")


def rows(features: int, number: int = 60, seed: int = 1) -> tuple[FloatArray, IntArray]:
    """Return Gaussian instances and their labels, a tenth of them flipped.

    Parameters
    ----------
    features, number : int
        The shape of the instances is (number, features).
    seed : int
        The same seed gives the same ones.
    """
    rng = random_stream(seed, "contract instances")
    points = rng.normal(size=(number, features))
    y = np.where(points @ rng.normal(size=features) >= 0, 1, -1)
    return points, np.where(rng.random(number) < 0.1, -y, y)


def odd_instances(features: int) -> list[tuple[list[Any], str]]:
    """Return instances that cannot be used, each with what it is called."""
    rest = [1.0] * (features - 1)
    return [
        ([math.nan, *rest], "An instance with a NaN"),
        ([*rest, math.inf], "An instance with an infinity"),
        ([1.0, 1.0, *rest], "An instance with one feature too many"),
        (["a"] * features, "An instance of texts"),
    ]


def train_rounds(sampler: SelectiveSampler, number: int = 60, seed: int = 1) -> SelectiveSampler:
    """Run *sampler* itself over *number* instances drawn with *seed*, and return it."""
    sampler.run(*rows(sampler.learner.features, number, seed))
    return sampler


def continue_training(sampler: SelectiveSampler) -> list[list[float]]:
    """Run *sampler* itself over further instances; return all that it did, and its weights."""
    record = sampler.run(*rows(sampler.learner.features, seed=2))
    did = (record.prediction, record.probability, record.queried, record.updated, sampler.learner.w)
    return [each.tolist() for each in did]


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
    """The same instances, labels and coin give the same run, to the last bit."""
    one, other = (train_rounds(subject.sampler(subject.fresh())) for _ in range(2))
    require(
        continue_training(one) == continue_training(other),
        "Two copies on the same stream and coin did not do the same.",
    )


@SAMPLER_CHECKS.check
def copies(subject: SamplerSubject[Any]) -> None:
    """A deep copy goes on as the original does, bit for bit, and neither changes the other."""
    sampler = train_rounds(subject.sampler(subject.fresh()))
    before = sampler.state()
    ahead = continue_training(deepcopy(sampler))
    require(sampler.state() == before, "What a deep copy learned changed the original.")
    require(continue_training(sampler) == ahead, "A deep copy does not go on as the original does.")


@SAMPLER_CHECKS.check
def pickles(subject: SamplerSubject[Any]) -> None:
    """A pickled copy goes on as the original does, bit for bit."""
    sampler = train_rounds(subject.sampler(subject.fresh()))
    require(
        continue_training(pickle_round_trip(sampler)) == continue_training(sampler),
        "A pickled copy does not go on as the original.",
    )


@SAMPLER_CHECKS.check
def saved_state(subject: SamplerSubject[Any]) -> None:
    """A fresh one that loads the saved state, by way of JSON, goes on bit for bit."""
    sampler, fresh = train_rounds(subject.sampler(subject.fresh())), subject.sampler(subject.fresh(), seed=7)
    fresh.load_state(json.loads(json.dumps(sampler.state(), allow_nan=False)))
    require(
        continue_training(fresh) == continue_training(sampler),
        "Loaded, it does not go on bit for bit as the one saved.",
    )


@SAMPLER_CHECKS.check
def foreign_state(subject: SamplerSubject[Any]) -> None:
    """A state of another kind, of other parameters, or one that is damaged is refused; nothing changes."""
    part = subject.fresh()
    train_rounds(subject.sampler(part))
    before = part.state()
    damaged = [{**before, "name": "another"}, {**before, "parameters": {"other": 1}}, {}]
    for state in [*damaged, *({**before, key: "text"} for key in part.state_attributes)]:
        what = f"A state with {next((f'{k} {v!r}' for k, v in state.items() if v != before[k]), 'nothing')}"
        capture_refusal(partial(part.load_state, state), what)
        require(part.state() == before, f"{what} was refused, but changed it.")


@SAMPLER_CHECKS.check
def leaves_arguments(subject: SamplerSubject[Any]) -> None:
    """Instances may be read-only; they are left as they were given."""
    points, y = rows(subject.features)
    given = points.copy()
    subject.sampler(subject.fresh()).run(given, y)
    require((given == points).all(), "It changed the instances it was given.")
    given.flags.writeable = False
    subject.sampler(subject.fresh()).run(given, y)


@SAMPLER_CHECKS.check
def constant_memory(subject: SamplerSubject[Any]) -> None:
    """It keeps no history: after a thousand instances it is as large as after a hundred."""
    part = subject.fresh()
    sampler = train_rounds(subject.sampler(part), 100)
    early = len(pickle.dumps(part))
    train_rounds(sampler, 900, seed=3)
    late = len(pickle.dumps(part))
    require(late <= early + 64, f"Pickled, it has {early} bytes after a hundred and {late} after a thousand.")

"""Contract checks of query rules."""

from __future__ import annotations

from functools import partial

import numpy as np

from psm_sim.contracts.check_suite import Suite, require
from psm_sim.contracts.shared_checks import capture_refusal, default_parameters
from psm_sim.lab.active import QueryRule, SecondOrderPerceptron, SelectiveSampler
from psm_sim.lab.contracts.sampler_checks import (
    FEATURES,
    SAMPLER_CHECKS,
    SamplerSubject,
    invalid_instances,
    rows,
    snapshot,
    train_rounds,
)

LENGTHS = (0.0, 1e-12, 1.0, 1e12)


class QueryRuleSubject(SamplerSubject[QueryRule]):
    """Query rule under test, with a second-order learner, which every rule supports."""

    def sampler(self, part: QueryRule) -> SelectiveSampler:
        """Return a sampler whose labels are queried by *part*."""
        return SelectiveSampler(SecondOrderPerceptron(FEATURES), part)


QUERY_RULE_CHECKS = Suite[QueryRuleSubject]("query rule", SAMPLER_CHECKS)
QUERY_RULE_CHECKS.check(default_parameters)


@QUERY_RULE_CHECKS.check
def probabilities(subject: QueryRuleSubject) -> None:
    """The query probability is 0 to 1 for zero, tiny and huge instances, before and after training."""
    rule = subject.fresh()
    sampler = subject.sampler(rule)
    for _ in range(2):
        for length in LENGTHS:
            p = rule.probability(sampler.learner, np.full(FEATURES, length))
            require(0 <= p <= 1, f"The probability must be 0 to 1, got {p} for features of {length:g}.")
        train_rounds(sampler)


@QUERY_RULE_CHECKS.check
def asks_only(subject: QueryRuleSubject) -> None:
    """Computing a query probability draws no random number and does not change the learner."""
    rule, (points, _) = subject.fresh(), rows(FEATURES)
    sampler = train_rounds(subject.sampler(rule))
    learner, generator = snapshot(sampler.learner), sampler.rng.bit_generator.state
    shared = np.random.get_state(legacy=False)  # noqa: NPY002 (read, not drawn from)
    for x in points:
        rule.probability(sampler.learner, x)
    require(snapshot(sampler.learner) == learner, "probability() changed the learner.")
    drawn = str(np.random.get_state(legacy=False)) != str(shared)  # noqa: NPY002
    require(not drawn and sampler.rng.bit_generator.state == generator, "probability() drew a random number.")


@QUERY_RULE_CHECKS.check
def one_by_one(subject: QueryRuleSubject) -> None:
    """Single calls of ask() and tell() query the same labels as a run."""
    (points, y), sampler = rows(FEATURES), subject.sampler(subject.fresh())
    expected = subject.sampler(subject.fresh()).run(points, y).queried.tolist()
    queried = []
    for x, label in zip(points, y, strict=True):
        queried.append(sampler.ask(x).query)
        if queried[-1]:
            sampler.tell(x, int(label))
    require(queried == expected, "Single calls query other labels than a run.")


@QUERY_RULE_CHECKS.check
def unusable_instances(subject: QueryRuleSubject) -> None:
    """The query probability of an invalid instance is rejected, and the rule does not change."""
    rule = subject.fresh()
    sampler = train_rounds(subject.sampler(rule))
    before = snapshot(rule)
    for x, name in invalid_instances(FEATURES):
        capture_refusal(partial(rule.probability, sampler.learner, x), name)
    require(snapshot(rule) == before, "A rejected instance changed the rule.")

"""Query rule checks: what a rule answers that says how likely a label is bought."""

from __future__ import annotations

from functools import partial

import numpy as np

from psm_sim.contracts.check_suite import Suite, require
from psm_sim.contracts.shared_checks import capture_refusal, default_parameters
from psm_sim.lab.active import QueryRule, SecondOrderPerceptron, SelectiveSampler
from psm_sim.lab.contracts.sampler import (
    FEATURES,
    SAMPLER_CHECKS,
    SamplerSubject,
    odd_instances,
    rows,
    train_rounds,
)

LENGTHS = (0.0, 1e-12, 1.0, 1e12)


class QueryRuleSubject(SamplerSubject[QueryRule]):
    """A query rule, with a second-order learner, which every rule can use."""

    def sampler(self, part: QueryRule, seed: int = 1) -> SelectiveSampler:
        """Return a sampler whose labels are bought by *part*, and by a coin with that *seed*."""
        return SelectiveSampler(SecondOrderPerceptron(FEATURES), part, seed=seed)


QUERY_RULE_CHECKS = Suite[QueryRuleSubject]("query rule", SAMPLER_CHECKS)
QUERY_RULE_CHECKS.check(default_parameters)


@QUERY_RULE_CHECKS.check
def probabilities(subject: QueryRuleSubject) -> None:
    """A probability from 0 to 1 for any instance: of zeros, tiny or huge, before and after labels."""
    rule = subject.fresh()
    sampler = subject.sampler(rule)
    for _ in range(2):
        for length in LENGTHS:
            found = rule.probability(sampler.learner, np.full(FEATURES, length))
            require(0 <= found <= 1, f"At features of {length:g} it returned {found}; expected 0 to 1.")
        train_rounds(sampler)


@QUERY_RULE_CHECKS.check
def asks_only(subject: QueryRuleSubject) -> None:
    """A probability draws no number, and leaves the learner as it was."""
    rule, (points, _) = subject.fresh(), rows(FEATURES)
    sampler = train_rounds(subject.sampler(rule))
    learner, coin = sampler.learner.state(), sampler.rng.bit_generator.state
    shared = np.random.get_state(legacy=False)  # noqa: NPY002 (looked at, not drawn from)
    for x in points:
        rule.probability(sampler.learner, x)
    require(sampler.learner.state() == learner, "Asked for probabilities it changed the learner.")
    drawn = str(np.random.get_state(legacy=False)) != str(shared)  # noqa: NPY002
    require(not drawn and sampler.rng.bit_generator.state == coin, "Asked for it, it drew a number.")


@QUERY_RULE_CHECKS.check
def one_by_one(subject: QueryRuleSubject) -> None:
    """Asked and told one by one it buys the labels that it buys in a run."""
    (points, y), sampler = rows(FEATURES), subject.sampler(subject.fresh())
    expected = subject.sampler(subject.fresh()).run(points, y).queried.tolist()
    found = []
    for x, label in zip(points, y, strict=True):
        found.append(sampler.ask(x).query)
        if found[-1]:
            sampler.tell(x, int(label))
    require(found == expected, "Asked one by one it buys other labels than in a run.")


@QUERY_RULE_CHECKS.check
def unusable_instances(subject: QueryRuleSubject) -> None:
    """A probability of an instance that cannot be used is refused, and the rule stays as it was."""
    rule = subject.fresh()
    sampler = train_rounds(subject.sampler(rule))
    before = rule.state()
    for x, what in odd_instances(FEATURES):
        capture_refusal(partial(rule.probability, sampler.learner, x), what)
    require(rule.state() == before, "An instance was refused, but changed the rule.")

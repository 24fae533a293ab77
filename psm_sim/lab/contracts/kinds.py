"""Component kinds of the lab for the contract checks."""

from __future__ import annotations

from psm_sim.contracts.check_suite import Kind
from psm_sim.lab.active import OnlineLearner, QueryRule
from psm_sim.lab.active.registries import ONLINE_LEARNERS, QUERY_RULES
from psm_sim.lab.contracts.online_learner_checks import ONLINE_LEARNER_CHECKS, OnlineLearnerSubject
from psm_sim.lab.contracts.query_rule_checks import QUERY_RULE_CHECKS, QueryRuleSubject
from psm_sim.lab.contracts.sampler_checks import FEATURES

KINDS = (
    Kind(
        OnlineLearner,
        ONLINE_LEARNER_CHECKS,
        OnlineLearnerSubject,
        ONLINE_LEARNERS.names(),
        lambda text: ONLINE_LEARNERS.create(text, features=FEATURES),
        {"features": FEATURES},
    ),
    Kind(QueryRule, QUERY_RULE_CHECKS, QueryRuleSubject, QUERY_RULES.names(), QUERY_RULES.create),
)

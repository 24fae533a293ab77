"""Component kinds of the lab for the contract checks, and the registries of their bundled components.

User-defined learners and rules are loaded from a file.
"""

from __future__ import annotations

from psm_sim.common.registry import Registry
from psm_sim.contracts.check_suite import Kind
from psm_sim.lab.active import OnlineLearner, QueryRule
from psm_sim.lab.contracts.online_learner_checks import ONLINE_LEARNER_CHECKS, OnlineLearnerSubject
from psm_sim.lab.contracts.query_rule_checks import QUERY_RULE_CHECKS, QueryRuleSubject
from psm_sim.lab.contracts.sampler_checks import FEATURES

ONLINE_LEARNERS: Registry[OnlineLearner] = Registry(
    "online learner",
    OnlineLearner,
    {
        "perceptron": "psm_sim.lab.active.perceptrons:Perceptron",
        "modified-perceptron": "psm_sim.lab.active.perceptrons:ModifiedPerceptron",
        "shifting-perceptron": "psm_sim.lab.active.perceptrons:ShiftingPerceptron",
        "budget-perceptron": "psm_sim.lab.active.perceptrons:BudgetPerceptron",
        "lasec": "psm_sim.lab.active.second_order_learners:Lasec",
        "second-order-perceptron": "psm_sim.lab.active.second_order_learners:SecondOrderPerceptron",
        "ridge-regression": "psm_sim.lab.active.second_order_learners:RidgeRegression",
    },
)
"""Online learners by name. Each constructor requires ``features``."""

QUERY_RULES: Registry[QueryRule] = Registry(
    "query rule",
    QueryRule,
    {
        "always": "psm_sim.lab.active.query_rules:AlwaysQuery",
        "coin": "psm_sim.lab.active.query_rules:BernoulliQuery",
        "margin-coin": "psm_sim.lab.active.query_rules:MarginQuery",
        "second-order-coin": "psm_sim.lab.active.query_rules:SecondOrderQuery",
        "halving": "psm_sim.lab.active.query_rules:DkmHalvingRule",
        "novelty": "psm_sim.lab.active.query_rules:BbqNoveltyRule",
        "one-sided": "psm_sim.lab.active.query_rules:OneSided",
        "floor": "psm_sim.lab.active.query_rules:MinimumProbability",
    },
)
"""Query rules by name."""

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

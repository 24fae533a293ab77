"""Registries of the bundled online learners and query rules.

User-defined learners and rules are loaded from a file.
"""

from __future__ import annotations

from psm_sim.common.registry import Registry
from psm_sim.lab.active.online_learner import OnlineLearner
from psm_sim.lab.active.query_rules import QueryRule

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
        "halving": "psm_sim.lab.active.threshold_query_rules:DkmHalvingRule",
        "novelty": "psm_sim.lab.active.threshold_query_rules:BbqNoveltyRule",
        "one-sided": "psm_sim.lab.active.query_rule_wrappers:OneSided",
        "floor": "psm_sim.lab.active.query_rule_wrappers:MinimumProbability",
    },
)
"""Query rules by name."""

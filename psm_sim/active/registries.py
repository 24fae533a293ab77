"""Online learners and query rules by name, each on its own; a user's own come from a file."""

from __future__ import annotations

from psm_sim.active.learner import OnlineLearner
from psm_sim.active.rules import QueryRule
from psm_sim.registry import Registry

ONLINE_LEARNERS: Registry[OnlineLearner] = Registry(
    "online learner",
    OnlineLearner,
    {
        "perceptron": "psm_sim.active.perceptrons:Perceptron",
        "modified-perceptron": "psm_sim.active.perceptrons:ModifiedPerceptron",
        "shifting-perceptron": "psm_sim.active.perceptrons:ShiftingPerceptron",
        "budget-perceptron": "psm_sim.active.perceptrons:BudgetPerceptron",
        "lasec": "psm_sim.active.ridge:Lasec",
        "second-order-perceptron": "psm_sim.active.ridge:SecondOrderPerceptron",
        "ridge-regression": "psm_sim.active.ridge:RidgeRegression",
    },
)
"""The online learners; each is made with a number of ``features``."""

QUERY_RULES: Registry[QueryRule] = Registry(
    "query rule",
    QueryRule,
    {
        "always": "psm_sim.active.rules:Always",
        "coin": "psm_sim.active.rules:Coin",
        "margin-coin": "psm_sim.active.rules:MarginCoin",
        "second-order-coin": "psm_sim.active.rules:SecondOrderCoin",
        "halving": "psm_sim.active.bands:Halving",
        "novelty": "psm_sim.active.bands:Novelty",
        "one-sided": "psm_sim.active.wrappers:OneSided",
        "floor": "psm_sim.active.wrappers:Floor",
    },
)
"""The query rules."""

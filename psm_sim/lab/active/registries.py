"""Online learners and query rules by name, each on its own; a user's own come from a file."""

from __future__ import annotations

from psm_sim.lab.active.learner import OnlineLearner
from psm_sim.lab.active.rules import QueryRule
from psm_sim.registry import Registry

ONLINE_LEARNERS: Registry[OnlineLearner] = Registry(
    "online learner",
    OnlineLearner,
    {
        "perceptron": "psm_sim.lab.active.perceptrons:Perceptron",
        "modified-perceptron": "psm_sim.lab.active.perceptrons:ModifiedPerceptron",
        "shifting-perceptron": "psm_sim.lab.active.perceptrons:ShiftingPerceptron",
        "budget-perceptron": "psm_sim.lab.active.perceptrons:BudgetPerceptron",
        "lasec": "psm_sim.lab.active.ridge:Lasec",
        "second-order-perceptron": "psm_sim.lab.active.ridge:SecondOrderPerceptron",
        "ridge-regression": "psm_sim.lab.active.ridge:RidgeRegression",
    },
)
"""The online learners; each is made with a number of ``features``."""

QUERY_RULES: Registry[QueryRule] = Registry(
    "query rule",
    QueryRule,
    {
        "always": "psm_sim.lab.active.rules:Always",
        "coin": "psm_sim.lab.active.rules:Coin",
        "margin-coin": "psm_sim.lab.active.rules:MarginCoin",
        "second-order-coin": "psm_sim.lab.active.rules:SecondOrderCoin",
        "halving": "psm_sim.lab.active.bands:Halving",
        "novelty": "psm_sim.lab.active.bands:Novelty",
        "one-sided": "psm_sim.lab.active.wrappers:OneSided",
        "floor": "psm_sim.lab.active.wrappers:Floor",
    },
)
"""The query rules."""

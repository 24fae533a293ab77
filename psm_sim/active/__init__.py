"""Online learners that ask for labels: when is a label worth its price. Arrays in; knows no radio."""

from psm_sim.active.bands import Halving, Novelty
from psm_sim.active.learner import Decision, OnlineLearner
from psm_sim.active.names import NAMES, make_selective
from psm_sim.active.perceptrons import BudgetPerceptron, ModifiedPerceptron, Perceptron, ShiftingPerceptron
from psm_sim.active.record import Record
from psm_sim.active.ridge import Lasec, RidgeRegression, SecondOrderPerceptron
from psm_sim.active.rules import Always, Coin, MarginCoin, QueryRule, SecondOrderCoin
from psm_sim.active.selective import Selective
from psm_sim.active.wrappers import Floor, OneSided

__all__ = [
    "NAMES",
    "Always",
    "BudgetPerceptron",
    "Coin",
    "Decision",
    "Floor",
    "Halving",
    "Lasec",
    "MarginCoin",
    "ModifiedPerceptron",
    "Novelty",
    "OneSided",
    "OnlineLearner",
    "Perceptron",
    "QueryRule",
    "Record",
    "RidgeRegression",
    "SecondOrderCoin",
    "SecondOrderPerceptron",
    "Selective",
    "ShiftingPerceptron",
    "make_selective",
]

"""Online learners that choose which labels to query.

They accept arrays and do not depend on the simulator. The sources are cited by number:

- [000] C. Monteleoni, Learning with Online Constraints (thesis, 2006)
- [001] E. Moroshko and K. Crammer, Selective Sampling with Drift
- [002] N. Cesa-Bianchi, C. Gentile and L. Zaniboni, Worst-Case Analysis of Selective Sampling for
  Linear-Threshold Algorithms
- [003] A. Farhangfar (thesis)
- [004] S. Dasgupta, A. Kalai and C. Monteleoni, Analysis of Perceptron-Based Active Learning
"""

from psm_sim.lab.active.ask_tell import AskTellLearner
from psm_sim.lab.active.decision_trees import EntropyTree, ExhaustiveTree, Tree, expected_accuracy
from psm_sim.lab.active.gaussian_instances import Gaussian
from psm_sim.lab.active.linear_separator import Plane, fit_linear
from psm_sim.lab.active.lmu_image_selection import Lmu, f_measure
from psm_sim.lab.active.naive_bayes import NaiveBayes
from psm_sim.lab.active.noisy_threshold_learner import Isalg1d, weighted_error
from psm_sim.lab.active.online_learner import Decision, OnlineLearner
from psm_sim.lab.active.optimal_bayes_tree import OptNbdt, best_tree
from psm_sim.lab.active.perceptrons import (
    BudgetPerceptron,
    ModifiedPerceptron,
    Perceptron,
    ShiftingPerceptron,
)
from psm_sim.lab.active.pixel_crf import Crf, Image, fit_field, fit_unlabelled, standardise_images
from psm_sim.lab.active.plane_learner import SAMPLERS, Draw, GaussianSampler, PlaneLearner, Sampler
from psm_sim.lab.active.pool_learner import POOL_RULES, PoolLearner, PoolRule, standardise
from psm_sim.lab.active.query_rules import (
    AlwaysQuery,
    BbqNoveltyRule,
    BernoulliQuery,
    DkmHalvingRule,
    MarginQuery,
    OneSided,
    QueryRule,
    SecondOrderQuery,
)
from psm_sim.lab.active.sampler_specs import NAMES, make_selective
from psm_sim.lab.active.second_order_learners import Lasec, RidgeRegression, SecondOrderPerceptron
from psm_sim.lab.active.selective_sampler import Record, SelectiveSampler
from psm_sim.lab.active.threshold_learner import Isal1d

__all__ = [
    "NAMES",
    "POOL_RULES",
    "SAMPLERS",
    "AlwaysQuery",
    "AskTellLearner",
    "BbqNoveltyRule",
    "BernoulliQuery",
    "BudgetPerceptron",
    "Crf",
    "Decision",
    "DkmHalvingRule",
    "Draw",
    "EntropyTree",
    "ExhaustiveTree",
    "Gaussian",
    "GaussianSampler",
    "Image",
    "Isal1d",
    "Isalg1d",
    "Lasec",
    "Lmu",
    "MarginQuery",
    "ModifiedPerceptron",
    "NaiveBayes",
    "OneSided",
    "OnlineLearner",
    "OptNbdt",
    "Perceptron",
    "Plane",
    "PlaneLearner",
    "PoolLearner",
    "PoolRule",
    "QueryRule",
    "Record",
    "RidgeRegression",
    "Sampler",
    "SecondOrderPerceptron",
    "SecondOrderQuery",
    "SelectiveSampler",
    "ShiftingPerceptron",
    "Tree",
    "best_tree",
    "expected_accuracy",
    "f_measure",
    "fit_field",
    "fit_linear",
    "fit_unlabelled",
    "make_selective",
    "standardise",
    "standardise_images",
    "weighted_error",
]

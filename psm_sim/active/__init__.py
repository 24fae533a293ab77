"""Learners that ask for labels: when is a label worth its price. Arrays in; knows no radio."""

from psm_sim.active.asking import Asker
from psm_sim.active.bayes import NaiveBayes
from psm_sim.active.field import Crf, Image, standardised_images
from psm_sim.active.field_fit import fit_field, fit_unlabelled
from psm_sim.active.gaussian import Gaussian
from psm_sim.active.isaln import Isaln
from psm_sim.active.linear import Plane, fit_linear
from psm_sim.active.lmu import Lmu, f_measure
from psm_sim.active.noisy_thresholds import Isalg1d
from psm_sim.active.optnbdt import OptNbdt, best_tree
from psm_sim.active.planes import PlaneLearner
from psm_sim.active.pool_rules import POOL_RULES, PoolRule
from psm_sim.active.pools import PoolLearner, standardised
from psm_sim.active.rival_trees import EntropyTree, ExhaustiveTree
from psm_sim.active.samplers import SAMPLERS, Draw, GaussianSampler, Sampler
from psm_sim.active.thresholds import Isal1d
from psm_sim.active.trees import Tree, expected_accuracy
from psm_sim.active.weighted import weighted_error

__all__ = [
    "POOL_RULES",
    "SAMPLERS",
    "Asker",
    "Crf",
    "Draw",
    "EntropyTree",
    "ExhaustiveTree",
    "Gaussian",
    "GaussianSampler",
    "Image",
    "Isal1d",
    "Isalg1d",
    "Isaln",
    "Lmu",
    "NaiveBayes",
    "OptNbdt",
    "Plane",
    "PlaneLearner",
    "PoolLearner",
    "PoolRule",
    "Sampler",
    "Tree",
    "best_tree",
    "expected_accuracy",
    "f_measure",
    "fit_field",
    "fit_linear",
    "fit_unlabelled",
    "standardised",
    "standardised_images",
    "weighted_error",
]

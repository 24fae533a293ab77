"""Learning which expert to follow, with proven regret: arrays in, arrays out; knows no radio.

The thesis's chapter 2: experts' losses in nats, one array a round, and distributions over experts.
"""

from psm_sim.learning.learner import Learner
from psm_sim.learning.learners import FixedShare, LearnAlpha, StaticExpert
from psm_sim.learning.rates import relative_entropy, switching_rates

__all__ = ["FixedShare", "LearnAlpha", "Learner", "StaticExpert", "relative_entropy", "switching_rates"]

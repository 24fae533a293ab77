"""Online learners with proven regret bounds (thesis, chapter 2).

The learners work on arrays only and do not depend on the simulator. The losses of the experts, in nats,
arrive as one array per round. A learner maintains a distribution over the experts.
"""

from psm_sim.learning.factory import LEARNERS, make_learner
from psm_sim.learning.learn_alpha import FixedShare, LearnAlpha, StaticExpert
from psm_sim.learning.learner import Learner
from psm_sim.learning.regret import (
    BestRate,
    best_expert,
    best_rate,
    best_switching,
    learn_alpha_bound,
    rate_losses,
    upper_bound,
)
from psm_sim.learning.switching_rates import relative_entropy, switching_rates
from psm_sim.learning.waiting_time_model import WaitingTimeModel

__all__ = [
    "LEARNERS",
    "BestRate",
    "FixedShare",
    "LearnAlpha",
    "Learner",
    "StaticExpert",
    "WaitingTimeModel",
    "best_expert",
    "best_rate",
    "best_switching",
    "learn_alpha_bound",
    "make_learner",
    "rate_losses",
    "relative_entropy",
    "switching_rates",
    "upper_bound",
]

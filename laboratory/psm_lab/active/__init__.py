"""Online learners that choose which labels to query.

They accept arrays and do not depend on the simulator. The sources are cited by number:

- [000] C. Monteleoni, Learning with Online Constraints (thesis, 2006)
- [001] E. Moroshko and K. Crammer, Selective Sampling with Drift
- [002] N. Cesa-Bianchi, C. Gentile and L. Zaniboni, Worst-Case Analysis of Selective Sampling for
  Linear-Threshold Algorithms
- [003] A. Farhangfar (thesis)
- [004] S. Dasgupta, A. Kalai and C. Monteleoni, Analysis of Perceptron-Based Active Learning
"""

from psm_lab.active.online_learner import OnlineLearner
from psm_lab.active.query_rules import QueryRule
from psm_lab.active.sampler_specs import make_selective
from psm_lab.active.selective_sampler import SelectiveSampler

__all__ = ["OnlineLearner", "QueryRule", "SelectiveSampler", "make_selective"]

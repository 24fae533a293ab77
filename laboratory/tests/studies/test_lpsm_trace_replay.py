"""Claims of the thesis on the replay, compared with hand-computed numbers."""

from __future__ import annotations

import numpy as np
import pytest
from psm_lab.replay.trace_replay import replay_trace
from psm_lab.studies.lpsm_trace_replay import trace_measures, weight_measures


def test_the_measures_agree_with_the_totals_of_the_replay() -> None:
    (client,) = replay_trace("ucb", pages=5, history=True)
    measures, replay = trace_measures(client), client.replay
    assert measures["over_current_best"] == pytest.approx(replay.suffered / replay.current_best)
    assert measures["over_best_fixed"] == pytest.approx(replay.suffered / replay.expert_losses.min())
    assert measures["fixed_over_current"] >= 1
    assert 0 <= measures["negative_share"] <= 1
    assert measures["over_worse_half"] <= measures["over_average"]


def test_the_measures_of_weights_agree_with_hand_computed_measures() -> None:
    """The first expert is lowest twice before it is highest; the second is lowest once."""
    weights = np.array([[0.5, 0.5], [0.4, 0.6], [0.6, 0.4], [0.4, 0.6], [0.4, 0.6], [0.7, 0.3]])
    measures = weight_measures(weights, losses=np.tile([1.0, 2.0], (6, 1)))
    assert measures["early_shifts"] == 3
    assert measures["shifts_per_thousand"] == 750
    assert measures["regaining_experts"] == 1
    assert measures["weight_of_best"] == pytest.approx(2 * weights[:, 0].mean())

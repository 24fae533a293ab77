"""Sentences of the thesis on the replay: judged by numbers that a hand can compute."""

from __future__ import annotations

import numpy as np
import pytest
from psm_lab.replay.trace_replay import replay_trace
from psm_lab.studies.lpsm_trace_replay import trace_measures, weight_measures


def test_the_numbers_are_those_of_the_replay() -> None:
    """The totals that the replay itself keeps."""
    (client,) = replay_trace("ucb", pages=5, history=True)
    found, replay = trace_measures(client), client.replay
    assert found["over_current_best"] == pytest.approx(replay.suffered / replay.current_best)
    assert found["over_best_fixed"] == pytest.approx(replay.suffered / replay.expert_losses.min())
    assert found["fixed_over_current"] >= 1
    assert 0 <= found["negative_share"] <= 1
    assert found["over_worse_half"] <= found["over_average"]


def test_the_numbers_on_weights_are_those_of_a_hand() -> None:
    """The first expert is lowest twice before it is highest; the second is lowest once."""
    weights = np.array([[0.5, 0.5], [0.4, 0.6], [0.6, 0.4], [0.4, 0.6], [0.4, 0.6], [0.7, 0.3]])
    found = weight_measures(weights, losses=np.tile([1.0, 2.0], (6, 1)))
    assert found["early_shifts"] == 3
    assert found["shifts_per_thousand"] == 750
    assert found["regaining_experts"] == 1
    assert found["weight_of_best"] == pytest.approx(2 * weights[:, 0].mean())

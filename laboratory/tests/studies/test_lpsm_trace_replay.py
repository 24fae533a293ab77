"""Sentences of the thesis on the replay: judged by numbers that a hand can compute."""

from __future__ import annotations

import numpy as np
import pytest
from psm_lab.replay.trace_replay import replay_trace
from psm_lab.reporting.figures.figure_registry import draw
from psm_lab.studies import load_study
from psm_lab.studies.lpsm_trace_replay import SENTENCES, trace_measures, weight_measures
from psm_lab.studies.study import Scale
from psm_lab.studies.study_runner import reproduce


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


def test_close_to_the_best_current_expert_does_not_hold_here() -> None:
    """The learner loses about twice as much as the best expert of each poll."""
    scale = Scale(replications=2, pages=20, long_pages=20)
    study = load_study("trace-study")
    (findings,) = reproduce({"trace-study": study}, scale, workers=1)
    for key, frame in findings.figures.items():
        assert draw(key, frame)[1].count("thesis, figure") == 1
    table = findings.tables[0].frame.set_index("statement")
    assert len(table) == len(SENTENCES)
    row = table.loc["loss close to or better than that of the best current expert"]
    assert row["verdict"] == "does not hold"
    assert 1.5 < float(row["simulated"].split()[0]) < 3

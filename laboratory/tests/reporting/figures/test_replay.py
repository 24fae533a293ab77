"""Figures of the trace study."""

from __future__ import annotations

import numpy as np
import pytest
from psm_lab.replay.figure_columns import FIGURES, best_expert_columns, loss_columns
from psm_lab.replay.replay_config import PollingGrid, ReplayConfig
from psm_lab.replay.trace_replay import ReplayedClient, replay_activity, replay_trace
from psm_lab.reporting.figures.figure_registry import draw


@pytest.fixture(scope="module")
def client() -> ReplayedClient:
    """Return a replay long enough to be drawn in windows."""
    return replay_trace("ucb", ReplayConfig(polls=2500), pages=20, history=True)[0]


def test_plotted_losses_add_up_to_the_totals_of_the_replay(client: ReplayedClient) -> None:
    """A window has the mean of its polls. The best expert so far has the minimum loss."""
    frame, outcome = best_expert_columns(client), client.to_dict()
    assert len(frame) <= 1200 < client.replay.polls
    assert frame["poll"].iloc[-1] == outcome["polls"]
    assert frame["time_s"].iloc[-1] == pytest.approx(outcome["replayed_s"], rel=1e-6)
    polls = np.diff(frame["poll"], prepend=0)
    totals = {
        "suffered_nats": outcome["loss"]["suffered"],
        "best_fixed_expert_nats": outcome["best_expert"]["loss"],
        "current_best_nats": outcome["current_best_loss"],
    }
    for name, total in totals.items():
        assert (frame[name] * polls).sum() == pytest.approx(total, rel=1e-4)
    assert (frame["current_best_nats"] <= frame["best_fixed_expert_nats"] + 1e-12).all()
    whole = loss_columns(client).query("panel == 'whole'")
    assert (whole["mixture_nats"] * whole["polls"]).sum() == pytest.approx(
        outcome["loss"]["mixture"], rel=1e-4
    )


@pytest.mark.parametrize("name", FIGURES)
def test_a_replay_of_one_poll_and_two_experts_has_a_figure(name: str) -> None:
    method = ReplayConfig(learner="static-expert", polls=1, clock=PollingGrid(100.0, 200.0, 100.0))
    (short,) = replay_trace("ucb", method, pages=1, history=True)
    assert "thesis, figure 2-" in draw(name, FIGURES[name](short))[1]


def test_plotting_a_replay_without_history_is_an_error(client: ReplayedClient) -> None:
    bare = replay_activity(client.activity, ReplayConfig(polls=5))
    with pytest.raises(ValueError, match="has no history; run it with history=True"):
        loss_columns(bare)

"""Figures of the trace study."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from psm_lab.replay.replay_config import ReplayConfig
from psm_lab.replay.trace_replay import ReplayedClient, replay_activity, replay_trace
from psm_lab.reporting.figures.replay import (
    cumulative_losses,
    losses,
    losses_against_best,
    write_figures,
)


@pytest.fixture(scope="module")
def client() -> ReplayedClient:
    """Return a replay long enough to be drawn in windows."""
    return replay_trace("ucb", ReplayConfig(polls=2500), pages=20, history=True)[0]


@pytest.fixture(scope="module")
def other(client: ReplayedClient) -> ReplayedClient:
    """Return the same activity under the second loss."""
    method = ReplayConfig(loss="inverse-log:gamma=1e-5", polls=2500)
    return replay_activity(client.activity, method, history=True)


def test_every_figure_has_a_picture_and_its_numbers(
    client: ReplayedClient, other: ReplayedClient, tmp_path: Path
) -> None:
    """Seven of them; each CSV has a header and as many values as there are columns."""
    paths = write_figures(tmp_path, client, other, ["svg"])
    assert sorted(paths) == sorted(tmp_path.iterdir())
    assert Counter(path.suffix for path in paths) == {".svg": 7, ".csv": 7}
    for path in tmp_path.glob("*.csv"):
        header, *rows = csv.reader(path.read_text().splitlines())
        assert rows
        assert {len(row) for row in rows} == {len(header)}


def test_drawn_numbers_end_at_the_totals_of_the_replay(client: ReplayedClient) -> None:
    """Thinning for drawing loses nothing of a cumulative loss."""
    numbers, outcome = cumulative_losses(client).numbers, client.to_dict()
    assert len(numbers["poll"]) <= 1200 < client.replay.polls
    assert numbers["poll"][-1] == outcome["polls"]
    assert numbers["time_s"][-1] == pytest.approx(outcome["replayed_s"], rel=1e-6)
    assert numbers["mixture_nats"][-1] == pytest.approx(outcome["loss"]["mixture"], rel=1e-6)
    assert numbers["suffered_nats"][-1] == pytest.approx(outcome["loss"]["suffered"], rel=1e-6)
    assert numbers["best_fixed_expert_nats"][-1] == pytest.approx(outcome["best_expert"]["loss"], rel=1e-6)
    assert numbers["current_best_nats"][-1] == pytest.approx(outcome["current_best_loss"], rel=1e-6)


def test_the_instantaneous_losses_are_those_that_the_cumulative_ones_sum(client: ReplayedClient) -> None:
    """Window by window: the mean times the polls is the growth of the total; the current best is least."""
    one, all_ = losses_against_best(client).numbers, cumulative_losses(client).numbers
    assert one["poll"] == all_["poll"]
    polls = np.diff([0, *one["poll"]])
    for name in ("suffered_nats", "best_fixed_expert_nats", "current_best_nats"):
        assert np.cumsum(np.array(one[name]) * polls) == pytest.approx(np.array(all_[name]), rel=1e-4)
    assert (np.array(one["current_best_nats"]) <= np.array(one["best_fixed_expert_nats"]) + 1e-12).all()


def test_a_short_replay_of_another_learner_is_drawn_too(tmp_path: Path) -> None:
    """One poll, two experts, no switching rates: six figures, without a warning."""
    from psm_lab.replay.replay_config import PollingGrid

    method = ReplayConfig(learner="static-expert", polls=1, clock=PollingGrid(100.0, 200.0, 100.0))
    (short,) = replay_trace("ucb", method, pages=1, history=True)
    assert {path.stem for path in write_figures(tmp_path, short, short)} == {
        "losses",
        "losses-against-best",
        "weights",
        "cumulative-losses",
        "sleep-times",
        "regret-bound",
    }


def test_a_replay_without_history_is_not_drawn(client: ReplayedClient) -> None:
    bare = replay_activity(client.activity, ReplayConfig(polls=5))
    with pytest.raises(ValueError, match="has no history; run it with history=True"):
        losses(bare)

"""Policies that learn from frames, with other segment sizes and with group addressed frames."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from psm_sim.simulation import Scenario, run_comparison

SEEDS = (7001, 7002, 7003)
BROADCASTS = (("beacon.dtim_period", 3), ("access_point.group_per_s", 2.0))


@cache
def measured(policy, *settings):
    """Return the mean energy of a page in J and slowdown, over the seeds of 25 pages of ``ucb``."""
    runs = [
        run_comparison([policy], Scenario("ucb", settings=dict(settings), pages=25, seed=seed)).runs[0]
        for seed in SEEDS
    ]
    return np.mean([(run.energy_per_page_j, run.slowdown.mean) for run in runs], axis=0)


def test_the_slowdown_does_not_depend_on_the_segment_size():
    """Peers with time stamps send 1448 B; if such a segment ended a reply, the slowdown would rise by 0.2."""
    _, usual = measured("anticipate:price_w=2")
    _, slowdown = measured("anticipate:price_w=2", ("tcp.segment_bytes", 1448))
    assert slowdown == pytest.approx(usual, abs=0.02)


@pytest.mark.parametrize("policy", ["anticipate:price_w=0.1", "anticipate:price_w=2"])
def test_broadcast_frames_do_not_train_the_models_of_a_policy(policy):
    """The only cost is the energy of their reception, at most 10 mJ of 2.8 J per page."""
    (plain_j, plain), (energy_j, slowdown) = measured(policy), measured(policy, *BROADCASTS)
    assert energy_j == pytest.approx(plain_j, abs=0.01)
    assert slowdown == pytest.approx(plain, abs=0.005)

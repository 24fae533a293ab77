"""The trained policy, which runs the rules of the reinforcement learning environment."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from psm_lab.policies import training
from psm_lab.policies.trained import FEATURES, WEIGHTS, LinearRules, Trained

import psm_sim
from psm_sim.environment import PowerSaveEnv
from psm_sim.network import load_topology
from psm_sim.policies import RadioPower
from psm_sim.simulation import Scenario


def rules(price=1.0):
    """Return the trained rules for the card of the papers."""
    power = load_topology().power
    weights = json.loads(WEIGHTS.read_text(encoding="utf-8"))["weights"]
    return LinearRules(weights, RadioPower(power.awake_w, power.asleep_w, power.beacon_j), 0.1, price)


def test_an_episode_that_follows_the_trained_rules_equals_a_run_of_the_trained_policy():
    """Both are equal up to the single precision of an observation."""
    env, act = PowerSaveEnv(Scenario(pages=5)), rules(0.5)
    observation, _ = env.reset(seed=9)
    terminated = False
    while not terminated:
        observation, _, terminated, _, info = env.step(act(observation.tolist()))
    run = psm_sim.simulate(Trained(0.5), pages=5, seed=9)
    assert info["result"].energy_per_page_j == run.energy_per_page_j


def test_a_higher_price_of_delay_gives_less_delay():
    cheap, dear = (psm_sim.simulate(Trained(price), pages=10, seed=2) for price in (0.05, 20.0))
    assert dear.page_time_s.mean < cheap.page_time_s.mean
    assert dear.energy_per_page_j > cheap.energy_per_page_j


def test_trained_rules_cost_less_than_static_psm_at_the_price_of_their_training():
    """The seeds were not used for training."""
    trained, psm = psm_sim.compare([Trained(1.0), "psm"], pages=20, seed=2000).runs
    cost = [run.energy_per_page_j + run.page_time_s.mean for run in (trained, psm)]
    assert cost[0] < 0.9 * cost[1]


def test_a_generation_writes_weights_and_trains_on_tuning_seeds_only(monkeypatch, tmp_path, capsys):
    """Two candidates run in this process."""

    class Here:
        def __init__(self, *_):
            self.map = map

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

    file = tmp_path / "weights.json"
    monkeypatch.setattr(training, "ProcessPoolExecutor", Here)
    monkeypatch.setattr(training, "TRAFFIC", {"ucb": 1})
    monkeypatch.setattr(training, "CANDIDATES", 2)
    monkeypatch.setattr("sys.argv", ["training.py", "1", "1", str(file)])
    training.main()
    assert capsys.readouterr().out.startswith("1 ")
    values = json.loads(Path(file).read_text(encoding="utf-8"))
    assert np.shape(values["weights"]) == (2, 2, len(FEATURES))
    episodes = training.draw_episodes(np.random.default_rng(3))
    assert all(1 <= episode.seed <= 1000 for episode in episodes)

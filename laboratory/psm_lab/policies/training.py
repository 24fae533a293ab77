"""Train the policy ``trained`` with an evolution strategy, in the environment.

Each generation draws candidates from a normal distribution with independent weights, and moves the
distribution towards the best quarter of the candidates. The cost of an episode is energy plus price times
delay. A candidate is judged by the mean logarithm of this cost over the episodes of its generation. Only
tuning seeds are used.

    python -m psm_lab.policies.training [GENERATIONS] [PROCESSES] [FILE]
"""

from __future__ import annotations

import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psm_lab.policies.trained import FEATURES, WEIGHTS, LinearRules
from psm_sim.environment import TUNING_SEEDS, PowerSaveEnv
from psm_sim.policies import RadioPower
from psm_sim.simulation import Scenario

TRAFFIC = {
    "ucb": 6, "shifting": 6, "modern": 3,
    "mqtt:stretch_s=300": 1, "push:stretch_s=100": 1, "ping:stretch_s=30": 1,
}  # fmt: skip
"""Pages of an episode of each traffic."""

RADIOS = {"three-node": "", "esp32-c3": "modern", "cyw43439": "modern", "nrf7002": "modern"}
"""Topology of each radio; empty for the card of the papers."""

CANDIDATES, BEST, EPISODES = 16, 4, 10
SHAPE = 2, 2, len(FEATURES)
SEED = 1
"""Sizes of the cross-entropy method, shape of its weights, and seed of the training of ``trained.json``.

The sizes limit the time of a training, which prints 170 s of processor time.
"""

Weights = NDArray[np.float64]


class Episode(NamedTuple):
    """Traffic, radio, price of delay in watts and seed of an episode."""

    traffic: str
    radio: str
    price: float
    seed: int


@cache
def environment(traffic: str, radio: str) -> PowerSaveEnv:
    """Return the environment of a traffic and a radio; each process creates it once."""
    topology = RADIOS[radio]
    if not topology:
        return PowerSaveEnv(Scenario(traffic, pages=TRAFFIC[traffic]))
    return PowerSaveEnv(Scenario(traffic, topology, TRAFFIC[traffic], profile=radio))


def costs(episode: Episode, candidates: list[Weights]) -> list[float]:
    """Return the logarithm of the cost of each candidate in an episode."""
    env = environment(episode.traffic, episode.radio)
    env.price = episode.price
    topology = env.scenario.resolve_topology()
    power = RadioPower(topology.power.awake_w, topology.power.asleep_w, topology.power.beacon_j)
    log_costs = []
    for weights in candidates:
        act = LinearRules(weights.tolist(), power, topology.beacon.interval_ms / 1000, episode.price)
        observation, _ = env.reset(seed=episode.seed)
        cost, terminated = 0.0, False
        while not terminated:
            observation, reward, terminated, _, _ = env.step(act(observation.tolist()))
            cost -= reward
        log_costs.append(float(np.log(cost)))
    return log_costs


def draw_episodes(random: np.random.Generator) -> list[Episode]:
    """Return the episodes of a generation."""
    return [
        Episode(
            str(random.choice(list(TRAFFIC))),
            str(random.choice(list(RADIOS))),
            float(10 ** random.uniform(-1.3, 1.3)),
            int(random.integers(TUNING_SEEDS[0], TUNING_SEEDS[1] + 1)),
        )
        for _ in range(EPISODES)
    ]


def main() -> None:
    """Train, and write the weights after each generation."""
    generations, processes = (int(text) for text in [*sys.argv[1:3], "53", "2"][:2])
    file = Path(sys.argv[3]) if len(sys.argv) > 3 else WEIGHTS
    random = np.random.default_rng(SEED)
    mean, width = np.zeros(SHAPE), np.full(SHAPE, 0.3)
    mean[:, 0, 0] = -6.0  # begin with dozes of one beacon while a reply is awaited, else six beacons
    mean[0, 1, 0] = np.log(6.0)
    width[:, :, 0] = 1.0
    began_s = time.perf_counter()
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        for generation in range(1, generations + 1):
            candidates = [mean, *random.normal(mean, width, (CANDIDATES - 1, *SHAPE))]
            log_costs = np.array(list(pool.map(partial(costs, candidates=candidates), draw_episodes(random))))
            scores = log_costs.mean(axis=0)
            best = np.array([candidates[index] for index in np.argsort(scores)[:BEST]])
            mean = 0.5 * mean + 0.5 * best.mean(axis=0)
            width = np.maximum(0.8 * width + 0.2 * best.std(axis=0), 0.03)
            taken_s = time.perf_counter() - began_s
            print(
                f"{generation} {scores[0]:.3f} {scores.min():.3f} {width.mean():.3f} {taken_s:.0f} s",
                flush=True,
            )
            values = {"generations": generation, "seed": SEED, "weights": mean.round(3).tolist()}
            file.write_text(json.dumps(values) + "\n", encoding="utf-8")
    times = os.times()
    print(f"{times.user + times.children_user:.0f} s of processor time")


if __name__ == "__main__":
    main()

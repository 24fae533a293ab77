"""Compiled rounds of Learn-alpha beside those of NumPy: the same polls, and what a start costs.

``python -m benchmarks.compiled`` replays the same activity in both ways for several losses, seeds, grids and
numbers of switching rates, 100,000 polls each, and prints in how many polls they slept for another time, and
the largest difference of a weight. ``--starts`` prints instead what the first compiled learner of a process
costs: Numba's import, and the compilation where nothing is on disk yet.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from itertools import product

import numpy as np

from benchmarks.replay import endless
from psm_sim.common.array_types import FloatArray
from psm_sim.learning import LearnAlpha, Learner, switching_rates
from psm_sim.replay.binned_arrivals import BinnedArrivals
from psm_sim.replay.poller import ReplayPoller
from psm_sim.replay.polling_grid import PollingGrid
from psm_sim.replay.replay_config import replay_loss
from psm_sim.replay.replay_history import NullHistory

LOSSES = ("inverse", "inverse-log:gamma=1e-5", "constrained:target_ms=150", "gamma*I*Ti + 1/sqrt(Ti)", "1")
HORIZONS = (300, 2_700, 27_000)
SEEDS = (1, 2, 3)
START = """
import time
begun = time.process_time()
from psm_sim.learning import LearnAlpha
learnt = LearnAlpha(12, [0.1, 0.2])
before = time.process_time()
learnt = LearnAlpha(12, [0.1, 0.2], "yes")
print(f"{time.process_time() - before:.2f} s of processor")
"""


class Trail(NullHistory):
    """History that keeps each polling time, and the weights of every hundredth poll."""

    def __init__(self) -> None:
        self.slept_ms: list[float] = []
        self.weights: list[FloatArray] = []

    def before(self, learner: Learner) -> None:
        """Note the weights."""
        if not len(self.slept_ms) % 100:
            self.weights.append(learner.weights)

    def after(self, facts: tuple[float, ...], losses: FloatArray) -> None:
        """Note the time slept."""
        self.slept_ms.append(facts[0])


def trail(compiled: str, loss: str, seed: int, horizon: int, polls: int, round_ms: float) -> Trail:
    """Return what a replay did."""
    clock, found = PollingGrid(round_ms=round_ms), Trail()
    learner = LearnAlpha(clock.times_ms.size, switching_rates(horizon), compiled)
    made = replay_loss(loss, None, clock.times_ms)
    ReplayPoller(BinnedArrivals(endless(200, seed)), learner, made, clock, found).run(polls)
    return found


def compare(polls: int) -> None:
    """Print one line for each loss and number of rates, over all seeds and both grids."""
    print(f"{'loss':28}{'rates':>6}{'polls':>10}{'slept otherwise':>17}{'largest difference':>20}")
    for loss, horizon in product(LOSSES, HORIZONS):
        others, largest, count = 0, 0.0, 0
        for seed, round_ms in product(SEEDS, (0.0, 100.0)):
            one, many = (trail(way, loss, seed, horizon, polls, round_ms) for way in ("yes", "no"))
            others += int(np.count_nonzero(np.array(one.slept_ms) != np.array(many.slept_ms)))
            largest = max(largest, float(abs(np.array(one.weights) - np.array(many.weights)).max()))
            count += polls
        rates = switching_rates(horizon).size
        print(f"{loss:28}{rates:6}{count:10,}{others:17,}{largest:20.1e}", flush=True)


def starts() -> None:
    """Print what the first compiled learner of a process costs: without a cache, and twice with it."""
    with tempfile.TemporaryDirectory() as folder:
        for what in ("nothing on disk", "compiled before", "compiled before"):
            done = subprocess.run(
                [sys.executable, "-c", START],
                env={**os.environ, "NUMBA_CACHE_DIR": folder},
                capture_output=True,
                text=True,
                check=True,
            )
            print(f"{what:18}{done.stdout.strip()}")


def main() -> None:
    """Compare, or time starts, as asked on the command line."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--polls", type=int, default=100_000, help="(default: %(default)s)")
    reader.add_argument("--starts", action="store_true", help="time the first learner of a process instead")
    asked = reader.parse_args()
    if asked.starts:
        starts()
    else:
        compare(asked.polls)


if __name__ == "__main__":
    main()

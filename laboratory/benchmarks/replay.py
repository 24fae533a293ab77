"""A million polls of Learn-alpha over network activity: seconds, and memory beyond the trace's own.

``python benchmarks/replay.py`` replays synthetic pages over a nominal modem, 259 switching rates x 10
experts, and prints seconds of processor time; then the peak of what Python and NumPy allocated for a
hundredth and a tenth of the polls. ``--history`` also keeps what the figures need.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Iterator

from psm_lab.replay.binned_arrivals import BinnedArrivals
from psm_lab.replay.network_activity import NominalTransfers, Transfer, transfers_of
from psm_lab.replay.replay_config import LEARNERS, PollingGrid, replay_loss
from psm_lab.replay.replay_history import ReplayHistory
from psm_lab.replay.trace_replay import ReplayPoller

from psm_sim.learning.factory import make_learner
from psm_sim.workload import load_workload

HORIZON = 27_000


def endless(pages: int = 1000, seed: int = 1) -> Iterator[Transfer]:
    """Yield the transfers of the same drawn pages again and again, 30 s apart."""
    once = list(transfers_of(load_workload("ucb", pages, seed).pages, NominalTransfers()))
    shift_us = 0
    while True:
        for start_us, end_us, size in once:
            yield Transfer(start_us + shift_us, end_us + shift_us, size)
        shift_us += once[-1].end_us + 30_000_000


def make(history: bool, learner: str) -> ReplayPoller:
    """Return a replay that has not begun."""
    clock = PollingGrid()
    experts = clock.times_ms.size
    loss = replay_loss("inverse", None, clock.times_ms)
    made = make_learner(learner, experts, HORIZON, LEARNERS)
    return ReplayPoller(
        BinnedArrivals(endless()), made, loss, clock, ReplayHistory(experts) if history else None
    )


def main() -> None:
    """Measure, as asked on the command line."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--polls", type=int, default=1_000_000, help="(default: %(default)s)")
    reader.add_argument("--history", action="store_true", help="keep what the figures need")
    reader.add_argument("--learner", default="learn-alpha", help="such as fixed-share:alpha=0.01")
    asked = reader.parse_args()
    replay = make(asked.history, asked.learner)
    begun, wall = time.process_time(), time.perf_counter()
    replay.run(asked.polls)
    spent, wall = time.process_time() - begun, time.perf_counter() - wall
    print(
        f"{replay.polls:,} polls, {replay.now_us / 3.6e9:,.1f} hours, {replay.buffered_bytes:,} bytes: "
        f"{spent:.2f} s of processor, {wall:.2f} s of wall, {spent / replay.polls * 1e6:.2f} us per poll"
    )
    for polls in (asked.polls // 100, asked.polls // 10):
        tracemalloc.start()
        make(asked.history, asked.learner).run(polls)
        print(f"{polls:,} polls: peak {tracemalloc.get_traced_memory()[1] / 2**20:.2f} MiB, trace included")
        tracemalloc.stop()


if __name__ == "__main__":
    main()

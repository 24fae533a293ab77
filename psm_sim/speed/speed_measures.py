"""Units of work and the baseline loops that they are timed against."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count as count_from

import numpy as np

from psm_sim.learning.factory import make_learner
from psm_sim.learning.learn_alpha_backends import numba_error
from psm_sim.network import build_world, load_topology
from psm_sim.network.simpy_baseline import run_timeouts
from psm_sim.policies import make_policy
from psm_sim.replay.binned_arrivals import BinnedArrivals
from psm_sim.replay.poller import ReplayPoller
from psm_sim.replay.polling_grid import PollingGrid
from psm_sim.replay.replay_config import replay_loss
from psm_sim.workload import load_workload
from psm_sim.workload.network_activity import Transfer
from psm_sim.workload.page_view import Page

HORIZON = 27_000
"""Number of polls for which the switching rates are chosen; it gives 259 rates."""

Callback = Callable[[], object]


@dataclass(frozen=True)
class Measure:
    """Benchmarked work and its baseline loop.

    Attributes
    ----------
    name : str
        Name of one unit of work, such as ``page of psm``.
    prepare : callable
        Function that returns the work, a function to call once. Only the work is timed.
    units : int
        Number of units in the work.
    baseline : str
        Baseline loop, a key of :data:`LOOPS`.
    """

    name: str
    prepare: Callable[[], Callback]
    units: int
    baseline: str


def time_seconds(work: Callback) -> float:
    """Return the CPU time of *work* in seconds, including its child processes."""
    start_s = _clock_s()
    work()
    return _clock_s() - start_s


def _clock_s() -> float:
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def _events() -> None:
    run_timeouts(20_000)


def _array_calls() -> None:
    weights, factor = np.full((12, 259), 1.0), np.full((12, 259), 1.0)
    for _ in range(2_000):
        np.multiply(weights, factor, out=weights)


def _start() -> None:
    subprocess.run([sys.executable, "-c", "import numpy"], check=True)


LOOPS: dict[str, tuple[Callback, int, str]] = {
    "event": (_events, 20_000, "a SimPy process that yields timeouts"),
    "product": (_array_calls, 2_000, "NumPy's product of two arrays of 12 x 259"),
    "start": (_start, 1, 'python -c "import numpy"'),
}
"""Baseline loops: the work, its number of units, and the description of a unit."""


def _pages(policy: str, count: int) -> Measure:
    pages = load_workload("ucb", count, 1).pages
    return Measure(f"page of {policy}", lambda: _run(policy, pages), count, "event")


def _gaps(think_s: float, count: int = 40) -> Measure:
    pages = (Page(think_s, 1000, (), (300,), (0.0,)),) * count
    return Measure(f"page of lpsm, {think_s:g} s apart", lambda: _run("lpsm", pages), count, "event")


def _run(policy: str, pages: tuple[Page, ...]) -> Callback:
    world = build_world(load_topology(), make_policy(policy))
    return lambda: world.run(pages)


def _rounds(learner: str = "learn-alpha", note: str = "", count: int = 2_000) -> Measure:
    table = np.random.default_rng(1).random((count, 12)) * 5

    def prepare() -> Callback:
        update = make_learner(learner, 12, HORIZON).update
        return lambda: deque(map(update, table), 0)

    return Measure(f"round of Learn-alpha{note}, 259 x 12", prepare, count, "product")


def _polls(learner: str = "learn-alpha", note: str = "", count: int = 2_000) -> Measure:
    def prepare() -> Callback:
        clock = PollingGrid()
        instance = make_learner(learner, clock.times_ms.size, HORIZON)
        transfers = (Transfer(at_us, at_us + 2_000_000, 9_000) for at_us in count_from(0, 30_000_000))
        replay = ReplayPoller(
            BinnedArrivals(transfers), instance, replay_loss("inverse", None, clock.times_ms), clock
        )
        return lambda: replay.run(count)

    return Measure(f"poll of a replay{note}, 259 x 10", prepare, count, "product")


def _starts(*args: str) -> Measure:
    def work() -> None:
        command = [sys.executable, "-m", "psm_sim", *args]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 (our own)

    return Measure(" ".join(["start of psm_sim", *args]), lambda: work, 1, "start")


def speed_measures() -> Iterator[Measure]:
    """Yield all measures in display order; the compiled ones require Numba."""
    for policy in (
        "always-on",
        "psm",
        "bsd:p=0.5",
        "outstanding",
        "lpsm:loss=inverse-log",
        "lpsm:loss=inverse",
    ):
        yield _pages(policy, 500)
    for policy in ("listen", "listen:learner=cbgz2,b=0.003", "anticipate"):
        yield _pages(policy, 100)
    for think_s in (1.0, 10.0, 100.0, 1_000.0, 10_000.0):
        yield _gaps(think_s)
    yield _rounds()
    yield _polls()
    if not numba_error():
        yield _rounds("learn-alpha:compiled=yes", ", compiled")
        yield _polls("learn-alpha:compiled=yes", ", compiled")
    yield _starts("--help")
    yield _starts("--policy", "psm", "--pages", "1")

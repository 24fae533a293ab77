"""Times of a page, a poll, a learning round and a start of psm_sim, relative to baseline loops.

    python benchmarks/speed.py
    python benchmarks/speed.py --format json > mine.json
    python benchmarks/speed.py --against mine.json

The baseline loops run on the same machine: SimPy events, NumPy array products, and a start of Python with
NumPy. The exit status is 1 if a benchmark takes more than 1.1 times as long as in the file of --against.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.simpy_baseline import run_timeouts
from psm_sim.learning.factory import make_learner
from psm_sim.network import build_world, load_topology, run_alone
from psm_sim.policies import make_policy
from psm_sim.workload import load_workload
from psm_sim.workload.page_view import Page

SLOWER = 1.1
"""Ratio to the earlier result above which a benchmark counts as slower."""

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


@dataclass(frozen=True)
class Cost:
    """Result of one benchmark.

    Attributes
    ----------
    name, baseline : str
        See :class:`Measure`.
    ratio : float
        Time of one unit of work, divided by the time of one iteration of the baseline loop.
    us : float
        Time of one unit of work on this machine, in microseconds.
    before : float or None
        Ratio of an earlier run, if there is one.
    """

    name: str
    baseline: str
    ratio: float
    us: float
    before: float | None = None

    @property
    def is_slower(self) -> bool:
        """Whether the ratio exceeds :data:`SLOWER` times that of the earlier run."""
        return self.before is not None and self.ratio > SLOWER * self.before


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


def speed_measures() -> Iterator[Measure]:
    """Yield all measures in display order."""
    for policy in (
        "always-on",
        "psm",
        "bsd:p=0.5",
        "lpsm:loss=inverse-log",
        "lpsm:loss=inverse",
    ):
        yield _pages(policy, 500)
    yield _pages("anticipate", 100)
    for think_s in (1.0, 10.0, 100.0, 1_000.0, 10_000.0):
        yield _gaps(think_s)
    yield _rounds()
    yield _starts("--help")
    yield _starts("--policy", "psm", "--pages", "1")


def _pages(policy: str, count: int) -> Measure:
    pages = load_workload("ucb", count, 1).pages
    return Measure(f"page of {policy}", lambda: _run(policy, pages), count, "event")


def _gaps(think_s: float, count: int = 40) -> Measure:
    pages = (Page(think_s, 1000, (), (300,), (0.0,)),) * count
    return Measure(f"page of lpsm, {think_s:g} s apart", lambda: _run("lpsm", pages), count, "event")


def _run(policy: str, pages: tuple[Page, ...]) -> Callback:
    world = build_world(load_topology(), make_policy(policy))
    return lambda: run_alone(world, pages)


def _rounds(count: int = 2_000) -> Measure:
    table = np.random.default_rng(1).random((count, 12)) * 5

    def prepare() -> Callback:
        update = make_learner("learn-alpha", 12, HORIZON).update
        return lambda: deque(map(update, table), 0)

    return Measure("round of Learn-alpha, 259 x 12", prepare, count, "product")


def _starts(*args: str) -> Measure:
    def work() -> None:
        command = [sys.executable, "-m", "psm_sim", *args]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    return Measure(" ".join(["start of psm_sim", *args]), lambda: work, 1, "start")


def time_seconds(work: Callback) -> float:
    """Return the CPU time of *work* in seconds, including its child processes."""
    start_s = _clock_s()
    work()
    return _clock_s() - start_s


def _clock_s() -> float:
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def run_benchmarks(repeats: int, before: Mapping[str, float]) -> list[Cost]:
    """Run all benchmarks and return the best of *repeats*, with the ratios *before* by name."""
    return [_run_benchmark(measure, repeats, before.get(measure.name)) for measure in speed_measures()]


def _run_benchmark(measure: Measure, repeats: int, before: float | None) -> Cost:
    """Time the loop and the work alternately, so that a busy period of the machine affects both."""
    loop, units, _ = LOOPS[measure.baseline]
    times_s = [
        (time_seconds(loop) / units, time_seconds(measure.prepare()) / measure.units) for _ in range(repeats)
    ]
    loop_s, work_s = (min(column) for column in zip(*times_s, strict=True))
    return Cost(measure.name, measure.baseline, work_s / loop_s, 1e6 * work_s, before)


def to_dict(costs: list[Cost]) -> dict[str, Any]:
    """Return the costs in the structure of the JSON output."""
    rows = {
        cost.name: {"ratio": cost.ratio, "baseline": cost.baseline, "us": cost.us, "slower": cost.is_slower}
        for cost in costs
    }
    return {"loops": {name: unit for name, (_, _, unit) in LOOPS.items()}, "costs": rows}


def table_lines(costs: list[Cost]) -> Iterator[str]:
    """Yield one line per measure: its cost in baseline loops now and before, and in microseconds."""
    width = max(len(cost.name) for cost in costs)
    yield f"{'':{width}}  {'cost':>8} {'unit':10}{'before':>8}{'time, us':>12}"
    for cost in costs:
        before = "" if cost.before is None else f"{cost.before:.4g}"
        slower = "  slower" if cost.is_slower else ""
        cells = f"{cost.ratio:8.4g} {cost.baseline + 's':10}{before:>8}{cost.us:12,.1f}"
        yield f"{cost.name:{width}}  {cells}{slower}"


def main() -> int:
    """Run the benchmarks and print them; return 1 if one became slower."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="the best of N counts (5)")
    parser.add_argument("--against", type=Path, metavar="FILE", help="JSON file of an earlier run")
    parser.add_argument("--format", choices=("table", "json"), default="table", help="(table)")
    arguments = parser.parse_args()
    before: dict[str, float] = {}
    if arguments.against is not None:
        rows = json.loads(arguments.against.read_text(encoding="utf-8"))["costs"]
        before = {name: row["ratio"] for name, row in rows.items()}
    costs = run_benchmarks(arguments.repeats, before)
    lines = [json.dumps(to_dict(costs), indent=2)] if arguments.format == "json" else table_lines(costs)
    print("\n".join(lines))
    return int(any(cost.is_slower for cost in costs))


if __name__ == "__main__":
    sys.exit(main())

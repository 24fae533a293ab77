"""Cost of watching: a run with a capture or a timeline beside the same run without.

    python benchmarks/watching.py [PAGES] [REPEATS]

The best of some repeats that take turns, files on the present disk. ``run`` is the simulation alone, pages
drawn before: processor time, and the time by the clock, in which the file is flushed to the disk. ``command``
is all that ``--policy POLICY`` does, baselines included, in a process of its own, by the clock.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from psm_sim.common.output_files import atomic_write
from psm_sim.network import build_world, load_topology, run_alone
from psm_sim.network.observers import Observer
from psm_sim.network.parts.capture import capture_observers
from psm_sim.policies import make_policy
from psm_sim.simulation.perfetto import write_perfetto
from psm_sim.simulation.recorder import Recorder
from psm_sim.workload import Workload, load_workload

POLICIES = ("always-on", "psm", "bsd:p=0.5", "lpsm")
SUFFIXES = ("", ".pcap", ".json")


def run_once(policy: str, workload: Workload, path: Path) -> tuple[float, float]:
    """Return processor time and time of one run; the suffix of *path* says what is written, if anything."""
    begun, used = time.perf_counter(), time.process_time()
    if not path.suffix:
        _run(policy, workload, [])
    else:
        with atomic_write(path) as file:
            if path.suffix == ".pcap":
                _run(policy, workload, capture_observers(file, 1))
            else:
                _run(policy, workload, [recorder := Recorder()])
                write_perfetto(file, [recorder])
    return time.process_time() - used, time.perf_counter() - begun


def _run(policy: str, workload: Workload, observers: Sequence[Observer]) -> None:
    world = build_world(load_topology(), make_policy(policy), observers)
    run_alone(world, workload.pages, workload.messages)


def command_once(policy: str, pages: int, path: Path) -> float:
    """Return the seconds of the command in a process of its own."""
    option = {"": [], ".pcap": ["--force", "--capture"], ".json": ["--force", "--timeline"]}[path.suffix]
    words = [
        sys.executable,
        "-m",
        "psm_sim",
        "--policy",
        policy,
        "--pages",
        str(pages),
        *option,
        *([str(path)] if option else []),
    ]
    begun = time.perf_counter()
    subprocess.run(words, check=True, capture_output=True)
    return time.perf_counter() - begun


def main() -> None:
    """Print one row per policy."""
    pages = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    workload = load_workload("ucb", pages, 1)
    print(f"{pages} pages of ucb, best of {repeats}; seconds, and times as long with a capture or a timeline")
    print(f"{'policy':12}{'processor':>10}{'capture':>9}{'timeline':>10}{'clock':>9}{'capture':>9}", end="")
    print(f"{'timeline':>10}{'MB':>7}{'MB':>6}{'command':>9}{'capture':>9}{'timeline':>10}")
    with tempfile.TemporaryDirectory(dir=".") as folder:
        paths = [Path(folder) / f"watched{suffix}" for suffix in SUFFIXES]
        for policy in POLICIES:
            runs = [[run_once(policy, workload, path) for path in paths] for _ in range(repeats)]
            commands = [[command_once(policy, pages, path) for path in paths] for _ in range(repeats)]
            used, clock = ([[run[which] for run in row] for row in runs] for which in (0, 1))
            sizes = [path.stat().st_size / 1e6 for path in paths[1:]]
            print(f"{policy:12} {_ratios(used)}{_ratios(clock)}", end="")
            print(f"{sizes[0]:7.0f}{sizes[1]:6.1f}{_ratios(commands)}")


def _ratios(rows: Sequence[Sequence[float]]) -> str:
    """Return the best seconds without a file, and how many times as long each kind of file takes."""
    alone, *more = (min(each) for each in zip(*rows, strict=True))
    return f"{alone:9.3f}{more[0] / alone:9.2f}{more[1] / alone:10.2f}"


if __name__ == "__main__":
    main()

"""Sweep: opening, resuming and the best of a store of 10,000 tasks; tasks per second on one and two workers.

Run it as ``python benchmarks/sweep.py``; with ``--large`` alone it measures the large store only.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from psm_sim.campaign.sweep.grid import Grid, GridAxis
from psm_sim.campaign.sweep.job import Outcome
from psm_sim.campaign.sweep.planning import plan_tasks
from psm_sim.campaign.sweep.store import Store
from psm_sim.common.formatting import flatten
from psm_sim.simulation import simulate

LARGE = ("policy.bsd.p=0.05..1:0.05", "links.wired.latency_ms=10..250:10", "seed=1..20")
SMALL = ("--vary", "policy.bsd.p=0.05..0.5:0.05", "--vary", "seed=1..20", "--pages", "100")


def fill(path: Path) -> None:
    """Write a store whose 10,000 tasks are done, with the measures of one run and other energies."""
    tasks = plan_tasks(Grid(tuple(map(GridAxis.parse, LARGE))).tasks())
    one = simulate("bsd", pages=5).to_dict()
    measures = flatten(
        {key: value for key, value in one.items() if key not in ("policy", "parameters", "pages")}
    )
    with Store(path) as store:
        store.enrol(tasks, {task.key: _parameters(task.task.policy.values["p"]) for task in tasks})
        store.record(
            Outcome(
                task.key, {**measures, "energy_per_page_j": 3 + number % 7, "slowdown.mean": 1 + number % 5}
            )
            for number, task in enumerate(tasks)
        )


def _parameters(p: str) -> dict[str, object]:
    return {"policy.bsd.p": float(p), "trace.mean_think_s": None, "links.wired.latency_ms": 20.0}


def seconds(*words: str) -> tuple[float, float]:
    """Return the wall time and the processor time of a command and its workers, its start included."""
    begun, used = time.perf_counter(), _used_s()
    command = [sys.executable, "-m", "psm_sim", "sweep", *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begun, _used_s() - used


def _used_s() -> float:
    found = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found.ru_utime + found.ru_stime


def main() -> None:
    """Print what was measured."""
    with tempfile.TemporaryDirectory() as folder:
        large = str(Path(folder) / "large.sqlite")
        fill(Path(large))
        vary = [word for axis in LARGE for word in ("--vary", axis)]
        for name, words in (
            ("status", ("status", large)),
            ("best", ("best", large)),
            ("resume, CSV of all", (*vary, "--store", large, "--format", "csv")),
        ):
            wall_s, used_s = seconds(*words)
            print(f"10,000 tasks, {name}: {wall_s:.2f} s of wall, {used_s:.2f} s of processor")
        for number in range(0 if "--large" in sys.argv else 3):
            for workers in (1, 2):
                store = f"{folder}/{number}-{workers}.sqlite"
                wall_s, used_s = seconds(*SMALL, "--workers", str(workers), "--store", store)
                print(f"200 tasks, {workers} workers: {wall_s:.1f} s of wall, {used_s:.1f} s of processor")


if __name__ == "__main__":
    main()

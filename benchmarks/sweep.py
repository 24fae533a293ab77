"""Sweep: export and resumption of a table of 10,000 tasks; tasks per second on one and two workers.

Run it as ``python benchmarks/sweep.py``; with ``--large`` alone it measures the large table only.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

from psm_sim.campaign.sweep.grid import Grid, GridAxis
from psm_sim.campaign.sweep.table import TaskRow, open_table
from psm_sim.common.formatting import flatten
from psm_sim.common.input_files import file_digest
from psm_sim.simulation import simulate
from psm_sim.simulation.table import ENERGY, SLOWDOWN

LARGE = ("policy.bsd.p=0.05..1:0.05", "links.wired.latency_ms=10..250:10", "seed=1..20")
SMALL = ("--vary", "policy.bsd.p=0.05..0.5:0.05", "--vary", "seed=1..20", "--pages", "100")


def fill(path: Path) -> None:
    """Write a table whose 10,000 tasks are done, with the measures of one run and other energies."""
    one = simulate("bsd", pages=5).to_dict()
    measures = flatten(
        {key: value for key, value in one.items() if key not in ("policy", "parameters", "pages")}
    )
    digest = cache(file_digest)
    rows = []
    for number, task in enumerate(Grid(tuple(map(GridAxis.parse, LARGE))).tasks()):
        scenario = task.scenario
        parameters = {"policy.bsd.p": float(task.policy.values["p"]), "trace.mean_think_s": None}
        parameters |= {key: float(value) for key, value in scenario.settings.items()}
        task_words = (str(task.policy), scenario.trace_name, scenario.topology_name)
        values = {**measures, ENERGY: 3 + number % 7, SLOWDOWN: 1 + number % 5}
        key = scenario.key([task.policy], digest)
        rows.append(TaskRow(key, *task_words, scenario.pages, scenario.seed, parameters, values))
    with open_table(path) as table:
        table.append(rows)


def seconds(*words: str) -> tuple[float, float]:
    """Return the wall time and the processor time of a command and its workers, its start included."""
    begun, used = time.perf_counter(), _used_s()
    command = [sys.executable, "-m", "psm_sim", "sweep", *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begun, _used_s() - used


def _used_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Print what was measured."""
    with tempfile.TemporaryDirectory() as folder:
        large = str(Path(folder) / "large.sqlite")
        fill(Path(large))
        vary = [word for axis in LARGE for word in ("--vary", axis)]
        for name, words in (
            ("export", ("export", large)),
            ("resume, best and figure", (*vary, "--output", large)),
            ("resume, CSV of all", (*vary, "--output", large, "--format", "csv")),
        ):
            wall_s, used_s = seconds(*words)
            print(f"10,000 tasks, {name}: {wall_s:.2f} s of wall, {used_s:.2f} s of processor")
        for number in range(0 if "--large" in sys.argv else 3):
            for workers in (1, 2):
                table = f"{folder}/{number}-{workers}.sqlite"
                wall_s, used_s = seconds(*SMALL, "--workers", str(workers), "--output", table)
                print(f"200 tasks, {workers} workers: {wall_s:.1f} s of wall, {used_s:.1f} s of processor")


if __name__ == "__main__":
    main()

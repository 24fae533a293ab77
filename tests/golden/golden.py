"""Golden results: every built-in policy on every bundled trace and topology, a few pages each.

``python tests/golden/golden.py`` rewrites the rows that have changed. The commit states why.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from pathlib import Path

from psm_sim.common.input_files import bundled_names
from psm_sim.network import load_topology
from psm_sim.policies import POLICIES, make_policy
from psm_sim.simulation import Result, Scenario, run_comparison
from psm_sim.simulation.table import directions_of

FILE = Path(__file__).with_name("golden.csv")
ALMOST = 1e-9
"""Relative tolerance for the arithmetic of other processors."""
SHORT = {
    "bulk": "bulk:stretch_s=70",
    "cbr": "cbr:stretch_s=2",
    "door": "door:stretch_s=60",
    "idle": "idle:stretch_s=310",
    "mqtt": "mqtt:stretch_s=310",
    "ping": "ping:stretch_s=30",
    "push": "push:stretch_s=900",
    "pushes": "pushes:stretch_s=900",
}
"""Traces of messages, with shorter stretches than by default."""
PAGES = {"phone": 2, "shifting": 3, "ucb": 4}
"""Numbers of pages of the other traces (default: 1)."""


def _latency_s(run: Result) -> float:
    """Return the mean latency of background messages over their directions; 0 without messages."""
    names = [f"latency.{direction}" for direction in directions_of(run.row)]
    means = [run[f"{name}.latency_s.mean"] for name in names if run[f"{name}.delivered"]]
    return sum(means) / len(means) if means else 0.0


Key = tuple[str, str, str]
Values = dict[str, float]
MEASURES = {
    "energy_per_page_j": lambda run: run.energy_per_page_j,
    "page_time_s": lambda run: run.page_time_s.mean,
    "slowdown": lambda run: run.slowdown.mean,
    "latency_s": _latency_s,
}


def scenarios() -> list[tuple[str, str]]:
    """Return each bundled topology with each bundled trace."""
    return [
        (topology, trace) for topology in bundled_names("topologies") for trace in bundled_names("traces")
    ]


def policies_on(topology: str) -> list[str]:
    """Return the built-in policies; the channel model has no service periods."""
    any_policy = load_topology(topology).mac.model == "link"
    return [name for name in POLICIES.names() if any_policy or not make_policy(name).service]


def simulate(topology: str, trace: str) -> Iterator[tuple[Key, Values]]:
    """Run every built-in policy; yield the key and the results of each kind of station."""
    scenario = Scenario(SHORT.get(trace, trace), topology, PAGES.get(trace, 1))
    for run in run_comparison(policies_on(topology), scenario).runs:
        yield (topology, trace, run.label), {name: of(run) for name, of in MEASURES.items()}


def stored() -> dict[Key, Values]:
    """Return the golden results."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return {
            (row["topology"], row["trace"], row["policy"]): {name: float(row[name]) for name in MEASURES}
            for row in csv.DictReader(file)
        }


def write() -> None:
    """Write the results, except rows that differ from those of the file by at most ALMOST."""
    golden = stored()
    with FILE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["topology", "trace", "policy", *MEASURES])
        for scenario in scenarios():
            for key, values in simulate(*scenario):
                row = golden[key] if key in golden and agree(golden[key], values) else values
                writer.writerow([*key, *row.values()])


def agree(golden: Values, values: Values) -> bool:
    """Return whether two rows differ by at most ALMOST."""
    return all(math.isclose(golden[name], value, rel_tol=ALMOST) for name, value in values.items())


if __name__ == "__main__":
    write()

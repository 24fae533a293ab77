"""Golden results: every policy that ships, on every trace and topology that ship, a few pages each.

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
"""Relative difference that another processor's arithmetic may make."""
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
"""Traces whose pages are pauses, with shorter ones."""
PAGES = {"phone": 2, "shifting": 3, "ucb": 4}
"""Pages of the other traces; 1 where none are named."""


def _latency_s(run: Result) -> float:
    """Return the mean latency of the messages beside the pages, over their ways; 0 without any."""
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
    """Return each topology and trace that ship."""
    return [(place, trace) for place in bundled_names("topologies") for trace in bundled_names("traces")]


def policies_on(topology: str) -> list[str]:
    """Return the policies that ship; the air of 802.11 does not know service periods."""
    any_policy = load_topology(topology).mac.model == "link"
    return [name for name in POLICIES.names() if any_policy or not make_policy(name).service]


def found(topology: str, trace: str) -> Iterator[tuple[Key, Values]]:
    """Run every policy that ships; yield what it and each kind of station are known by, and its results."""
    scenario = Scenario(SHORT.get(trace, trace), topology, PAGES.get(trace, 1))
    for run in run_comparison(policies_on(topology), scenario).runs:
        yield (topology, trace, run.label), {name: of(run) for name, of in MEASURES.items()}


def kept() -> dict[Key, Values]:
    """Return the golden results."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return {
            (row["topology"], row["trace"], row["policy"]): {name: float(row[name]) for name in MEASURES}
            for row in csv.DictReader(file)
        }


def write() -> None:
    """Write the results, and keep the rows of the file that differ from them by no more than ALMOST."""
    golden = kept()
    with FILE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["topology", "trace", "policy", *MEASURES])
        for each in scenarios():
            for key, values in found(*each):
                row = golden[key] if key in golden and agree(golden[key], values) else values
                writer.writerow([*key, *row.values()])


def agree(golden: Values, values: Values) -> bool:
    """Return whether two rows differ by no more than ALMOST."""
    return all(math.isclose(golden[name], value, rel_tol=ALMOST) for name, value in values.items())


if __name__ == "__main__":
    write()

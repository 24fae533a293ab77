"""Energy and cost of ``anticipate`` with other values of its constants.

``python benchmarks/anticipate_constants.py`` changes one constant at a time. For each value it prints the
case with the largest change of the energy, and the one with the largest change of the cost. The last rows are
those of the constants that control the price, with targets of delay. No seed is one of the benchmark.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np

from psm_sim.campaign.benchmark.cases import TRAFFIC, BenchmarkPlan
from psm_sim.campaign.benchmark.run import run_benchmark
from psm_sim.policies import anticipate as policy
from psm_sim.policies.helpers import delay_control, frame_gaps
from psm_sim.simulation import Scenario, run_comparison

HELPERS = (delay_control, frame_gaps)
SEEDS = (1,)
PRICES = (0.25, 10.0)
RADIOS = ("three-node", "nrf7002")
PAGES = {"ucb": 20, "modern": 4, "recorded": 5, "ping": 1, "mqtt": 1, "push": 1}
TARGETS = ("anticipate:slowdown=1.05", "anticipate:delay_ms=20")
TARGET_SEED = 501
TARGET_PAGES = {"ucb": 60, "modern": 10}

_GRID_S = 0.01 * np.arange(1, 40)
_COARSE_S = np.concatenate((np.arange(0.0, 0.4, 0.02), np.arange(0.4, 30.0, 0.1)))

VALUES: dict[str, dict[str, Any]] = {
    "anticipate.share": {"0": 0.0, "1": 1.0},
    "anticipate._UNSOLICITED": {"0": 0.0, "0.25": 0.25, "1": 1.0},
    "anticipate._FINE_S": {"no steps of 2 ms": _GRID_S, "up to 0.2 s": _GRID_S[:20]},
    "anticipate._MIN_HORIZON": {"12": 12, "36": 36},
    "frame_gaps.ASKED_S": {"0.5": 0.5, "5": 5.0},
    "frame_gaps.ON_AIR_S": {"0.002": 0.002, "0.02": 0.02},
    "frame_gaps._IDLE_ODDS": {"0.25": 0.25, "9": 9.0, "999": 999.0},
    "frame_gaps._IDLE_MEAN_S": {"1": 1.0, "60": 60.0},
    "frame_gaps._STEPS_S": {"four times as long": _COARSE_S},
}
TARGET_VALUES: dict[str, dict[str, Any]] = {
    "delay_control.PAUSE_S": {"0.1": 0.1, "1": 1.0},
    "delay_control.MIN_LOAD_S": {"0": 0.0, "0.1": 0.1},
    "delay_control.GAIN": {"0.1": 0.1, "0.4": 0.4},
    "delay_control.MIN_PRICE": {"0.007": 0.007},
    "delay_control.MAX_PRICE": {"1e6": 1e6},
    "delay_control.EXCESS_AT_1": {"0.1": 0.1, "0.4": 0.4},
    "delay_control.EXPONENT": {"0.5": 0.5, "1": 1.0},
    "delay_control.sqrt": {"1": lambda _: 1.0, "n": float},
    "anticipate._MIN_PROBABILITY": {"1e-6": 1e-6},
}

Change = tuple[str, str]
Numbers = dict[str, tuple[float, float]]


@contextmanager
def replaced(name: str, value: Any) -> Iterator[None]:
    """Replace a constant in its module, and in the policy, which may have imported it."""
    module_name, _, constant = name.partition(".")
    modules = [policy, *(each for each in HELPERS if each.__name__.endswith(module_name))]
    users = [each for each in modules if module_name and hasattr(each, constant)]
    if constant == "sqrt":
        users.remove(policy)
    defaults = [getattr(each, constant) for each in users]
    for each in users:
        setattr(each, constant, value)
    try:
        yield
    finally:
        for each, old in zip(users, defaults, strict=True):
            setattr(each, constant, old)


def run_cases(change: Change) -> Numbers:
    """Return energy and cost in joules by case, with one constant changed."""
    name, label = change
    traffic = {name: TRAFFIC[name]._replace(pages=pages) for name, pages in PAGES.items()}
    share = f",share={label}" if name == "anticipate.share" else ""
    specs = {f"anticipate:price={price:g}{share}": price for price in PRICES}
    known: Any = SimpleNamespace(chain_j={})
    with replaced("" if share else name, VALUES.get(name, {}).get(label)):
        result = run_benchmark(list(specs), BenchmarkPlan(SEEDS, traffic, RADIOS), workers=1, known=known)
    numbers = {}
    for spec, price in specs.items():
        for free, costs in result.runs[spec].items():
            case, energy_j = free._replace(price=price), float(np.sum(costs.energy_j))
            numbers[str(case)] = energy_j, energy_j + case.price_w * float(np.sum(costs.delay_s))
    return numbers


def run_targets(change: Change) -> Numbers:
    """Return energy in J per page and the delay that the target limits, with one constant changed."""
    name, label = change
    numbers = {}
    with replaced(name, TARGET_VALUES.get(name, {}).get(label)):
        for trace, pages in TARGET_PAGES.items():
            runs = run_comparison(TARGETS, Scenario(trace, pages=pages, seed=TARGET_SEED)).runs
            for spec, run in zip(TARGETS, runs, strict=True):
                added_s = (run.pages.page_time_s - run.pages.always_on_time_s).mean()
                delay = run.slowdown.mean - 1 if "slowdown" in spec else added_s
                numbers[f"{trace}, {spec}"] = run.energy_per_page_j, float(delay)
    return numbers


def largest(numbers: Numbers, usual: Numbers, column: int) -> str:
    """Return the largest relative change of a column, and its case."""
    changes = {case: 100 * (numbers[case][column] / usual[case][column] - 1) for case in usual}
    case = max(changes, key=lambda case: abs(changes[case]))
    return f"{changes[case]:+.1f} % ({case})"


def main() -> None:
    """Print a row for each value."""
    print("| constant | value | energy | cost, or delay |\n|---|---|---|---|")
    with ProcessPoolExecutor(2) as pool:
        for function, values in ((run_cases, VALUES), (run_targets, TARGET_VALUES)):
            changes = [("", ""), *((name, label) for name, each in values.items() for label in each)]
            results = pool.map(function, changes)
            usual = next(results)
            for (name, label), numbers in zip(changes[1:], results, strict=True):
                cases = f"{largest(numbers, usual, 0)} | {largest(numbers, usual, 1)}"
                print(f"| `{name}` | {label} | {cases} |", flush=True)


if __name__ == "__main__":
    main()

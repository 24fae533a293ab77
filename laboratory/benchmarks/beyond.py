"""Gain of ``share`` and of longer dozes of ``anticipate``, in pairs on the same pages.

``python laboratory/benchmarks/beyond.py`` runs every combination below over the pages of seeds 11 to 16, on
which nothing was chosen. It prints for each trace and price of delay the difference to the plain policy with
95 % intervals: joules per page, mean slowdown, and cost, the joules plus the price times the seconds of page
time. For pushes it prints joules an hour above sleep, and mean and 95th percentile of the delay. ``--seeds``
and ``--traces`` change what is run.
"""

from __future__ import annotations

import argparse
from collections import defaultdict

import numpy as np
from psm_lab.push_traffic import PUSH_KINDS, push_workload

from psm_sim.common.array_types import FloatArray
from psm_sim.common.summary_stats import confidence_interval
from psm_sim.simulation import Result, Scenario, run_comparison

PLACES = {
    "ucb": 100,
    "ucb:server_delay_ms=650": 60,
    "ucb:server_delay_ms=none": 60,
    "shifting": 120,
    "modern": 8,
}
"""Traces of pages, and how many pages of each."""
PUSHES = tuple(f"pushes:kind={kind}" for kind in PUSH_KINDS)
PLAIN = "share=0"
OPTIONS = ("share=0,max_ms=5000", "share=0.25")
"""Options to compare with the plain policy."""
PRICES = (0.1, 1.0, 5.0)
_MEASURES = ("energy_per_page_j", "slowdown.mean", "page_time_s.mean", "beacons_per_page")


def runs(trace: str, pages: int, seed: int, plain: str) -> dict[str, Result]:
    """Return a run of the plain policy, and one with each of the options."""
    options = (PLAIN, *OPTIONS)
    policies = [f"{plain},{option}" for option in options]
    kind = trace.removeprefix("pushes:kind=")
    traffic = push_workload(kind, pages, seed) if trace in PUSHES else trace
    scenario = Scenario(traffic, pages=pages, seed=seed)
    return dict(zip(options, run_comparison(policies, scenario).runs, strict=True))


def signed(differences: FloatArray) -> str:
    """Return a mean difference with its sign, and the half width of its interval."""
    found = confidence_interval(differences.tolist())
    return f"{found.mean:+.4f} ± {found.half_width:.4f}"


def pages_of(trace: str, seeds: list[int]) -> None:
    """Print the differences on a trace of pages."""
    print(f"\n{trace}, {PLACES[trace]} pages\n\n| price | option | J/page | slowdown | cost | beacons |")
    print("|---|---|---|---|---|---|")
    for price in PRICES:
        found = defaultdict(list)
        for seed in seeds:
            of_seed = runs(trace, PLACES[trace], seed, f"anticipate:price_w={price:g}")
            for option, run in of_seed.items():
                row = [run[name] for name in _MEASURES]
                found[option].append(row)
        plain = np.array(found.pop(PLAIN))
        energy_j, slowdown, _, beacons = plain.mean(axis=0)
        print(f"| {price:g} | plain | {energy_j:.3f} | {slowdown:.3f} | | {beacons:.0f} |")
        for option, rows in found.items():
            more = np.array(rows) - plain
            cost = more[:, 0] + price * more[:, 2]
            parts = (signed(column) for column in (more[:, 0], more[:, 1], cost))
            print(f"| | {option} | {' | '.join(parts)} | {np.mean(rows, axis=0)[3]:.0f} |", flush=True)


def pushes_of(trace: str, seeds: list[int]) -> None:
    """Print the means on a trace of pushes, of an hour each."""
    print(f"\n{trace}\n\n| option | J/h above sleep | delay ms | p95 ms |\n|---|---|---|---|")
    found = defaultdict(list)
    for seed in seeds:
        asleep_w = Scenario().resolve_topology().power.asleep_w
        for option, run in runs(trace, 1, seed, "anticipate:price_w=1").items():
            above_j = 3600 * (run["mean_power_mw"] / 1000 - asleep_w)
            if "pushes.sent" in run.row:
                delays_ms = (1000 * run[f"pushes.delay_s.{name}"] for name in ("mean", "p95"))
                found[option].append((above_j, *delays_ms))
    for option, rows in found.items():
        above, mean, p95 = (confidence_interval(column) for column in zip(*rows, strict=True))
        print(f"| {option} | {above:.2f} | {mean:.0f} | {p95:.0f} |", flush=True)


def main() -> None:
    """Print one table for each trace."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[11, 12, 13, 14, 15, 16])
    parser.add_argument("--traces", nargs="+", default=[*PLACES, *PUSHES])
    args = parser.parse_args()
    for trace in args.traces:
        (pages_of if trace in PLACES else pushes_of)(trace, args.seeds)


if __name__ == "__main__":
    main()

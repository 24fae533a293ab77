"""Default of ``anticipate`` against LPSM and BSD, and its targets of delay, on seeds not used for tuning.

``python benchmarks/anticipate.py`` loads pages of five traces with seeds 5101 to 5110. The defaults of
``anticipate`` and the constants of its control were chosen on seeds 1 to 10. The first table has paired
differences with 95 % intervals. The second one has the excess that each target led to, relative to the
excess asked for. ``--seeds`` sets the number of seeds.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from psm_sim.common.summary_stats import confidence_interval
from psm_sim.simulation import Result, Scenario, run_comparison

PAGES = {
    "ucb": 100,
    "ucb:server_delay_ms=650": 100,
    "ucb:server_delay_ms=none": 100,
    "shifting": 314,
    "modern": 30,
}
"""Traces, and how many pages of each."""
FIRST_SEED = 5101
SLOWDOWNS, DELAYS_MS = (1.01, 1.02, 1.05, 1.1), (5, 20, 50)
POLICIES = (
    "psm", "lpsm", "bsd:p=1", "anticipate",
    *(f"anticipate:slowdown={slowdown:g}" for slowdown in SLOWDOWNS),
    *(f"anticipate:delay_ms={delay_ms:g}" for delay_ms in DELAYS_MS),
)  # fmt: skip


def run(trace: str, seed: int) -> tuple[Result, ...]:
    """Return the runs of all policies."""
    return run_comparison(POLICIES, Scenario(trace, pages=PAGES[trace], seed=seed)).runs


def joules(result: Result) -> float:
    """Return the energy per page."""
    return result.energy_per_page_j


def slowdown(result: Result) -> float:
    """Return the mean slowdown."""
    return result.slowdown.mean


def added_ms(result: Result) -> float:
    """Return the mean delay added to a page, in ms."""
    return float(1000 * (result.pages.page_time_s - result.pages.always_on_time_s).mean())


def difference(measure: Callable[[Result], float], runs: Sequence[tuple[Result, ...]], other: str) -> str:
    """Return the mean difference between the default of ``anticipate`` and another policy."""
    ours, theirs = POLICIES.index("anticipate"), POLICIES.index(other)
    found = confidence_interval([measure(of_seed[ours]) - measure(of_seed[theirs]) for of_seed in runs])
    return f"{found.mean:+.4f} ± {found.half_width:.4f}"


def met(measure: Callable[[Result], float], runs: Sequence[tuple[Result, ...]], policy: str) -> str:
    """Return the excess relative to the target of *policy*."""
    asked = float(policy.partition("=")[2]) - (measure is slowdown)
    number = POLICIES.index(policy)
    found = confidence_interval(
        [(measure(of_seed[number]) - (measure is slowdown)) / asked for of_seed in runs]
    )
    return f"{found.mean:.2f} ± {found.half_width:.2f}"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    seeds = range(FIRST_SEED, FIRST_SEED + parser.parse_args().seeds)
    runs = {}
    with ProcessPoolExecutor() as pool:
        for trace in PAGES:
            runs[trace] = list(pool.map(partial(run, trace), seeds))
    others = "minus psm, J | minus lpsm, J | minus bsd:p=1, J | minus bsd:p=1, slowdown"
    print(f"| trace | J per page | slowdown | {others} |")
    print("|---|---|---|---|---|---|---|")
    for trace, of_trace in runs.items():
        default = [of_seed[POLICIES.index("anticipate")] for of_seed in of_trace]
        cells = [
            f"{confidence_interval([joules(result) for result in default]).mean:.3f}",
            f"{confidence_interval([slowdown(result) for result in default]).mean:.4f}",
            *(difference(joules, of_trace, other) for other in ("psm", "lpsm", "bsd:p=1")),
            difference(slowdown, of_trace, "bsd:p=1"),
        ]
        print(f"| `{trace}` | {' | '.join(cells)} |")
    targets = [policy for policy in POLICIES if "=" in policy and policy.startswith("anticipate")]
    print(f"\n| trace | {' | '.join(policy.partition(':')[2] for policy in targets)} |")
    print("|---" * (1 + len(targets)) + "|")
    for trace, of_trace in runs.items():
        cells = [met(slowdown if "slowdown" in policy else added_ms, of_trace, policy) for policy in targets]
        print(f"| `{trace}` | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()

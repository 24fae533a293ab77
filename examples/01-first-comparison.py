"""Compare several policies on the same pages.

Each policy loads the same 50 pages, sampled from the bundled trace "ucb" with seed 1. The table has
one row per policy: the energy per page, the part of it that beacons cost, the page time, and the
slowdown. The slowdown is the page time divided by the time of the same page without power saving.

Run:               python examples/01-first-comparison.py
Renew the output:  python examples/01-first-comparison.py > examples/01-first-comparison.txt
"""

import psm_sim

POLICIES = ["always-on", "psm", "bsd:p=0.5", "lpsm"]
COLUMNS = {
    "policy": "policy",
    "energy_per_page_j": "J per page",
    "energy_by_state_per_page_j.beacons": "J for beacons",
    "page_time_s.mean": "page time s",
    "slowdown.mean": "slowdown",
    "slowdown.max": "worst slowdown",
}


def main() -> None:
    """Compare four policies and print the main columns."""
    table = psm_sim.compare(POLICIES, trace="ucb", pages=50, seed=1, baselines=False).frame
    print(table[list(COLUMNS)].rename(columns=COLUMNS).round(3).to_string(index=False))

    # simulate() runs one policy. The pages of its result are a DataFrame too.
    run = psm_sim.simulate("lpsm", pages=50, seed=1)
    worst = run.pages.sort_values("slowdown", ascending=False).iloc[0]
    print()
    print(f"lpsm's slowest page: number {worst['page']:.0f}, after {worst['think_s']:.1f} s of thinking")
    print(f"  objects {worst['objects']:.0f}, bytes {worst['bytes']:.0f}, slowdown {worst['slowdown']:.2f}")


if __name__ == "__main__":
    main()

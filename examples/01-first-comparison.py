"""First comparison: several policies over the same pages.

Each policy loads the same 50 page views, drawn from the bundled trace "ucb" with seed 1. The table
has one row per policy: the energy of a page, its share for beacons, the time of a page, and its
slowdown, which is the time divided by that of the same page without power saving.

Run it:                python examples/01-first-comparison.py
Write its output anew: python examples/01-first-comparison.py > examples/01-first-comparison.txt
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

    # One policy alone: a Result, whose pages are a table too.
    run = psm_sim.simulate("lpsm", pages=50, seed=1)
    worst = run.pages.sort_values("slowdown", ascending=False).iloc[0]
    print()
    print(f"lpsm's slowest page: number {worst['page']:.0f}, after {worst['think_s']:.1f} s of thinking")
    print(f"  objects {worst['objects']:.0f}, bytes {worst['bytes']:.0f}, slowdown {worst['slowdown']:.2f}")


if __name__ == "__main__":
    main()

"""Sweep a policy's parameter and the delay of the wired link over several seeds.

The sweep runs every combination: static PSM, and BSD with three values of p, each at two delays and with
four seeds. A row of the table is one run. This script averages the runs that differ only in the seed, and
marks the Pareto-optimal policies: no other policy is better in both energy and slowdown. With
output="sweep.sqlite", sweep() stores finished runs and does not repeat them.

Run:               python examples/06-sweep.py
Renew the output:  python examples/06-sweep.py > examples/06-sweep.txt
"""

import psm_sim

VARY = {
    "policy.bsd.p": [0.1, 0.5, 1],
    "links.wired.latency_ms": "20..140:120",
    "seed": "1..4",
}
DELAY, ENERGY, SLOWDOWN = "links.wired.latency_ms", "energy_per_page_j", "slowdown.mean"


def main() -> None:
    """Run the grid, and print one row per delay and policy."""
    runs = psm_sim.sweep(VARY, policies=["psm"], pages=20, workers=1)
    print(f"{len(runs)} runs, {(runs['state'] == 'done').sum()} done")

    means = runs.groupby([DELAY, "policy"], sort=False)[[ENERGY, SLOWDOWN]].mean().reset_index()
    for delay_ms, rows in means.groupby(DELAY):
        print(f"\nwired link of {delay_ms:.0f} ms        J per page   slowdown")
        for _, row in rows.iterrows():
            better = (rows[ENERGY] < row[ENERGY]) & (rows[SLOWDOWN] < row[SLOWDOWN])
            mark = "" if better.any() else "   Pareto-optimal"
            print(f"  {row['policy']:<24} {row[ENERGY]:10.3f} {row[SLOWDOWN]:10.3f}{mark}")


if __name__ == "__main__":
    main()

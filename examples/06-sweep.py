"""Sweep: a policy's parameter against the delay of the wired link, over several seeds.

The sweep runs every combination: static PSM, and BSD with three values of p, each at two delays and with
four seeds. A row of the table is one run; those that differ in the seed alone are averaged here, and the
policies that no other beats in both energy and slowdown are marked. Give sweep() an output, as in
output="sweep.sqlite", and what is done is kept and not run again.

Run it:                python examples/06-sweep.py
Write its output anew: python examples/06-sweep.py > examples/06-sweep.txt
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
    tasks = psm_sim.sweep(VARY, policies=["psm"], pages=20, workers=1)
    print(f"{len(tasks)} runs, {(tasks['state'] == 'done').sum()} done")

    means = tasks.groupby([DELAY, "policy"], sort=False)[[ENERGY, SLOWDOWN]].mean().reset_index()
    for delay_ms, rows in means.groupby(DELAY):
        print(f"\nwired link of {delay_ms:.0f} ms        J per page   slowdown")
        for _, row in rows.iterrows():
            beaten = (rows[ENERGY] < row[ENERGY]) & (rows[SLOWDOWN] < row[SLOWDOWN])
            mark = "" if beaten.any() else "   not beaten"
            print(f"  {row['policy']:<24} {row[ENERGY]:10.3f} {row[SLOWDOWN]:10.3f}{mark}")


if __name__ == "__main__":
    main()

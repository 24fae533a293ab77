"""Compute the offline optimum: the least energy of any policy that knows all future traffic.

The script records a run without power saving as a chain of idle periods and activities. The energy of
any schedule of polls on the chain can be computed exactly. The optimum without delay is the lower
bound for policies that delay nothing. The frontier has the least energy for each total delay. The
script compares each policy with the frontier at the same delay.

Run:               python examples/10-hindsight.py
Renew the output:  python examples/10-hindsight.py > examples/10-hindsight.txt
"""

from psm_sim.hindsight.offline_optimum import least_energy_j, offline_frontier, offline_optimum
from psm_sim.hindsight.traffic_chain import evaluate_policy
from psm_sim.hindsight.traffic_chain_recorder import record_chain
from psm_sim.network import load_topology
from psm_sim.policies import make_policy
from psm_sim.workload import load_workload

PAGES = 20


def main() -> None:
    """Print the offline optima, then each policy next to the optimum with the same delay."""
    chain = record_chain(load_workload("ucb", PAGES, seed=1).pages, load_topology("three-node"))
    print(f"{len(chain.steps)} activities in {chain.pages} pages")

    without_delay = offline_optimum(chain)
    bounded = offline_optimum(chain, price_w=0.0, p=0.5)
    hull = offline_frontier(chain)
    print(f"without delay:           {without_delay.energy_j / PAGES:.3f} J per page")
    print(f"no reply over 1.5 times: {bounded.energy_j / PAGES:.3f} J per page")
    print(f"with any delay at all:   {hull[-1].energy_j / PAGES:.3f} J per page")

    print()
    print("policy       J per page  s of delay  least J with that delay")
    for name in ("always-on", "psm", "bsd:p=0.5", "lpsm"):
        schedule = evaluate_policy(chain, make_policy(name))
        least_j = least_energy_j(hull, schedule.delay_s)
        numbers = schedule.energy_j / PAGES, schedule.delay_s / PAGES, least_j / PAGES
        print("{:<12}{:>11.3f}{:>12.3f}{:>25.3f}".format(name, *numbers))


if __name__ == "__main__":
    main()

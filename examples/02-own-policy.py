"""Own policy: a class with one method, compared with the built-in policies.

The policy doubles its doze after each beacon at which nothing was held for it, and begins again
with one beacon when there is traffic. It keeps a number from one question to the next, so it
overrides start(), which is called before each run. The contract checks find what is forgotten.

From the command line: python -m psm_sim --policy examples/02-own-policy.py:Backoff:most=4 --policy psm
Run it:                python examples/02-own-policy.py
Write its output anew: python examples/02-own-policy.py > examples/02-own-policy.txt
"""

import psm_sim
from psm_sim.policies import Policy, Poll, Rest


class Backoff(Policy):
    """Double the doze from beacon to beacon while nothing is held."""

    name = "backoff"

    def __init__(self, most: int = 16) -> None:
        self.most = most  # a parameter: the longest doze, in beacons
        self._beacons = 1

    def start(self, beacon_s: float) -> None:
        """Forget the run before."""
        super().start(beacon_s)
        self._beacons = 1

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Doze at once; poll is None after a packet of our own."""
        quiet = poll is not None and poll.buffered_frames == 0
        self._beacons = min(2 * self._beacons, self.most) if quiet else 1
        return Rest(beacons=self._beacons)


def main() -> None:
    """Check the policy, then compare two settings of it with built-in policies."""
    report = psm_sim.check(Backoff)
    print(f"checks: {sum(each.ok for each in report.findings)} of {len(report.findings)} hold")

    table = psm_sim.compare([Backoff(), Backoff(most=4), "psm", "lpsm"], pages=50, baselines=False).frame
    print(f"{'policy':<8}  {'most':>4}  {'J per page':>10}  {'slowdown':>8}")
    for row in table.to_dict("records"):
        most = row["parameters"].removeprefix("most=") if row["policy"] == "backoff" else "-"
        energy_j, slowdown = row["energy_per_page_j"], row["slowdown.mean"]
        print(f"{row['policy']:<8}  {most:>4}  {energy_j:>10.3f}  {slowdown:>8.3f}")


if __name__ == "__main__":
    main()

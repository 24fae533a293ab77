"""Write your own policy and compare it with built-in policies.

A policy is a class with the method rest(). This policy doubles its doze after each beacon without
buffered frames, and returns to a doze of one beacon when there is traffic. The policy stores a
number between two decisions, so it also overrides start(), which is called before each run. The
contract checks reject a policy that does not reset its state.

On the command line:  python -m psm_sim --policy examples/02-own-policy.py:Backoff:most=4 --policy psm
Run:                  python examples/02-own-policy.py
Renew the output:     python examples/02-own-policy.py > examples/02-own-policy.txt
"""

import psm_sim
from psm_sim.policies import Policy, Poll, Rest


class Backoff(Policy):
    """Double the doze from beacon to beacon while no frames are buffered."""

    name = "backoff"

    def __init__(self, most: int = 16) -> None:
        self.most = most  # longest doze, in beacons; arguments of the constructor are the parameters
        self._beacons = 1

    def start(self, beacon_s: float) -> None:
        """Reset the state before a run."""
        super().start(beacon_s)
        self._beacons = 1

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Doze immediately. *poll* is the observation at a beacon, or None after an uplink packet."""
        idle = poll is not None and poll.buffered_frames == 0
        self._beacons = min(2 * self._beacons, self.most) if idle else 1
        return Rest(beacons=self._beacons)


def main() -> None:
    """Check the policy, and compare two settings of it with built-in policies."""
    print(psm_sim.check(Backoff).summary)

    table = psm_sim.compare([Backoff(), Backoff(most=4), "psm", "lpsm"], pages=50, baselines=False).frame
    print(f"{'policy':<8}  {'most':>4}  {'J per page':>10}  {'slowdown':>8}")
    for row in table.to_dict("records"):
        most = row["parameters"].removeprefix("most=") if row["policy"] == "backoff" else "-"
        energy_j, slowdown = row["energy_per_page_j"], row["slowdown.mean"]
        print(f"{row['policy']:<8}  {most:>4}  {energy_j:>10.3f}  {slowdown:>8.3f}")


if __name__ == "__main__":
    main()

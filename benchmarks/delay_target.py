"""Constrained loss: does it meet its target of delay, and what does the target cost?

``python benchmarks/delay_target.py`` runs LPSM with a target of 60 to 400 ms over the pages of several seeds
and prints how long a held byte waited on average, with 95 % intervals. ``--trace`` and ``--pages`` change
the workload, ``--seeds`` the number of replications.
"""

from __future__ import annotations

import argparse

from psm_sim.common.summary_stats import confidence_interval
from psm_sim.losses import ConstrainedLoss
from psm_sim.network import Observer, build_world, load_topology, run_alone
from psm_sim.network.link import Link
from psm_sim.network.segment import Segment
from psm_sim.policies.lpsm import Lpsm
from psm_sim.workload import load_workload

TARGETS_MS = (60.0, 80.0, 100.0, 150.0, 200.0, 400.0)


class Waits(Observer):
    """Waits of held bytes at the access point: ``byte_ms`` is the sum of bytes times milliseconds."""

    def __init__(self) -> None:
        self.byte_ms = 0.0
        self.buffered_bytes = 0
        self._arrived_s: dict[Segment, float] = {}

    def frame(self, link: Link, queued_s: float, arrives_s: float, segment: Segment) -> None:
        """Note when a frame reaches the access point, and what it has waited when it is sent on."""
        if link.name == "wired down":
            self._arrived_s[segment] = arrives_s
        elif link.name == "wireless down" and queued_s > self._arrived_s[segment]:
            self.byte_ms += 1000 * segment.wire_bytes * (queued_s - self._arrived_s[segment])
            self.buffered_bytes += segment.wire_bytes


def run(target_ms: float, trace: str, pages: int, seed: int) -> tuple[float, float, float]:
    """Return the mean wait of a held byte in ms, the joules per page, and the multiplier at the end."""
    loss, waits = ConstrainedLoss(target_ms=target_ms), Waits()
    world = build_world(load_topology(), Lpsm(loss=loss), [waits])
    run_alone(world, load_workload(trace, pages, seed).pages)
    return waits.byte_ms / waits.buffered_bytes, world.usage().total_j / pages, loss.multiplier


def main() -> None:
    """Print one line for each target."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trace", default="ucb")
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=10)
    args = parser.parse_args()
    print(f"{args.pages} pages of {args.trace}, {args.seeds} seeds\n")
    heads = ("target ms", "mean wait ms", "worst seed", "J per page", "last gamma")
    print("{:>9}  {:>14}  {:>10}  {:>13}  {:>10}".format(*heads))
    for target_ms in TARGETS_MS:
        runs = [run(target_ms, args.trace, args.pages, seed) for seed in range(1, args.seeds + 1)]
        waits, joules, gammas = zip(*runs, strict=True)
        wait, energy = f"{confidence_interval(waits):.1f}", f"{confidence_interval(joules):.3f}"
        last = sum(gammas) / len(gammas)
        print(f"{target_ms:>9g}  {wait:>14}  {max(waits):>10.1f}  {energy:>13}  {last:>10.2g}")


if __name__ == "__main__":
    main()

"""Speed with the air of 802.11: pages and events per second of each policy, beside the papers' link.

    python benchmarks/mac.py [PAGES] [REPEATS]

The best of some repeats is taken, simulation proper only. ``legacy`` is a station that keeps its
power-management bit set, as ns-3's: only beacons release frames.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from psm_sim.network import build_world, load_topology, run_alone
from psm_sim.policies import make_policy
from psm_sim.workload import load_workload
from psm_sim.workload.page_view import Page

AIR = {"mac.model": "dcf", "beacon.interval_ms": 102.4}
SETTINGS = {"link": {}, "dcf": AIR, "legacy": AIR | {"access_point.release_on_uplink": False}}
POLICIES = ("always-on", "psm", "bsd:p=0.5", "lpsm")


def run_once(policy: str, settings: dict[str, object], pages: Sequence[Page]) -> tuple[float, int]:
    """Return the seconds and the events of one run.

    Parameters
    ----------
    policy, settings
        As text, and topology keys.
    pages
        Loaded one after the other.
    """
    world = build_world(load_topology("three-node", settings), make_policy(policy))
    begun = time.perf_counter()
    run_alone(world, pages)
    return time.perf_counter() - begun, world.events


def main() -> None:
    """Print one row per policy and model."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    pages = load_workload("ucb", count, 1).pages
    print(f"{'policy':12}{'model':8}{'pages/s':>10}{'events/page':>13}")
    for policy in POLICIES:
        for model, settings in SETTINGS.items():
            seconds, events = min(run_once(policy, settings, pages) for _ in range(repeats))
            print(f"{policy:12}{model:8}{count / seconds:10,.0f}{events / count:13.1f}")


if __name__ == "__main__":
    main()

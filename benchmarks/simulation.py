"""Speed of the simulation: pages and events per second, over the papers' link and on the shared channel.

    python benchmarks/simulation.py [PAGES] [REPEATS]

The best of some repeats is taken, simulation proper only: pages are drawn before, no start-up. The bare
rate is SimPy's own for a process that yields timeouts, the least that an event can cost. ``legacy`` is a
station whose data frames leave the power-management bit set, as in ns-3: only beacons release frames.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from benchmarks.simpy_baseline import run_timeouts
from psm_sim.network import build_world, load_topology, run_alone
from psm_sim.policies import make_policy
from psm_sim.workload import load_workload
from psm_sim.workload.page_view import Page

POLICIES = ("always-on", "psm", "bsd:p=0.5", "lpsm:loss=inverse-log", "lpsm:loss=inverse")
CHANNEL = {"mac.model": "dcf", "beacon.interval_ms": 102.4}
SETTINGS = {"link": {}, "dcf": CHANNEL, "legacy": CHANNEL | {"access_point.release_on_uplink": False}}


def bare_rate(events: int = 200_000) -> float:
    """Return the events per second of a process that only yields timeouts."""
    begun = time.perf_counter()
    run_timeouts(events)
    return events / (time.perf_counter() - begun)


def run_once(policy: str, settings: dict[str, object], pages: Sequence[Page]) -> tuple[float, int]:
    """Return the seconds and the events of one run with these topology keys."""
    world = build_world(load_topology("three-node", settings), make_policy(policy))
    begun = time.perf_counter()
    run_alone(world, pages)
    return time.perf_counter() - begun, world.events


def main() -> None:
    """Print one row per policy and model."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    pages = load_workload("ucb", count, 1).pages
    bare = max(bare_rate() for _ in range(repeats))
    print(f"bare SimPy: {bare:,.0f} events/s; {count} pages, best of {repeats}")
    print(f"{'policy':24}{'model':8}{'pages/s':>10}{'events/page':>13}{'events/s':>12}{'of bare':>9}")
    for policy in POLICIES:
        for model, settings in SETTINGS.items():
            seconds, events = min(run_once(policy, settings, pages) for _ in range(repeats))
            speeds = f"{count / seconds:10,.0f}{events / count:13.1f}{events / seconds:12,.0f}"
            print(f"{policy:24}{model:8}{speeds}{events / seconds / bare:9.2f}")


if __name__ == "__main__":
    main()

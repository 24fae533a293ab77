"""Timeout of a driver and early wake-ups beside the ``DefaultPowerSaveManager`` of ns-3.

    python -m benchmarks.peer_manager FOLDER

FOLDER is the package ``ns3``, as for ``peer_air_ns3.py``, of a version with that manager: ns-3.48 has it, and
3.44 has not. A dozing station receives a packet about once a second. Each row has ``PsmTimeout`` and
``ListenAdvance`` in ms, and the time awake in seconds that they add: here with the policy ``dynamic`` and
``station.guard_ms``, here with the rule of the manager, and in ns-3. With this rule, the timeout also
starts after a beacon without the station's TIM bit; with ``dynamic`` it starts only after frames.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from itertools import accumulate
from pathlib import Path
from random import Random

from benchmarks.peer_air_ns3 import build
from psm_sim.network import build_world, load_topology, run_alone
from psm_sim.policies import Policy, Rest, make_policy
from psm_sim.poll import Poll
from psm_sim.workload.messages import Message, Messages
from psm_sim.workload.page_view import Pause

SECONDS, BYTES, BEACON_MS = 100.0, 500, 102.4
CASES_MS = ((0, 0), (10, 0), (50, 0), (0, 2), (0, 5), (50, 5))
"""``PsmTimeout``, up to the default of ESP-IDF, and ``ListenAdvance``."""
_RANDOM = Random(1)  # noqa: S311
ARRIVALS_S = list(accumulate(_RANDOM.uniform(0.5, 1.5) for _ in range(90)))
"""Times at which packets reach the access point."""


class ManagerRule(Policy):
    """Policy that stays awake for a timeout after each beacon and each frame, as the manager of ns-3."""

    def __init__(self, timeout_ms: float) -> None:
        self._rest = Rest(timeout_ms / 1000)

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Wait, then doze until the next beacon."""
        return self._rest


def simulate(policy: Policy, guard_ms: float) -> float:
    """Return the time awake here, in seconds."""
    topology = load_topology("three-node", {"beacon.interval_ms": BEACON_MS, "station.guard_ms": guard_ms})
    world = build_world(topology, policy)
    packets = Messages([Message(at_s, BYTES) for at_s in ARRIVALS_S], at_access_point=True)
    run_alone(world, [Pause(SECONDS)], packets)
    return world.usage().awake_s


def main(folder: str) -> None:
    """Print one row for each case."""
    if not Path(folder, "include/ns3/default-power-save-manager.h").exists():
        sys.exit(f"ns-3 in {folder} has no DefaultPowerSaveManager; expected ns-3.48 or later.")
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        program = Path(temporary) / "peer_manager_ns3"
        build(Path(folder), program, "peer_manager_ns3.cc")
        for timeout_ms, advance_ms in CASES_MS:
            numbers = (timeout_ms, advance_ms, SECONDS, BYTES, *ARRIVALS_S)
            completed = subprocess.run([program, *map(str, numbers)], check=True, capture_output=True)
            policies = make_policy(f"dynamic:timeout_ms={timeout_ms}"), ManagerRule(timeout_ms)
            rows.append([*(simulate(policy, advance_ms) for policy in policies), float(completed.stdout)])
    print("PsmTimeout, ListenAdvance, dynamic, rule, ns-3")
    for case, row in zip(CASES_MS, rows, strict=True):
        print(*case, *(f"{each - first:.3f}" for each, first in zip(row, rows[0], strict=True)), sep=", ")


if __name__ == "__main__":
    main(sys.argv[1])

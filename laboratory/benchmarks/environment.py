"""Time of stepping the environment, relative to a run of the same policy as a class.

The first policy is built in. The others are classes of a user, which run inside a guard. Both ways load the
same pages, and neither time includes the run without power saving. The process is pinned to one core, the
two take turns, and the median of the ratios is printed.

    python laboratory/benchmarks/environment.py [PAGES] [TURNS]
"""

from __future__ import annotations

import gc
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, ClassVar

from psm_lab.policies.trained import Trained

from psm_sim.environment import PowerSaveEnv
from psm_sim.policies import Policy, Poll, Rest
from psm_sim.policies.helpers.driver_view import AWAKE_MS, ObservingPolicy
from psm_sim.simulation import Scenario
from psm_sim.simulation.run import prepare, run_workload

SEED = 1


def psm(observation: Any) -> tuple[int, int]:
    """Return the action of static PSM, which needs no observation."""
    return 0, 0


def back_off(observation: Any) -> tuple[int, int]:
    """Return the action of a policy that backs off while no reply is awaited."""
    if observation[4]:
        return (6, 0) if observation[1] < 0.05 else (0, 0)
    return 0, min(11, int(2 * observation[0]))


class BackOff(ObservingPolicy):
    """Policy that decides as :func:`back_off` does."""

    name: ClassVar[str] = "back-off"

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Return the rest of the action."""
        awake, beacons = back_off(self.observe(now_s, poll))
        return Rest(AWAKE_MS[awake] / 1000, beacons + 1)


class EveryBeacon(Policy):
    """Static PSM that is asked at every beacon, and observes nothing."""

    name: ClassVar[str] = "every-beacon"

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Return the shortest doze."""
        return Rest()


def trained_rules(scenario: Scenario) -> Callable[[Any], tuple[int, int]]:
    """Return the action of the policy ``trained``."""
    policy = prepare(Trained, scenario.resolve_topology()).policy
    assert isinstance(policy, Trained)  # noqa: S101 (prepare creates the class)
    rules = policy.rules
    return lambda observation: rules(observation.tolist())


def ratio(scenario: Scenario, policy: type[Policy], act: Callable[[Any], tuple[int, int]], turns: int) -> str:
    """Return the ratio of the times, and both times, as text."""
    topology, workload = scenario.resolve_topology(), scenario.workload()
    env, times_s = PowerSaveEnv(scenario), []
    for _ in range(turns + 1):
        gc.collect()
        began_s = time.process_time()
        run_workload(policy, topology, workload)
        run_s = time.process_time() - began_s
        observation, _ = env.reset(seed=SEED)
        terminated, steps = False, 0
        gc.collect()
        began_s = time.process_time()
        while not terminated:
            observation, _, terminated, _, _ = env.step(act(observation))
            steps += 1
        times_s.append((run_s, time.process_time() - began_s))
    del times_s[0]  # the first turn imports and loads
    run_s, stepped_s = (statistics.median(each) for each in zip(*times_s, strict=True))
    paired = statistics.median(stepped_s / run_s for run_s, stepped_s in times_s)
    return (
        f"{policy.name}: {paired:.2f} ({1e3 * stepped_s / scenario.pages:.3f} and "
        f"{1e3 * run_s / scenario.pages:.3f} ms per page, {steps / scenario.pages:.0f} steps per page)"
    )


def main() -> None:
    """Print the ratio for each policy."""
    pages, turns = (int(text) for text in [*sys.argv[1:], "200", "15"][:2])
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    scenario = Scenario(pages=pages, seed=SEED)
    print(ratio(scenario, Trained, trained_rules(scenario), turns))
    print(ratio(scenario, BackOff, back_off, turns))
    print(ratio(scenario, EveryBeacon, psm, turns))


if __name__ == "__main__":
    main()

"""Worlds before and after their runs."""

from __future__ import annotations

from dataclasses import replace

from psm_sim.network import World, build_world, load_topology, run_alone
from psm_sim.policies import Policy, Rest, make_policy
from psm_sim.workload.messages import NO_MESSAGES


class Sleeper(Policy):
    """Doze almost forever."""

    name = "sleeper"

    def rest(self, now_s, since_uplink_s, poll):
        return Rest(beacons=10**9)


def make_world(policy="psm", observers=(), topology="three-node", seed=1, **settings) -> World:
    """Return a world before its run. The keys of *settings* have dots, or two underscores for a dot."""
    instance = make_policy(policy) if isinstance(policy, str) else policy
    dotted = {key.replace("__", "."): value for key, value in settings.items()}
    return build_world(replace(load_topology(topology, dotted), seed=seed), instance, observers)


def run_world(pages, policy="psm", observers=(), messages=NO_MESSAGES, **more) -> World:
    """Return a world that has loaded the pages; *more* is for :func:`make_world`."""
    world = make_world(policy, observers, **more)
    run_alone(world, pages, messages)
    return world


def page_times_s(world: World) -> list[float]:
    """Return the time of each page, in seconds."""
    return [visit.ended_s - visit.started_s for visit, _ in world.visits]

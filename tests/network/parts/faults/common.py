"""Worlds with faults, for the tests in this folder."""

from __future__ import annotations

from dataclasses import replace

from psm_sim.network import Observer, build_world, load_topology, run_alone
from psm_sim.policies import make_policy
from psm_sim.workload.page_view import Page

PAGE = Page(1.0, 20_000, (5_000, 5_000), (300,) * 3, (0.05,) * 3)


def world_with(settings, policy="psm", observers=(), seed=1):
    """Return a world before its run."""
    instance = make_policy(policy) if isinstance(policy, str) else policy
    return build_world(replace(load_topology("three-node", settings), seed=seed), instance, observers)


def loaded(settings, pages=(PAGE,) * 5, policy="psm", observers=()):
    """Return a world that has loaded the pages."""
    world = world_with(settings, policy, observers)
    run_alone(world, pages)
    return world


class Frames(Observer):
    """Record frames queued and lost, as (name of the link, time in seconds, segment)."""

    def __init__(self):
        self.queued, self.gone = [], []

    def frame(self, link, queued_s, arrives_s, segment):
        self.queued.append((link.name, arrives_s, segment))

    def lost(self, link, time_s, segment):
        self.gone.append((link.name, time_s, segment))

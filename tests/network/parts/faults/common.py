"""Worlds with faults, for the tests in this folder."""

from __future__ import annotations

from psm_sim.network import Observer
from psm_sim.workload.page_view import Page
from tests.network.worlds import run_world

PAGE = Page(1.0, 20_000, (5_000, 5_000), (300,) * 3, (0.05,) * 3)


def loaded(settings, pages=(PAGE,) * 5, policy="psm", observers=()):
    """Return a world that has loaded the pages."""
    return run_world(pages, policy, observers, **settings)


class Frames(Observer):
    """Record frames queued and lost, as (name of the link, time in seconds, segment)."""

    def __init__(self):
        self.queued, self.gone = [], []

    def frame(self, link, queued_s, arrives_s, segment):
        self.queued.append((link.name, arrives_s, segment))

    def lost(self, link, time_s, segment):
        self.gone.append((link.name, time_s, segment))

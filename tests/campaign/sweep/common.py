"""What the tests of sweeps share."""

from __future__ import annotations

from pathlib import Path

from psm_sim.campaign.sweep.grid import Grid, GridAxis
from psm_sim.campaign.sweep.run import Resources, run_sweep_tasks
from psm_sim.campaign.sweep.store import Store, StoredRow

HEARS = """
from psm_sim.policies import Policy, Rest


class Hears(Policy):
    name = "hears"

    def __init__(self, n=1):
        self.n = n

    def rest(self, now_s, since_uplink_s, poll):
        {before}
        return Rest(0.0, {beacons})
"""
"""A policy of a user: its class's file, with a line that may spoil it."""


def grid(*vary: str, **words) -> Grid:
    """Return a grid of axes as on the command line, of five pages each."""
    return Grid(axes=tuple(GridAxis.parse(text) for text in vary), **{"pages": 5, **words})


def run(path: Path, what: Grid, workers: int = 1, **words) -> list[StoredRow]:
    """Run a grid on a store."""
    with Store(path) as store:
        return run_sweep_tasks(what.tasks(), store, Resources(workers, **words))


def write_policy(path: Path, beacons: str = "self.n", before: str = "pass") -> None:
    """Write :data:`HEARS` to a file."""
    path.write_text(HEARS.format(beacons=beacons, before=before))

"""Helpers of the tests of sweeps."""

from __future__ import annotations

from pathlib import Path

from psm_sim.campaign.sweep.grid import Grid, GridAxis, fixed_axes
from psm_sim.campaign.sweep.run import run_sweep_tasks
from psm_sim.campaign.sweep.table import TaskRow, open_table

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
"""Text of the file of a user-defined policy; ``before`` is a line that may fail."""


FIXED = ("trace", "topology", "pages", "seed", "loss")


def grid(*vary: str, **words) -> Grid:
    """Return a grid of axes as on the command line, by default of five pages."""
    fixed = {name: words.pop(name) for name in FIXED if name in words}
    if not any(text.startswith("pages=") for text in vary):
        fixed.setdefault("pages", 5)
    axes = fixed_axes(fixed, words.pop("settings", {}))
    return Grid([*axes, *map(GridAxis.parse, vary)], **words)


def run(path: Path | None, grid_: Grid, workers: int | None = 1, cluster: str = "") -> list[TaskRow]:
    """Run a grid on a table."""
    with open_table(path) as table:
        return run_sweep_tasks(grid_.tasks(), table, workers, cluster=cluster)


def write_policy(path: Path, beacons: str = "self.n", before: str = "pass") -> None:
    """Write :data:`HEARS` to a file."""
    path.write_text(HEARS.format(beacons=beacons, before=before))

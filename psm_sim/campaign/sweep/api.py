"""Python interface of sweeps, ``psm_sim.sweep`` and ``psm_sim.load_sweep``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psm_sim.campaign.sweep.grid import Grid, GridAxis, fixed_axes
from psm_sim.campaign.sweep.results import table_frame
from psm_sim.campaign.sweep.run import run_sweep_tasks
from psm_sim.campaign.sweep.table import open_table
from psm_sim.common.errors import InputError
from psm_sim.simulation.preset import Preset, load_preset

if TYPE_CHECKING:
    import pandas as pd


def sweep(
    vary: Mapping[str, str | float | Iterable[Any]],
    policies: Sequence[str] = (),
    output: str | Path | None = None,
    workers: int | None = None,
    cluster: str = "",
    preset: str | Path | None = None,
    *,
    trace: str | None = None,
    topology: str | None = None,
    pages: int | None = None,
    seed: int | None = None,
    loss: str | None = None,
    settings: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """Run every combination of a grid and return one row per task.

    Parameters
    ----------
    vary : mapping
        Values of each varied key, e.g. ``{"policy.bsd.p": [0.1, 0.5], "seed": "1..20"}``. See
        :class:`~psm_sim.campaign.sweep.grid.GridAxis` for the keys.
    policies : sequence of str
        Policy specs. Policies that are named only in *vary* are appended. The default is lpsm.
    output : str, Path or None
        SQLite file that keeps the results. Tasks whose results it contains do not run again. None discards
        the results after the call.
    workers : int or None
        Number of worker processes, at least 1. None starts one process per core. The results do not depend on
        this number.
    cluster : str
        Address of a Dask scheduler whose workers run the tasks. If empty, local processes run them.
    preset : str, Path or None
        Name or file of a preset with default values.
    trace, topology, pages, seed, loss, settings
        Values that do not vary; see :func:`psm_sim.simulate`. Traces and topologies are names or files.

    Returns
    -------
    DataFrame
        One column per parameter, such as ``policy.bsd.p``, and per measure, such as ``slowdown.mean``.
        The column ``error`` contains the error message of a failed task.

    Raises
    ------
    InputError
        If an argument is invalid (checked before the first task runs), or if the file cannot be written.
    """
    for name, value in (("vary", vary), ("settings", settings or {})):
        if not isinstance(value, Mapping):
            raise InputError(f"{name} must be a dictionary of keys and values, got {value!r}.")
    fixed = {"trace": trace, "topology": topology, "pages": pages, "seed": seed, "loss": loss}
    axes = [*fixed_axes(fixed, settings or {}), *(GridAxis.of(*axis) for axis in vary.items())]
    grid = Grid(axes, policies, Preset() if preset is None else load_preset(str(preset)))
    tasks = grid.tasks()
    with open_table(None if output is None else Path(output)) as table:
        return table_frame(run_sweep_tasks(tasks, table, workers, cluster=cluster))


def load_sweep(file: str | Path) -> pd.DataFrame:
    """Return the tasks of a sweep's table that this psm_sim version ran, sorted by policy and scenario.

    See :func:`sweep` for the columns.

    Raises
    ------
    InputError
        If the file does not exist or cannot be read.
    """
    with open_table(Path(file), new=False) as table:
        return table_frame(table.current_rows())

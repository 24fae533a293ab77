"""Sweeps from Python: ``psm_sim.sweep`` runs a grid, ``psm_sim.load_sweep`` reads a store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from psm_sim.campaign.sweep.grid import Grid
from psm_sim.campaign.sweep.grid_axis import GridAxis
from psm_sim.campaign.sweep.run import Resources, run_grid
from psm_sim.campaign.sweep.store import Store
from psm_sim.campaign.sweep.store_table import table_frame
from psm_sim.common.errors import InputError
from psm_sim.simulation.preset import Preset, load_preset
from psm_sim.version import __version__

if TYPE_CHECKING:
    import pandas as pd


def sweep(
    vary: Mapping[str, str | float | Iterable[Any]],
    policies: Sequence[str] = (),
    store: str | Path | None = None,
    workers: int | None = None,
    cluster: str = "",
    preset: str | None = None,
    retry: bool = False,
    **scenario: Any,
) -> pd.DataFrame:
    """Run every combination of a grid, and return one row per task.

    Parameters
    ----------
    vary
        The values of each key, as ``{"policy.bsd.p": [0.1, 0.5], "seed": "1..20"}``; the keys are those of
        :class:`~psm_sim.campaign.sweep.grid_axis.GridAxis`.
    policies
        Texts of policies; those that the keys name join them, and without any it is lpsm.
    store
        The SQLite file in which tasks are kept, and from which they are not run again; None: nothing is
        kept.
    workers
        Processes on this machine, at least 1; None: one on each core. The numbers do not depend on it.
    cluster
        The address of a Dask scheduler, whose workers are used instead; empty for none.
    preset
        The name of a configuration that gives defaults; None for none.
    retry
        Run tasks of the store that have failed again.
    scenario
        ``trace``, ``topology``, ``pages``, ``seed``, ``loss`` and ``settings``, for what does not vary; as
        for :func:`psm_sim.simulate`, but as texts.

    Returns
    -------
    DataFrame
        One column per parameter, such as ``policy.bsd.p``, and per measure, such as ``slowdown.mean``; a
        task that has failed has its sentence in ``error``.

    Raises
    ------
    InputError
        If anything cannot be used, before the first task is run; or if the store cannot be written.
    """
    if not isinstance(vary, Mapping):
        raise InputError(f"vary is {vary!r}; expected a dictionary, as {{'policy.bsd.p': [0.1, 0.5]}}.")
    axes = tuple(GridAxis.of(key, values) for key, values in vary.items())
    grid = Grid(axes, policies, preset=load_preset(preset) if preset else Preset(), **scenario)
    means = Resources(workers, cluster, retry)
    if store is not None:
        return _run(grid, Path(store), means)
    with TemporaryDirectory(prefix="psm_sim-") as folder:
        return _run(grid, Path(folder) / "sweep.sqlite", means)


def load_sweep(store: str | Path, version: str = __version__) -> pd.DataFrame:
    """Return the tasks of a store that one version of psm_sim has run, columns as of :func:`sweep`.

    Raises
    ------
    InputError
        If there is no such store.
    """
    with Store(Path(store), new=False) as opened:
        return table_frame(opened.rows(version))


def _run(grid: Grid, path: Path, means: Resources) -> pd.DataFrame:
    with Store(path) as store:
        return table_frame(run_grid(grid, store, means, "psm_sim.sweep()"))

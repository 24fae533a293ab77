"""``psm_sim sweep``: a grid of runs whose results are stored in a database."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from psm_sim.commands.shared_options import (
    add_format,
    add_policies_and_pages,
    add_scenario,
    add_workers,
    execution_group,
    find_preset,
    is_given,
    parse_settings,
    path_option,
)
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError

if TYPE_CHECKING:
    from psm_sim.campaign.sweep.grid import Grid
    from psm_sim.campaign.sweep.store import StoredRow

HELP = """\
Run every combination of policies, parameters and seeds of a grid, on all cores or on
a cluster. The result of each task is stored in a database as soon as it is available.
Stored tasks are skipped, so that an interrupted sweep can be resumed."""

EPILOG = """\
actions on a database (each has its own --help):
  sweep status FILE    count the tasks, with rate and time left of a running sweep
  sweep best FILE      list the Pareto-optimal policies in energy and slowdown
  sweep plot FILE      plot one column against another
  sweep page FILE      write an interactive HTML page
  sweep export FILE    export as CSV, JSON or Parquet

KEY is policy, policy.NAME.PARAMETER, loss, loss.PARAMETER, trace, trace.PARAMETER,
topology, pages, seed, or a topology key as in --set. VALUES is a,b,c or FROM..TO or
FROM..TO:STEP. Without --policy, the policies are those in the keys.

examples:
  psm_sim sweep --vary policy.bsd.p=0.1,0.2,0.5,1 --vary seed=1..20
  psm_sim sweep --policy psm --policy lpsm --vary links.wired.latency_ms=10..300:10
  psm_sim sweep grid.toml --workers 8
  psm_sim sweep grid.toml --cluster tcp://10.0.0.1:8786
  psm_sim sweep best grid.sqlite

Standard output lists the best policies, or all tasks with --format csv or json. It does
not depend on the number of workers. Standard error shows the progress, as a line every
10 s if it is not a terminal. Exit status: 0; 1 if a task failed, with the reason on
standard error; 2 for an error in the input; 130 if interrupted."""


_GRID_OPTIONS = frozenset(
    f"--{name}"
    for name in [
        "policy",
        "trace",
        "topology",
        "profile",
        "battery",
        "preset",
        "loss",
        "pages",
        "seed",
        "set",
        "vary",
    ]
)

_SCALARS = ("topology", "pages", "seed")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the grid, the database and the workers."""
    actions = "status|best|plot|page|export"
    parser.usage = f"%(prog)s [GRID.toml] [options]\n       %(prog)s {actions} FILE [options]"
    parser.add_argument(
        "grid", nargs="?", metavar="GRID.toml", help="grid file, instead of the options of a grid"
    )
    parser.add_argument(
        "--vary",
        action="append",
        default=[],
        metavar="KEY=VALUES",
        help="vary a key, e.g. policy.bsd.p=0.1,0.5 or seed=1..20; repeatable",
    )
    add_policies_and_pages(parser)
    add_scenario(parser)
    parser.add_argument(
        "--store",
        metavar="FILE.sqlite",
        help="result database (default: GRID.sqlite or sweep.sqlite)",
    )
    add_format(parser)
    _add_execution(parser)


def _add_execution(parser: argparse.ArgumentParser) -> None:
    add_workers(parser, "worker processes; results do not depend on it (default: all cores)")
    group = execution_group(parser)
    group.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="run on the workers of a Dask scheduler, e.g. tcp://HOST:8786",
    )
    group.add_argument("--retry", action="store_true", help="run failed tasks again")


def run(arguments: argparse.Namespace) -> int:
    """Run the tasks that the store lacks and report all; return 1 if a task failed."""
    path = _store_path(arguments)
    return _report(_rows(arguments, path), arguments.format, path)


def _rows(arguments: argparse.Namespace, path: Path) -> list[StoredRow]:
    from psm_sim.campaign.sweep.run import Resources, run_sweep_tasks
    from psm_sim.campaign.sweep.store import Store
    from psm_sim.reporting.terminal.progress import progress

    grid = _build_grid(arguments)
    if not (grid.axes or grid.policies):
        raise InputError("A sweep without policies and varied keys is a single run; add --vary KEY=VALUES.")
    grid.tasks()  # validated first, so that an invalid grid creates no store
    if arguments.cluster == "":
        raise InputError("--cluster must be the address of a Dask scheduler, got ''.")
    resources = Resources(arguments.workers, arguments.cluster or "", arguments.retry)
    command = shlex.join(["python", "-m", "psm_sim", *arguments.argv])
    with Store(path) as store, redirect_stdout(sys.stderr), progress("simulating", "tasks") as report:
        return run_sweep_tasks(grid.tasks(), store, resources, command, report)


def _build_grid(arguments: argparse.Namespace) -> Grid:
    """Return the grid of the options, or of the grid file."""
    from psm_sim.campaign.sweep.grid import Grid, GridAxis, read_grid
    from psm_sim.network.chip_profiles import load_profile

    if arguments.grid is not None:
        return read_grid(_grid_path(arguments))
    return Grid(
        axes=tuple(map(GridAxis.parse, arguments.vary)),
        policies=tuple(arguments.policy or ()),
        trace=str(Spec.parse(arguments.trace, "trace")) if is_given("--trace", arguments.argv) else None,
        loss=arguments.loss,
        battery=arguments.battery,
        settings={
            **(load_profile(arguments.profile).values if arguments.profile else {}),
            **parse_settings(arguments.set),
        },
        preset=find_preset(arguments.preset),
        **{key: getattr(arguments, key) for key in _SCALARS if is_given(f"--{key}", arguments.argv)},
    )


def _grid_path(arguments: argparse.Namespace) -> Path:
    """Return the path of the grid file; reject options that the file must contain."""
    for argument in arguments.argv:
        if argument.partition("=")[0] in _GRID_OPTIONS:
            raise InputError(
                f"{argument} conflicts with the grid file {arguments.grid!r}; write it into the grid file."
            )
    return Path(arguments.grid)


def _store_path(arguments: argparse.Namespace) -> Path:
    if arguments.store is not None:
        return path_option("--store", arguments.store)
    return Path(f"{Path(arguments.grid).stem if arguments.grid else 'sweep'}.sqlite")


def _report(rows: Sequence[StoredRow], form: str, path: Path) -> int:
    from psm_sim.commands.stderr_messages import print_message
    from psm_sim.reporting.terminal.sweep import failures

    show(rows, form)
    lines = failures(rows)
    for line in [*lines, f"{len(rows)} {'task' if len(rows) == 1 else 'tasks'} in {path}."]:
        print_message(line, "")
    return 1 if lines else 0


def show(rows: Sequence[StoredRow], form: str) -> None:
    """Print the Pareto set as a table, or all rows as CSV or JSON, according to *form*."""
    if form == "table":
        from psm_sim.campaign.sweep.results import pareto_front
        from psm_sim.reporting.terminal.sweep import write_best

        write_best(pareto_front(rows), sys.stdout)
        return
    from psm_sim.reporting.files import sweep_table

    {"csv": sweep_table.write_csv, "json": sweep_table.write_json}[form](rows, sys.stdout)

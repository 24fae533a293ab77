"""``psm_sim sweep``: a grid of runs, kept in a store as they finish."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from psm_sim.commands.arguments import (
    add_format,
    path_option,
    whole_number,
)
from psm_sim.commands.run_options import add_policies_and_pages, add_scenario
from psm_sim.commands.sweep_grid import build_grid

if TYPE_CHECKING:
    from psm_sim.campaign.sweep.eta import EtaEstimator
    from psm_sim.campaign.sweep.outcome import StoredRow
    from psm_sim.campaign.sweep.scheduler import ProgressCallback

HELP = """\
Run every combination of policies, parameters and seeds of a grid, on all cores or on
a cluster. Each task is kept in a store as soon as it is done; what is there already
is not run again, so an interrupted sweep goes on where it was."""

EPILOG = """\
with a store (each has its own --help):
  sweep status FILE    count its tasks, and list those that failed
  sweep best FILE      the policies that no other beats in both energy and slowdown
  sweep plot FILE      draw one column against another
  sweep page FILE      write it as one HTML page to explore
  sweep export FILE    write it as CSV, JSON or Parquet

KEY is policy, policy.NAME.PARAMETER, loss, loss.PARAMETER, trace, trace.PARAMETER,
topology, pages, seed, or a topology key as for --set; VALUES is a,b,c or FROM..TO or
FROM..TO:STEP. Policies that are not given are those that the keys name.

examples:
  psm_sim sweep --vary policy.bsd.p=0.1,0.2,0.5,1 --vary seed=1..20
  psm_sim sweep --policy psm --policy lpsm --vary links.wired.latency_ms=10..300:10
  psm_sim sweep grid.toml --workers 8
  psm_sim sweep grid.toml --cluster tcp://10.0.0.1:8786
  psm_sim sweep best grid.sqlite

On standard output stand the best policies, or all tasks with --format csv or json: the
same for any number of workers. Exit status: 0; 1 if a task has failed, told on
standard error; 2 for something you can mend; 130 if interrupted."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options: the grid, where it is kept, and where it is run."""
    actions = "status|best|plot|page|export"
    parser.usage = f"%(prog)s [GRID.toml] [options]\n       %(prog)s {actions} FILE [options]"
    parser.add_argument(
        "grid", nargs="?", metavar="GRID.toml", help="a grid as a file, instead of the options"
    )
    parser.add_argument(
        "--vary",
        action="append",
        default=[],
        metavar="KEY=VALUES",
        help="vary a key, e.g. policy.bsd.p=0.1,0.5 or seed=1..20; may be repeated",
    )
    add_policies_and_pages(parser)
    add_scenario(parser)
    parser.add_argument(
        "--store",
        metavar="FILE.sqlite",
        help="where the tasks are kept (default: GRID.sqlite, or sweep.sqlite)",
    )
    _add_means(parser)
    add_format(parser)


def _add_means(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workers",
        type=whole_number(1, 1024),
        metavar="N",
        help="processes; the numbers do not depend on it (default: one on each core)",
    )
    parser.add_argument(
        "--cluster",
        default="",
        metavar="ADDRESS",
        help="run on the workers of a Dask scheduler, as tcp://HOST:8786",
    )
    parser.add_argument("--retry", action="store_true", help="run tasks that have failed again")


def run(arguments: argparse.Namespace) -> int:
    """Run what the store lacks, and report it; 1 if a task has failed."""
    path = _store(arguments)
    is_new = not (arguments.cluster or os.access(path, os.F_OK))
    if is_new and arguments.workers != 1:
        from psm_sim.campaign.sweep.worker import preload_forkserver

        preload_forkserver()
    return _report(_rows(arguments, path), arguments.format, path)


def _rows(arguments: argparse.Namespace, path: Path) -> list[StoredRow]:
    from psm_sim.campaign.sweep.run import Resources, run_grid
    from psm_sim.campaign.sweep.store import Store
    from psm_sim.reporting.terminal.sweep_progress import sweep_progress_on
    from psm_sim.user_code import redirect_stdout_to_stderr

    grid = build_grid(arguments)
    grid.tasks()  # before a store is made: what cannot be run leaves nothing behind
    means = Resources(arguments.workers, arguments.cluster, arguments.retry)
    command = shlex.join(["python", "-m", "psm_sim", *arguments.words])
    with Store(path) as store, sweep_progress_on(sys.stderr) as watch, redirect_stdout_to_stderr():
        shown_soon = arguments.workers != 1 and arguments.format == "table"
        return run_grid(grid, store, means, command, _ready_to_show(watch) if shown_soon else watch)


def _ready_to_show(outputs: ProgressCallback) -> ProgressCallback:
    """Return *outputs*, and import what the table needs as soon as workers are at work.

    An interrupt waits for that: some libraries import others by ``exec``, and Python takes one that comes
    there for one that nobody has caught.
    """
    from psm_sim.parallel import ignore_sigint
    from psm_sim.reporting.terminal.sweep import make_ready

    to_do = [make_ready]

    def watching(remaining: EtaEstimator) -> None:
        while to_do:
            with ignore_sigint():
                to_do.pop()()
        outputs(remaining)

    return watching


def _store(arguments: argparse.Namespace) -> Path:
    if arguments.store is not None:
        return path_option("--store", arguments.store)
    return Path(f"{Path(arguments.grid).stem if arguments.grid else 'sweep'}.sqlite")


def _report(rows: Sequence[StoredRow], form: str, path: Path) -> int:
    from psm_sim.commands.messages import print_message
    from psm_sim.reporting.terminal.sweep import failures

    show(rows, form)
    lines = failures(rows)
    for line in [*lines, f"{len(rows)} tasks in {path}."]:
        print_message(line, "")
    return 1 if lines else 0


def show(rows: Sequence[StoredRow], form: str) -> None:
    """Print the Pareto set as a table, or all rows as CSV or JSON; *form* says which."""
    if form == "table":
        from psm_sim.campaign.sweep.pareto import pareto_front
        from psm_sim.reporting.terminal.sweep import write_best

        write_best(pareto_front(rows), sys.stdout)
        return
    from psm_sim.reporting.files import sweep_table

    {"csv": sweep_table.write_csv, "json": sweep_table.write_json}[form](rows, sys.stdout)

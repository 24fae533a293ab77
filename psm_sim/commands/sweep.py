"""``psm_sim sweep``: a grid of runs whose results are appended to a table."""

from __future__ import annotations

import argparse
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psm_sim.commands.shared_options import (
    add_format,
    add_policies_and_pages,
    add_scenario,
    add_workers,
    execution_group,
    is_given,
    output_option,
    parse_settings,
)
from psm_sim.common.errors import InputError
from psm_sim.common.formatting import pluralize

if TYPE_CHECKING:
    from psm_sim.campaign.sweep.grid import Grid
    from psm_sim.campaign.sweep.table import SweepTable, TaskRow

HELP = """\
Run every combination of policies, parameters and seeds of a grid, on all cores or on
a cluster. The result of each task is appended to a table as soon as it is available.
Tasks that are in the table do not run again, so that an interrupted sweep can be resumed."""

EPILOG = """\
'psm_sim sweep export FILE' writes a table as CSV or Parquet.

KEY is policy.NAME.PARAMETER, loss, trace, trace.PARAMETER, topology, pages, seed, or a
topology key as in --set. VALUES is a,b,c or FROM..TO or FROM..TO:STEP. Without --policy,
the policies are those in the keys.

examples:
  psm_sim sweep --vary policy.bsd.p=0.1,0.2,0.5,1 --vary seed=1..20
  psm_sim sweep --policy psm --policy lpsm --vary links.wired.latency_ms=10..300:10
  psm_sim sweep grid.toml --workers 8
  psm_sim sweep grid.toml --cluster tcp://10.0.0.1:8786
  psm_sim sweep export grid.sqlite --to grid.csv

Standard output lists the best policies, and FILE.sqlite.svg shows all of them. With
--format csv or json, standard output lists all tasks. It does not depend on the number
of workers. Standard error shows the progress, as a line every 10 s if it is not a
terminal. Exit status: 0; 1 if a task failed, with the reason on standard error; 2 for
an error in the input; 130 if interrupted."""

_FIXED = ("trace", "topology", "pages", "seed")
_GRID_OPTIONS = frozenset(
    f"--{name}" for name in (*_FIXED, "policy", "profile", "battery", "preset", "loss", "set", "vary")
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the grid and of the workers."""
    parser.usage = "%(prog)s [GRID.toml] [options]\n       %(prog)s export FILE [options]"
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
        "--output",
        metavar="FILE.sqlite",
        help="table of the results (default: GRID.sqlite or sweep.sqlite)",
    )
    parser.add_argument("--store", dest="output", help=argparse.SUPPRESS)
    add_format(parser)
    add_workers(parser, "worker processes; results do not depend on it (default: all cores)")
    execution_group(parser).add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="run on the workers of a Dask scheduler, e.g. tcp://HOST:8786",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the tasks that have no result in the table, and print all results; return 1 if a task failed."""
    from psm_sim.campaign.sweep.run import run_sweep_tasks
    from psm_sim.campaign.sweep.table import open_table
    from psm_sim.commands.stderr_messages import print_message
    from psm_sim.reporting.terminal.progress import progress
    from psm_sim.reporting.terminal.sweep import failures

    grid, path = _build_grid(arguments), _table_path(arguments)
    if not (arguments.grid or arguments.vary or arguments.policy):
        raise InputError("A sweep without policies and varied keys is a single run; add --vary KEY=VALUES.")
    tasks = grid.tasks()
    cluster = arguments.cluster or ""
    with open_table(path) as table:
        with redirect_stdout(sys.stderr), progress("simulating", "tasks") as report:
            rows = run_sweep_tasks(tasks, table, arguments.workers, report, cluster=cluster)
        has_figure = arguments.format == "table" and any(not row.error for row in rows)
        remarks = _draw(rows, table, Path(f"{path}.svg")) if has_figure else []
    _show(rows, arguments.format)
    failed = failures(rows)
    remarks += [f"{path} was damaged: {table.damage}. It is now {path}.damaged."] if table.damage else []
    for line in [*failed, *remarks, f"{pluralize(len(rows), 'task')} in {path}."]:
        print_message(line, "")
    return 1 if failed else 0


def _build_grid(arguments: argparse.Namespace) -> Grid:
    """Return the grid of the grid file or of the options; raise an error if there are both."""
    from psm_sim.campaign.sweep.grid import Grid, GridAxis, fixed_axes, read_grid
    from psm_sim.network.chip_profiles import load_profile
    from psm_sim.simulation.preset import load_preset, present_network

    if arguments.grid is not None:
        for argument in arguments.argv:
            if argument.partition("=")[0] in _GRID_OPTIONS:
                raise InputError(
                    f"{argument} conflicts with the grid file {arguments.grid!r}; write it into that file."
                )
        return read_grid(Path(arguments.grid))
    fixed: dict[str, Any] = {"loss": arguments.loss}
    fixed |= {key: getattr(arguments, key) for key in _FIXED if is_given(f"--{key}", arguments.argv)}
    chip = load_profile(arguments.profile).values if arguments.profile else {}
    varied = [GridAxis.parse(text) for text in arguments.vary]
    settings, preset = parse_settings(arguments.set), load_preset(arguments.preset)
    named = {*fixed, *preset.settings, *(axis.key for axis in varied)}
    network = {} if "topology" in named else present_network(arguments.profile, settings)
    own = {key: value for key, value in network.items() if key not in named}
    axes = fixed_axes(fixed, {**own, **chip, **settings}) + varied
    return Grid(axes, arguments.policy or (), preset, arguments.battery)


def _table_path(arguments: argparse.Namespace) -> Path:
    if arguments.output is not None:
        return output_option("--output", arguments.output, ".sqlite")
    return Path(f"{Path(arguments.grid).stem if arguments.grid else 'sweep'}.sqlite")


def _show(rows: list[TaskRow], form: str) -> None:
    """Print the Pareto set as a table, or all rows as CSV or JSON."""
    from psm_sim.campaign.sweep.results import pareto_front, table_rows

    if form == "table":
        from psm_sim.reporting.terminal.sweep import write_best

        write_best(pareto_front(rows), sys.stdout)
    elif form == "csv":
        from psm_sim.common.csv_output import write_csv_records

        write_csv_records(sys.stdout, table_rows(rows))
    else:
        from psm_sim import __version__
        from psm_sim.reporting.files.result_json import to_text

        sys.stdout.write(to_text({"psm_sim": __version__, "tasks": table_rows(rows)}))


def _draw(rows: list[TaskRow], table: SweepTable, path: Path) -> list[str]:
    """Write the figure to *path*. If another file is there, keep that file and return a remark."""
    from zlib import crc32

    from psm_sim.common.output_files import atomic_write_text
    from psm_sim.reporting.figures.canvas import svg_of
    from psm_sim.reporting.figures.sweep import draw

    figure = svg_of(draw(rows))
    checksum = crc32(figure.encode()) >> 1
    if path.is_file() and crc32(path.read_bytes()) >> 1 not in (checksum, table.figure_checksum):
        return [f"{path} is not the figure of this sweep and is kept; rename it, and repeat the sweep."]
    atomic_write_text(path, figure)
    table.figure_checksum = checksum
    return []

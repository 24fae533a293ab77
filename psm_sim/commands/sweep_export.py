"""``psm_sim sweep export``: a store as a table, one row per task."""

from __future__ import annotations

import argparse
import sys

from psm_sim.commands import sweep_store
from psm_sim.commands.arguments import path_option

HELP = "Write the tasks of a store as a table: one row per task, one column per parameter and per measure."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    sweep_store.add_arguments(parser)
    parser.add_argument(
        "--to",
        metavar="FILE",
        help="a name ending in .csv, .json or .parquet (default: CSV on standard output)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the table."""
    from psm_sim.commands.messages import print_message
    from psm_sim.reporting.files.sweep_table import export, write_csv

    rows = sweep_store.load_rows(arguments)
    if arguments.to is None:
        write_csv(rows, sys.stdout)
    else:
        export(rows, path_option("--to", arguments.to))
        print_message(f"Written: {arguments.to}", "")
    return 0

"""``psm_sim sweep export``: export of a store as a table."""

from __future__ import annotations

import argparse
import sys

from psm_sim.commands import sweep_store_options
from psm_sim.commands.shared_options import path_option

HELP = "Export a database as a table with one row per task and one column per parameter and measure."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    sweep_store_options.add_arguments(parser)
    parser.add_argument(
        "--to",
        metavar="FILE",
        help="output file ending in .csv, .json or .parquet (default: CSV on standard output)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the table."""
    from psm_sim.commands.stderr_messages import print_message
    from psm_sim.reporting.files.sweep_table import export, write_csv

    rows = sweep_store_options.load_rows(arguments)
    if arguments.to is None:
        write_csv(rows, sys.stdout)
    else:
        export(rows, path_option("--to", arguments.to))
        print_message(f"Wrote {arguments.to}", "")
    return 0

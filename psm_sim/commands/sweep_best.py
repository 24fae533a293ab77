"""``psm_sim sweep best``: Pareto-optimal policies of each scenario."""

from __future__ import annotations

import argparse
import sys

from psm_sim.commands import sweep_store_options

HELP = """\
List the Pareto-optimal policies in energy and slowdown of each scenario in a database.
Both are means over seeds with 95 % confidence intervals."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    sweep_store_options.add_arguments(parser)
    parser.add_argument(
        "--format",
        choices=("table", "csv", "json"),
        default="table",
        help="format; csv and json list the tasks of these policies (default: %(default)s)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the Pareto set."""
    from psm_sim.campaign.sweep.pareto import pareto_front

    best = pareto_front(sweep_store_options.load_rows(arguments))
    if arguments.format == "table":
        from psm_sim.reporting.terminal.sweep import write_best

        write_best(best, sys.stdout)
    else:
        from psm_sim.commands.sweep import show

        show([row for policy in best for row in policy.rows], arguments.format)
    return 0

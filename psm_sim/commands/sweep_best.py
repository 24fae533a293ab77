"""``psm_sim sweep best``: the Pareto set of energy and slowdown, per scenario."""

from __future__ import annotations

import argparse
import sys

from psm_sim.commands import sweep_store

HELP = """\
Show, for each scenario of a store, the policies that no other beats in both energy
and slowdown. Both are means over seeds, with 95 % intervals."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    sweep_store.add_arguments(parser)
    parser.add_argument(
        "--format",
        choices=("table", "csv", "json"),
        default="table",
        help="csv and json: the tasks of these policies (default: %(default)s)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the Pareto set."""
    from psm_sim.campaign.sweep.pareto import pareto_front

    best = pareto_front(sweep_store.load_rows(arguments))
    if arguments.format == "table":
        from psm_sim.reporting.terminal.sweep import write_best

        write_best(best, sys.stdout)
    else:
        from psm_sim.commands.sweep import show

        show([row for each in best for row in each.rows], arguments.format)
    return 0

"""``psm_sim check``: the contract checks on a component."""

from __future__ import annotations

import argparse
import sys

from psm_sim.commands import list_output

HELP = """\
Run the checks that every built-in policy, loss, learner, online learner and query rule
passes, on one of yours: copies, saved state, odd questions, whole runs and the laws they must keep."""

EPILOG = """\
examples:
  psm_sim check my.py:Mine
  psm_sim check my.py:Mine:beacons=4
  psm_sim check lpsm:loss=inverse inverse-log learn-alpha
  psm_sim check "gamma * I * Ti**2 / (2*T) + 1/log(Ti)"

Exit status: 0 if all checks hold; 1 if one does not; 2 for what cannot be loaded or made."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.usage = "%(prog)s WHAT [WHAT ...] [options]"
    parser.add_argument(
        "what",
        nargs="+",
        metavar="WHAT",
        help="NAME[:key=value,...], FILE.py:CLASS[:key=value,...] or the formula of a loss",
    )
    list_output.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the checks and print what they found; 1 if one of them does not hold."""
    from psm_sim.contracts import check
    from psm_sim.user_code import redirect_stdout_to_stderr

    with redirect_stdout_to_stderr():
        reports = [check(what) for what in arguments.what]
    if arguments.format == "json":
        from psm_sim.reporting.files.result_json import to_text

        sys.stdout.write(to_text({"reports": [report.to_dict() for report in reports]}))
    else:
        from psm_sim.reporting.terminal.contracts import write

        write(reports, sys.stdout)
    return 0 if all(report.ok for report in reports) else 1

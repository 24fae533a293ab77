"""``psm_sim check``: contract checks of a component."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

from psm_sim.commands.shared_options import add_format

if TYPE_CHECKING:
    from psm_sim.contracts.report import Report

HELP = """\
Check a user-defined policy, loss or learner against the contract
that every built-in component satisfies: copies, unusual calls, whole runs and invariants."""

EPILOG = """\
examples:
  psm_sim check my.py:Mine
  psm_sim check my.py:Mine:beacons=4
  psm_sim check lpsm:loss=inverse inverse-log learn-alpha
  psm_sim check "gamma * I * Ti**2 / (2*T) + 1/log(Ti)"

Exit status: 0 if all checks pass; 1 if one fails; 2 if a component cannot be loaded or created."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.usage = "%(prog)s COMPONENT [COMPONENT ...] [options]"
    parser.add_argument(
        "components",
        nargs="+",
        metavar="COMPONENT",
        help="NAME[:key=value,...], FILE.py:CLASS[:key=value,...] or a loss formula",
    )
    add_format(parser, ("table", "json"))


def run(arguments: argparse.Namespace) -> int:
    """Run the checks and print the reports; return 1 if a check fails."""
    from psm_sim.contracts import check

    with redirect_stdout(sys.stderr):
        reports = [check(component) for component in arguments.components]
    if arguments.format == "json":
        from psm_sim.reporting.files.result_json import to_text

        sys.stdout.write(to_text({"reports": [report.to_dict() for report in reports]}))
    else:
        _write(reports)
    return 0 if all(report.ok for report in reports) else 1


def _write(reports: Sequence[Report]) -> None:
    """Write a table of the checks of each component to standard output."""
    from psm_sim.reporting.columns import text_column
    from psm_sim.reporting.terminal.console import console_on, print_table

    with console_on(sys.stdout) as console:
        for report in reports:
            console.print(f"{report.kind} {report.name}")
            columns = [
                text_column("result", ["ok" if finding.ok else "FAILS" for finding in report.findings]),
                text_column("check", [finding.check for finding in report.findings]),
                text_column("finding", [finding.fault or finding.promise for finding in report.findings]),
            ]
            print_table(console, columns)
            console.print(report.summary)
            if report is not reports[-1]:
                console.print()

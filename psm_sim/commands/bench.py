"""``psm_sim bench``: how fast it is, beside loops that cost the same in every version."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from psm_sim.commands import list_output
from psm_sim.commands.arguments import whole_number

HELP = """\
Measure what a page, a poll, a round of learning and a start cost, as ratios to loops in the same
process: SimPy's bare events, a product of NumPy arrays, a start of Python."""
EPILOG = """\
examples:
  psm_sim bench
  psm_sim bench --format json > benchmarks/speed.json
  psm_sim bench --against benchmarks/speed.json

Exit status: 0; 1 if a measure costs over 1.1 times what it did in the file given with --against."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--repeats",
        type=whole_number(1, 1000),
        default=5,
        metavar="N",
        help="the best of how many counts (%(default)s)",
    )
    parser.add_argument("--against", type=Path, metavar="FILE", help="what an earlier bench wrote as JSON")
    list_output.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Measure, print, and say what became slower."""
    from psm_sim.speed.benchmark import read_benchmarks, run_benchmarks, to_dict

    costs = run_benchmarks(
        arguments.repeats, {} if arguments.against is None else read_benchmarks(arguments.against)
    )
    if arguments.format == "json":
        from psm_sim.reporting.files.result_json import to_text

        sys.stdout.write(to_text(to_dict(costs)))
    else:
        from psm_sim.reporting.terminal.benchmark_table import write

        write(costs, sys.stdout)
    return int(any(cost.is_slower for cost in costs))

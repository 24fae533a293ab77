"""``psm_sim bench``: benchmarks relative to baseline loops."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from psm_sim.commands import component_listings
from psm_sim.commands.shared_options import integer_between

HELP = """\
Measure the time of a page, a poll, a learning round and a start of psm_sim, relative to baseline
loops on the same machine: SimPy events, NumPy array products, and a start of Python with NumPy."""
EPILOG = """\
examples:
  psm_sim bench
  psm_sim bench --format json > benchmarks/speed.json
  psm_sim bench --against benchmarks/speed.json

Exit status: 0; 1 if a benchmark takes more than 1.1 times as long as in the file of --against."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--repeats",
        type=integer_between(1, 1000),
        default=5,
        metavar="N",
        help="number of repetitions, of which the best counts (default: %(default)s)",
    )
    parser.add_argument(
        "--against", type=Path, metavar="FILE", help="JSON file of an earlier bench to compare with"
    )
    component_listings.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the benchmarks and print them; return 1 if one became slower."""
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

"""``psm_sim losses``: losses of LPSM side by side."""

from __future__ import annotations

import argparse
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from psm_sim.commands.shared_options import (
    add_force,
    add_network,
    add_pages,
    add_replications,
    add_seed,
    add_workers,
    output_option,
    parse_settings,
    positive_number,
)
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError

if TYPE_CHECKING:
    from psm_sim.campaign.loss_comparison import LossComparison

HELP = """\
Compare losses of LPSM: energy against slowdown over gamma, beside the baselines,
bsd, anticipate and the best known schedule. Also reports what one nat of each loss
costs in joules and seconds, the regret of the learner, and how the losses differ."""

EPILOG = """\
examples:
  psm_sim losses inverse inverse-log
  psm_sim losses inverse-log my_loss.py:Cubic --output cubic.html
  psm_sim losses inverse inverse-log --price 0.1
  psm_sim losses "gamma * I * Ti + 1/Ti" inverse --gamma 1e-6,1e-5,1e-4

In a formula, I is the number of buffered bytes, T the time slept in ms, Ti the
candidate polling times in ms, and gamma the weight of latency against energy.
'psm_sim list losses' lists the losses. --output writes a page with the figures, and
a CSV file with a row per seed, loss and gamma."""

DEFAULT_SEEDS = 5
"""Default number of seeds."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.usage = "%(prog)s LOSS [LOSS ...] [options]"
    parser.add_argument("loss", nargs="+", metavar="LOSS", help="name, formula or FILE.py:CLASS")
    parser.add_argument(
        "--gamma",
        type=lambda text: [positive_number(part) for part in text.split(",")],
        metavar="VALUES",
        help="values of gamma, e.g. 1e-6,1e-5 (default: 1/16 to 16 times the default of each loss)",
    )
    parser.add_argument(
        "--price",
        type=positive_number,
        metavar="W",
        help="price of delay, in watts; each loss uses the gamma that implies this price",
    )
    parser.add_argument(
        "--trace", default="ucb", metavar="NAME|FILE[:key=...]", help="page views (default: %(default)s)"
    )
    add_network(parser)
    add_pages(parser, "number of pages")
    add_seed(parser, "first random seed")
    add_replications(parser, "number of seeds (default: %(default)s)", DEFAULT_SEEDS)
    parser.add_argument(
        "--output", metavar="FILE.html", help="page to write, next to a .csv file with all curves"
    )
    add_force(parser)
    add_workers(parser, "worker processes; results do not depend on it (default: all cores)")


def run(arguments: argparse.Namespace) -> int:
    """Simulate the losses, print the tables, and write the page and the CSV file if asked to."""
    from psm_sim.campaign.loss_comparison import simulate_losses
    from psm_sim.common.output_files import check_outputs, check_writable
    from psm_sim.reporting.terminal.losses import write_losses
    from psm_sim.reporting.terminal.progress import progress
    from psm_sim.simulation.preset import RunArguments

    page = None
    if arguments.output is not None:
        page = output_option("--output", arguments.output, ".html", ".htm")
    elif arguments.force:
        raise InputError("--force has no effect without --output; remove it.")
    scenario = RunArguments(
        arguments.trace,
        arguments.topology,
        arguments.pages,
        arguments.seed,
        parse_settings(arguments.set),
        profile=arguments.profile,
        where="--set",
    ).scenario()
    losses: list[str] = arguments.loss
    inputs = scenario.files([Spec("lpsm").with_("loss", loss) for loss in losses])
    if page is not None:
        table = page.with_suffix(".csv")
        check_outputs([("--output", page), ("--output", table)], inputs, force=arguments.force)
        check_writable(table, "--output")
    with redirect_stdout(sys.stderr), progress("simulating", "pages") as report:
        comparison = simulate_losses(
            losses,
            scenario,
            arguments.gamma,
            arguments.price,
            arguments.replications,
            arguments.workers,
            report,
        )
    write_losses(comparison, sys.stdout)
    if page is not None:
        _write(comparison, page, arguments.argv)
    return 0


def _write(comparison: LossComparison, page: Path, argv: list[str]) -> None:
    """Write the page and the CSV file, or neither."""
    import shlex

    from psm_sim.commands.stderr_messages import print_message
    from psm_sim.common.output_files import atomic_write, atomic_write_text
    from psm_sim.reporting.html.losses import html_of_losses
    from psm_sim.reporting.terminal.progress import progress

    table = page.with_suffix(".csv")
    with progress("writing"):
        text = html_of_losses(comparison, shlex.join(["python", "-m", "psm_sim", *argv]))
        # The writes are nested, so that neither file is written if the disk has no space for the other.
        with atomic_write(table, "--output") as file:
            file.write(comparison.frame.to_csv(index=False).encode("utf-8", "backslashreplace"))
            file.flush()
            atomic_write_text(page, text, "--output")
    print_message(f"Wrote {page} and {table}", "")

"""``psm_sim sweep page``: self-contained HTML page of a store."""

from __future__ import annotations

import argparse
from pathlib import Path

from psm_sim.commands import sweep_store_options
from psm_sim.commands.shared_options import parse_settings

HELP = """\
Write a self-contained HTML page of a database: a plot with selectable axes, the best
policies with their commands, and a sortable table of all tasks."""

EPILOG = """\
examples:
  psm_sim sweep page sweep.sqlite
  psm_sim sweep page sweep.sqlite --where pages=100 --to hundred.html"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    sweep_store_options.add_arguments(parser)
    sweep_store_options.add_where(parser, "show")
    parser.add_argument(
        "--to", metavar="FILE", help="output file (default: the name of the database with .html)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the page atomically."""
    from psm_sim.campaign.sweep.plot_points import select_rows
    from psm_sim.campaign.sweep.store import Store
    from psm_sim.commands.stderr_messages import print_message
    from psm_sim.common.output_files import atomic_write_text, check_writable
    from psm_sim.reporting.html.sweep import page_of

    store = Path(arguments.store)
    path = Path(arguments.to) if arguments.to else store.with_suffix(".html")
    check_writable(path, "--to")
    rows = select_rows(sweep_store_options.load_rows(arguments), parse_settings(arguments.where))
    with Store(store, new=False) as opened:
        commands = [command for _, _, command in opened.sweeps()]
    atomic_write_text(path, page_of(rows, commands, store.name))
    print_message(f"Wrote {path}", "")
    return 0

"""``psm_sim sweep plot``: one column of a store against another, with intervals over seeds."""

from __future__ import annotations

import argparse
from pathlib import Path

from psm_sim.commands import sweep_store
from psm_sim.commands.arguments import parse_settings, path_option

HELP = """\
Draw one column of a store against another: a point is a mean over seeds, its bars the
95 % intervals. The columns are those of 'sweep export'."""

EPILOG = """\
examples:
  psm_sim sweep plot sweep.sqlite
  psm_sim sweep plot sweep.sqlite --x policy.bsd.p --y slowdown.mean
  psm_sim sweep plot sweep.sqlite --x links.wired.latency_ms --by policy --where pages=100"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    sweep_store.add_arguments(parser)
    for name, default, meaning in (
        ("x", "slowdown.mean", "the column from left to right: a measure or a parameter"),
        ("y", "energy_per_page_j", "the measure from bottom to top"),
        (
            "by",
            "name",
            "the parameter that makes a series of its own; name is the policy's without parameters",
        ),
    ):
        parser.add_argument(
            f"--{name}", default=default, metavar="COLUMN", help=f"{meaning} (default: %(default)s)"
        )
    sweep_store.add_where(parser, "draw")
    parser.add_argument(
        "--to", metavar="STEM", help="write STEM.png, STEM.svg and STEM.csv (default: the store's name)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Draw the figure, and write it with its numbers."""
    from psm_sim.campaign.sweep.plot_points import Columns, select_rows
    from psm_sim.commands.messages import print_message
    from psm_sim.files.atomic_directory import replace_directory
    from psm_sim.reporting.figures.style import save_figure
    from psm_sim.reporting.figures.sweep import draw

    rows = select_rows(sweep_store.load_rows(arguments), parse_settings(arguments.where))
    columns = Columns(arguments.x, arguments.y, arguments.by)
    figure, numbers = draw(columns.of(rows), columns)
    to = arguments.to
    stem = Path(arguments.store).with_suffix("") if to is None else path_option("--to", to)
    stem = stem.with_suffix("") if stem.suffix in _SUFFIXES else stem
    with replace_directory(stem.parent, own=False) as made:
        paths = [stem.parent / path.name for path in save_figure(figure, made / stem.name, numbers)]
    print_message(f"Written: {', '.join(map(str, paths))}", "")
    return 0


_SUFFIXES = (".png", ".svg", ".csv")

"""``psm_sim sweep plot``: plot of one column of a store against another."""

from __future__ import annotations

import argparse
from pathlib import Path

from psm_sim.commands import sweep_store_options
from psm_sim.commands.shared_options import parse_settings, path_option

HELP = """\
Plot one column of a database against another. Points are means over seeds, and error
bars are 95 % confidence intervals. The columns are those of 'sweep export'."""

EPILOG = """\
examples:
  psm_sim sweep plot sweep.sqlite
  psm_sim sweep plot sweep.sqlite --x policy.bsd.p --y slowdown.mean
  psm_sim sweep plot sweep.sqlite --x links.wired.latency_ms --by policy --where pages=100"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    sweep_store_options.add_arguments(parser)
    for name, default, meaning in (
        ("x", "slowdown.mean", "column of the x axis: a measure or a parameter"),
        ("y", "energy_per_page_j", "column of the y axis: a measure"),
        (
            "by",
            "name",
            "parameter that separates the series; name is the policy without its parameters",
        ),
    ):
        parser.add_argument(
            f"--{name}", default=default, metavar="COLUMN", help=f"{meaning} (default: %(default)s)"
        )
    sweep_store_options.add_where(parser, "plot")
    parser.add_argument(
        "--to",
        metavar="STEM",
        help="write STEM.png, STEM.svg and STEM.csv (default: the name of the database)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Plot the figure, and write it with its data."""
    from psm_sim.campaign.sweep.plot_points import Columns, select_rows
    from psm_sim.commands.stderr_messages import print_message
    from psm_sim.common.output_files import replace_files
    from psm_sim.reporting.figures.style import save_figure
    from psm_sim.reporting.figures.sweep import draw

    rows = select_rows(sweep_store_options.load_rows(arguments), parse_settings(arguments.where))
    columns = Columns(arguments.x, arguments.y, arguments.by)
    figure, numbers = draw(columns.of(rows), columns)
    to = arguments.to
    stem = Path(arguments.store).with_suffix("") if to is None else path_option("--to", to)
    stem = stem.with_suffix("") if stem.suffix in _SUFFIXES else stem
    with replace_files(stem.parent) as draft_dir:
        paths = [stem.parent / path.name for path in save_figure(figure, draft_dir / stem.name, numbers)]
    print_message(f"Wrote {', '.join(map(str, paths))}", "")
    return 0


_SUFFIXES = (".png", ".svg", ".csv")

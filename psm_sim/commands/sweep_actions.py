"""Actions of ``psm_sim sweep`` on a database: status, best, plot, page and export."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from psm_sim import __version__
from psm_sim.commands.shared_options import add_common, add_force, parse_settings, path_option
from psm_sim.common.errors import InputError

if TYPE_CHECKING:
    from psm_sim.campaign.sweep.store import StoredRow

HELP = "Summarize, plot or export the results in the database of a sweep."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions and their options."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, prog=parser.prog)
    status = _add_action(
        actions,
        "status",
        "count the finished, failed and waiting tasks, and list the sweeps and the failed tasks",
        "A running sweep is listed with its rate and its remaining time. A sweep whose process\n"
        "has ended before its tasks is listed as killed.",
    )
    best = _add_action(
        actions,
        "best",
        "list the Pareto-optimal policies in energy and slowdown of each scenario",
        "Energy and slowdown are means over seeds with 95 % confidence intervals. A policy is left out if\n"
        "another one is better by more than the interval of their difference, paired by seed.",
    )
    best.add_argument(
        "--format",
        choices=("table", "csv", "json"),
        default="table",
        help="format; csv and json list the tasks of these policies (default: %(default)s)",
    )
    plot = _add_action(
        actions,
        "plot",
        "plot one column against another",
        "Points are means over seeds, and error bars are 95 % confidence intervals.\n"
        "The columns are those of 'sweep export'.",
        """\
examples:
  psm_sim sweep plot sweep.sqlite
  psm_sim sweep plot sweep.sqlite --x policy.bsd.p --y slowdown.mean
  psm_sim sweep plot sweep.sqlite --x links.wired.latency_ms --by policy --where pages=100""",
    )
    for name, default, meaning in (
        ("x", "slowdown.mean", "column of the x axis: a measure or a parameter"),
        ("y", "energy_per_page_j", "column of the y axis: a measure"),
        (
            "by",
            "name",
            "parameter that separates the series; name is the policy without its parameters",
        ),
    ):
        plot.add_argument(
            f"--{name}", default=default, metavar="COLUMN", help=f"{meaning} (default: %(default)s)"
        )
    _add_where(plot, "plot")
    plot.add_argument(
        "--to",
        metavar="FILE",
        help="figure as .svg, .png or .pdf; its data are written as .csv (default: the name of the database"
        " with .svg)",
    )
    page = _add_action(
        actions,
        "page",
        "write a self-contained HTML page",
        "The page has a plot with selectable axes, the best policies with their commands,\n"
        "and a sortable table of all tasks.",
        """\
examples:
  psm_sim sweep page sweep.sqlite
  psm_sim sweep page sweep.sqlite --where pages=100 --to hundred.html""",
    )
    _add_where(page, "show")
    page.add_argument(
        "--to", metavar="FILE", help="output file (default: the name of the database with .html)"
    )
    export = _add_action(
        actions, "export", "export a table with one row per task and one column per parameter and measure"
    )
    export.add_argument(
        "--to",
        metavar="FILE",
        help="output file ending in .csv, .json or .parquet (default: CSV on standard output)",
    )
    for action in (plot, page, export):
        add_force(action)
    for action in (status, best, plot, page, export):
        add_common(action)


def _add_action(
    actions: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    summary: str,
    description: str = "",
    epilog: str | None = None,
) -> argparse.ArgumentParser:
    """Add the parser of an action, with the argument of the database."""
    parser = actions.add_parser(
        name,
        usage="%(prog)s FILE [options]",
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.\n{description}",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("store", metavar="FILE", help="database written by a sweep")
    return parser


def _add_where(parser: argparse.ArgumentParser, verb: str) -> None:
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="COLUMN=VALUE",
        help=f"{verb} only the tasks in which COLUMN has VALUE; repeatable",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run one action."""
    actions: dict[str, Callable[[argparse.Namespace, list[StoredRow]], None]] = {
        "status": _status,
        "best": _best,
        "plot": _plot,
        "page": _page,
        "export": _export,
    }
    actions[arguments.action](arguments, _load_rows(arguments))
    return 0


def _load_rows(arguments: argparse.Namespace) -> list[StoredRow]:
    """Return the rows of this version of psm_sim, and print how many rows other versions have.

    Raises
    ------
    InputError
        If the store does not exist, or has only tasks of other versions.
    """
    from psm_sim.campaign.sweep.store import Store
    from psm_sim.commands.stderr_messages import print_message

    with Store(Path(arguments.store), new=False) as store:
        rows, versions = store.rows(), store.versions()
    others = [name for name in versions if name != __version__]
    if not rows and others:
        raise InputError(
            f"{arguments.store} has no task of version {__version__}, only of {', '.join(others)}; run the"
            " sweep again, or use that version of psm_sim."
        )
    for name in others:
        print_message(f"{versions[name]} tasks of version {name} are not shown.", "")
    return rows


def _status(arguments: argparse.Namespace, rows: list[StoredRow]) -> None:
    """Print the counts, the sweeps and the failures."""
    from psm_sim.campaign.sweep.store import Store
    from psm_sim.reporting.terminal.sweep import write_status

    with Store(Path(arguments.store), new=False) as store:
        write_status(rows, store.versions(), store.sweeps(), sys.stdout)


def _best(arguments: argparse.Namespace, rows: list[StoredRow]) -> None:
    """Print the Pareto set."""
    from psm_sim.campaign.sweep.results import pareto_front

    best = pareto_front(rows)
    if arguments.format == "table":
        from psm_sim.reporting.terminal.sweep import write_best

        write_best(best, sys.stdout)
    else:
        from psm_sim.commands.sweep import show

        show([row for policy in best for row in policy.rows], arguments.format)


def _plot(arguments: argparse.Namespace, rows: list[StoredRow]) -> None:
    """Plot the figure, and write it with its data."""
    from psm_sim.campaign.sweep.results import describe_scenarios, plot_points, select_rows
    from psm_sim.commands.stderr_messages import print_message
    from psm_sim.common.output_files import replace_files
    from psm_sim.reporting.figures.canvas import FORMATS, save_figure
    from psm_sim.reporting.figures.sweep import draw

    to = Path(arguments.store).with_suffix("") if arguments.to is None else path_option("--to", arguments.to)
    has_format = to.suffix[1:] in FORMATS
    stem, suffix = (to.with_suffix(""), to.suffix[1:]) if has_format else (to, "svg")
    _check_files([stem.with_name(f"{stem.name}.{each}") for each in (suffix, "csv")], arguments)
    rows = select_rows(rows, parse_settings(arguments.where))
    columns = (arguments.x, arguments.y, arguments.by)
    figure, numbers = draw(plot_points(rows, *columns), *columns, describe_scenarios(rows))
    with replace_files(stem.parent) as draft_dir:
        written = save_figure(figure, draft_dir / stem.name, numbers, [suffix])
        paths = [stem.parent / path.name for path in written]
    print_message(f"Wrote {', '.join(map(str, paths))}", "")


def _page(arguments: argparse.Namespace, rows: list[StoredRow]) -> None:
    """Write the page atomically."""
    from psm_sim.campaign.sweep.results import select_rows
    from psm_sim.campaign.sweep.store import Store
    from psm_sim.commands.stderr_messages import print_message
    from psm_sim.common.output_files import atomic_write_text, check_writable
    from psm_sim.reporting.html.sweep import page_of

    store = Path(arguments.store)
    path = Path(arguments.to) if arguments.to else store.with_suffix(".html")
    check_writable(path, "--to")
    _check_files([path], arguments)
    rows = select_rows(rows, parse_settings(arguments.where))
    with Store(store, new=False) as opened:
        commands = [sweep.command for sweep in opened.sweeps()]
    atomic_write_text(path, page_of(rows, commands, store.name))
    print_message(f"Wrote {path}", "")


def _export(arguments: argparse.Namespace, rows: list[StoredRow]) -> None:
    """Write the table."""
    from psm_sim.commands.stderr_messages import print_message
    from psm_sim.reporting.files.sweep_table import export, write_csv

    if arguments.to is None:
        if arguments.force:
            raise InputError("--force has no effect without --to; remove it.")
        write_csv(rows, sys.stdout)
    else:
        path = path_option("--to", arguments.to)
        _check_files([path], arguments)
        export(rows, path)
        print_message(f"Wrote {arguments.to}", "")


def _check_files(paths: Sequence[Path], arguments: argparse.Namespace) -> None:
    """Raise InputError if an output would replace the database, or another file without ``--force``."""
    from psm_sim.common.output_files import check_outputs

    check_outputs([("--to", path) for path in paths], [Path(arguments.store)], force=arguments.force)

"""Options of the commands that read a store, and the rows that they ask for."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from psm_sim import __version__
from psm_sim.errors import InputError

if TYPE_CHECKING:
    from psm_sim.campaign.sweep.outcome import StoredRow


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the store and the version."""
    parser.add_argument("store", metavar="FILE", help="the store that a sweep has written")
    parser.add_argument(
        "--store-version",
        default=__version__,
        metavar="VERSION",
        help="of psm_sim that ran the tasks: versions are never mixed (default: %(default)s)",
    )


def add_where(parser: argparse.ArgumentParser, verb: str) -> None:
    """Declare the choice of tasks by their columns; *verb* is what is done with them."""
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="COLUMN=VALUE",
        help=f"{verb} only the tasks in which a column has a value; may be repeated",
    )


def load_rows(arguments: argparse.Namespace) -> list[StoredRow]:
    """Return the rows that the options ask for; tell how many there are of other versions.

    Raises
    ------
    InputError
        If there is no such store, or it has no task of the version.
    """
    from psm_sim.campaign.sweep.store import Store
    from psm_sim.commands.messages import print_message

    with Store(Path(arguments.store), new=False) as store:
        rows, versions = store.rows(arguments.store_version), store.versions()
    others = [name for name in versions if name != arguments.store_version]
    if not rows and others:
        raise InputError(
            f"{arguments.store} has no task of version {arguments.store_version}, only of {', '.join(others)}; "
            f"choose one with --store-version {others[0]}."
        )
    for name in others:
        told = f"{versions[name]} tasks of version {name} are left out; --store-version {name} shows them."
        print_message(told, "")
    return rows

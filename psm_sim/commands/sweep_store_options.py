"""Options of the commands that read a store, and selection of its rows."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from psm_sim import __version__
from psm_sim.common.errors import InputError

if TYPE_CHECKING:
    from psm_sim.campaign.sweep.outcome import StoredRow


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the database and its version."""
    parser.add_argument("store", metavar="FILE", help="database written by a sweep")
    parser.add_argument(
        "--store-version",
        default=__version__,
        metavar="VERSION",
        help="version of psm_sim that ran the tasks; versions are not mixed (default: %(default)s)",
    )


def add_where(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add ``--where``; *verb* is the verb of its help."""
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="COLUMN=VALUE",
        help=f"{verb} only the tasks in which COLUMN has VALUE; repeatable",
    )


def load_rows(arguments: argparse.Namespace) -> list[StoredRow]:
    """Return the rows of one version, and print how many rows other versions have.

    Raises
    ------
    InputError
        If the store does not exist, or has no task of the version.
    """
    from psm_sim.campaign.sweep.store import Store
    from psm_sim.commands.stderr_messages import print_message

    with Store(Path(arguments.store), new=False) as store:
        rows, versions = store.rows(arguments.store_version), store.versions()
    others = [name for name in versions if name != arguments.store_version]
    if not rows and others:
        raise InputError(
            f"{arguments.store} has no task of version {arguments.store_version}, only of "
            f"{', '.join(others)}; specify --store-version {others[0]}."
        )
    for name in others:
        remark = f"{versions[name]} tasks of version {name} are not shown; use --store-version {name}."
        print_message(remark, "")
    return rows

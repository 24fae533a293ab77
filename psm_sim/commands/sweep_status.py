"""``psm_sim sweep status``: task counts and failures of a store."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from psm_sim.commands import sweep_store_options

HELP = "Count the finished, failed and waiting tasks of a database, and list the failed ones."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    sweep_store_options.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the counts, the sweeps and the failures."""
    from psm_sim.campaign.sweep.store import Store
    from psm_sim.reporting.terminal.sweep import write_status

    rows = sweep_store_options.load_rows(arguments)
    with Store(Path(arguments.store), new=False) as store:
        write_status(rows, store.versions(), store.sweeps(), sys.stdout)
    return 0

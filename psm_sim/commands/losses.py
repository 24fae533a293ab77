"""``psm_sim losses``: listing of the loss functions."""

from __future__ import annotations

import argparse

from psm_sim.commands import component_listings

HELP = "List the loss functions of learning policies and their parameters with default, unit and range."
EPILOG = """\
Select one:    psm_sim --policy lpsm:loss=NAME
Formula:       psm_sim --policy lpsm --loss "gamma * I * Ti**2 / (2*T) + 1/log(Ti)"
User-defined:  psm_sim --policy lpsm --loss FILE.py:CLASS"""

add_arguments = component_listings.add_arguments


def run(arguments: argparse.Namespace) -> int:
    """Print the listing."""
    from psm_sim.losses import LOSSES

    return component_listings.show(
        "losses", component_listings.registry_items(LOSSES), EPILOG, arguments.format
    )

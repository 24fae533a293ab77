"""``psm_sim policies``: listing of the sleep policies."""

from __future__ import annotations

import argparse

from psm_sim.commands import component_listings

HELP = "List the sleep policies and their parameters with default, unit and range."
EPILOG = """\
Select one:    psm_sim --policy NAME:key=value,...
User-defined:  psm_sim --policy FILE.py:CLASS"""

add_arguments = component_listings.add_arguments


def run(arguments: argparse.Namespace) -> int:
    """Print the listing."""
    from psm_sim.policies import POLICIES

    return component_listings.show(
        "policies", component_listings.registry_items(POLICIES), EPILOG, arguments.format
    )

"""``psm_sim policies``: the power-save policies that have a name."""

from __future__ import annotations

import argparse

from psm_sim.commands import list_output

HELP = "List the power-save policies, and their parameters with default, unit and range."
EPILOG = """\
Use one with:  psm_sim --policy NAME:key=value,...
Your own:      psm_sim --policy FILE.py:CLASS"""

add_arguments = list_output.add_arguments


def run(arguments: argparse.Namespace) -> int:
    """Print the list."""
    from psm_sim.policies import POLICIES

    return list_output.show("policies", list_output.of_registry(POLICIES), EPILOG, arguments.format)

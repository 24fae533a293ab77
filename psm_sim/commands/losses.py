"""``psm_sim losses``: the losses that a learning policy can use."""

from __future__ import annotations

import argparse

from psm_sim.commands import list_output

HELP = "List the losses that a learning policy can use, with their parameters: default, unit, range."
EPILOG = """\
Use one with:  psm_sim --policy lpsm:loss=NAME
A formula:     psm_sim --policy lpsm --loss "gamma * I * Ti**2 / (2*T) + 1/log(Ti)"
Your own:      psm_sim --policy lpsm --loss FILE.py:CLASS"""

add_arguments = list_output.add_arguments


def run(arguments: argparse.Namespace) -> int:
    """Print the list."""
    from psm_sim.losses import LOSSES

    return list_output.show("losses", list_output.of_registry(LOSSES), EPILOG, arguments.format)

"""``psm_sim topologies``: listing of the bundled topologies and their keys."""

from __future__ import annotations

import argparse

from psm_sim.commands import component_listings
from psm_sim.commands.component_listings import Item

HELP = "List the bundled topologies and the value, unit and range of every --set key, or show one file."
EPILOG = """\
Select one:    psm_sim --topology NAME
Override key:  psm_sim --set links.wired.latency_ms=80
User-defined:  psm_sim topologies show NAME > mine.toml"""

add_arguments = component_listings.add_show


def run(arguments: argparse.Namespace) -> int:
    """Print the listing, or the file of one topology."""
    from psm_sim.common.bundled_files import bundled_names

    if arguments.action == "show":
        return component_listings.show_file("topologies", arguments.name)

    items = [_item(name) for name in bundled_names("topologies")]
    return component_listings.show("topologies", items, EPILOG, arguments.format)


def _item(name: str) -> Item:
    from psm_sim.network.topology import parameter_of
    from psm_sim.network.topology_file import load_topology

    topology = load_topology(name)
    rows = [component_listings.row(key, value, parameter_of(key)) for key, value in topology.config().items()]
    return {"name": name, "source": "bundled", "summary": topology.description, "parameters": rows}

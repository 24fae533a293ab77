"""``psm_sim profiles``: listing of the chip profiles."""

from __future__ import annotations

import argparse

from psm_sim.commands import component_listings
from psm_sim.commands.component_listings import Item

HELP = "List the chip profiles with the origin of each value (measured, fitted or assumed), or show one file."
EPILOG = """\
Select one:    psm_sim --profile NAME
User-defined:  psm_sim profiles show NAME > mine.toml; psm_sim --profile mine.toml
Battery life:  psm_sim --profile NAME --battery 2000mAh"""

add_arguments = component_listings.add_show


def run(arguments: argparse.Namespace) -> int:
    """Print the listing, or the file of one profile."""
    from psm_sim.network.chip_profiles import profile_names

    if arguments.action == "show":
        return component_listings.show_file("topologies/profiles", arguments.name)
    items = [_item(name) for name in profile_names()]
    return component_listings.show("profiles", items, EPILOG, arguments.format)


def _item(name: str) -> Item:
    from psm_sim.network.chip_profiles import load_profile
    from psm_sim.network.topology import parameter_of

    profile = load_profile(name)
    rows = [
        {
            **component_listings.row(key, value, parameter_of(key)),
            "help": profile.origin.get(key.partition(".")[2], ""),
        }
        for key, value in profile.values.items()
    ]
    summary = f"{profile.description}. Source: {profile.source}."
    return {"name": name, "summary": summary, "source": profile.source, "parameters": rows}

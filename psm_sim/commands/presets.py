"""``psm_sim presets``: listing of the presets."""

from __future__ import annotations

import argparse

from psm_sim.commands import component_listings
from psm_sim.commands.component_listings import Item

HELP = "List the presets with their trace, policy and topology parameters, or show the file of one."
EPILOG = """\
Select one:    psm_sim --preset NAME
User-defined:  psm_sim presets show NAME > mine.toml; psm_sim --preset mine.toml"""

add_arguments = component_listings.add_show


def run(arguments: argparse.Namespace) -> int:
    """Print the listing, or the file of one preset."""
    from psm_sim.common.bundled_files import bundled_names

    if arguments.action == "show":
        return component_listings.show_file("presets", arguments.name)
    items = [_item(name) for name in bundled_names("presets")]
    return component_listings.show("presets", items, EPILOG, arguments.format)


def _item(name: str) -> Item:
    from psm_sim.common.parameter_values import Parameter
    from psm_sim.simulation.preset import load_preset

    preset = load_preset(name)
    policies = {
        f"{policy}.{key}": value
        for policy, parameters in preset.policies.items()
        for key, value in parameters.items()
    }
    trace = {f"{preset.trace}.{key}": value for key, value in preset.trace_parameters.items()}
    rows = [
        component_listings.row(key, value, Parameter(key, value))
        for key, value in {**trace, **policies, **preset.settings}.items()
    ]
    return {"name": name, "source": "bundled", "summary": preset.description, "parameters": rows}

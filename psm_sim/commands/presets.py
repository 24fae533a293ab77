"""``psm_sim presets``: whole settings under one name."""

from __future__ import annotations

import argparse

from psm_sim.commands import list_output
from psm_sim.commands.list_output import Item

HELP = "List the presets: trace, policy and topology parameters under one name; or print one's file."
EPILOG = """\
Use one with:  psm_sim --preset NAME
Your own:      psm_sim presets show NAME > mine.toml; psm_sim --preset mine.toml"""

add_arguments = list_output.add_show


def run(arguments: argparse.Namespace) -> int:
    """Print the list, or one preset's file."""
    from psm_sim.bundled_files import bundled_names

    if arguments.action == "show":
        return list_output.shown_file("presets", arguments.name)
    items = [_item(name) for name in bundled_names("presets")]
    return list_output.show("presets", items, EPILOG, arguments.format)


def _item(name: str) -> Item:
    from psm_sim.parameter_values import Parameter
    from psm_sim.simulation.preset import load_preset

    preset = load_preset(name)
    policies = {
        f"{policy}.{key}": value for policy, own in preset.policies.items() for key, value in own.items()
    }
    trace = {f"{preset.trace}.{key}": value for key, value in preset.trace_parameters.items()}
    rows = [
        list_output.row(key, value, Parameter(key, value))
        for key, value in {**trace, **policies, **preset.settings}.items()
    ]
    return {"name": name, "source": "bundled", "summary": preset.description, "parameters": rows}

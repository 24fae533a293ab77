"""``psm_sim traces``: listing of the bundled traces and those of installed packages."""

from __future__ import annotations

import argparse

from psm_sim.commands import component_listings
from psm_sim.commands.component_listings import Item

HELP = "List the named traces and their parameters, or show the file of one."
EPILOG = """\
Select one:    psm_sim --trace NAME:key=value,...
Inspect one:   psm_sim trace info NAME
User-defined:  psm_sim traces show NAME > mine.toml"""

add_arguments = component_listings.add_show


def run(arguments: argparse.Namespace) -> int:
    """Print the listing, or the file of one trace."""
    from psm_sim.common.bundled_files import bundled_names
    from psm_sim.common.plugins import distribution_of, installed_entry_points
    from psm_sim.workload.loading import GROUP

    if arguments.action == "show":
        return component_listings.show_file("traces", arguments.name)
    sources = dict.fromkeys(bundled_names("traces"), "bundled")
    installed = {
        name: distribution_of(point)
        for name, point in installed_entry_points(GROUP).items()
        if name not in sources
    }
    items = [_item(name, source) for name, source in {**sources, **installed}.items()]
    return component_listings.show("traces", items, EPILOG, arguments.format)


def _item(name: str, source: str) -> Item:
    from psm_sim.common.parameter_values import Parameter
    from psm_sim.workload import load_workload

    workload = load_workload(name, 1, 1)
    # Taken from a sampled page, because the declared parameters depend on the kind of trace.
    rows = [
        component_listings.row(key, value, Parameter(key, value))
        for key, value in workload.parameters.items()
    ]
    return {"name": name, "source": source, "summary": workload.remark, "parameters": rows}

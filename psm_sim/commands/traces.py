"""``psm_sim traces``: the traces that have a name, bundled or from installed packages."""

from __future__ import annotations

import argparse

from psm_sim.commands import list_output
from psm_sim.commands.list_output import Item

HELP = "List the traces that have a name, with the parameters that they were drawn with; or print one's file."
EPILOG = """\
Use one with:  psm_sim --trace NAME:key=value,...
Look closer:   psm_sim trace info NAME
Your own:      psm_sim traces show NAME > mine.toml"""

add_arguments = list_output.add_show


def run(arguments: argparse.Namespace) -> int:
    """Print the list, or one trace's file."""
    from psm_sim.bundled_files import bundled_names
    from psm_sim.plugins import distribution_of, installed_entry_points
    from psm_sim.workload.loading import GROUP

    if arguments.action == "show":
        return list_output.shown_file("traces", arguments.name)
    sources = dict.fromkeys(bundled_names("traces"), "bundled")
    offered = {
        name: distribution_of(point)
        for name, point in installed_entry_points(GROUP).items()
        if name not in sources
    }
    items = [_item(name, source) for name, source in {**sources, **offered}.items()]
    return list_output.show("traces", items, EPILOG, arguments.format)


def _item(name: str, source: str) -> Item:
    from psm_sim.parameter_values import Parameter
    from psm_sim.workload import load_workload

    workload = load_workload(name, 1, 1)
    # Read off a page drawn: the declared parameters depend on the kind of trace.
    rows = [list_output.row(key, value, Parameter(key, value)) for key, value in workload.parameters.items()]
    return {"name": name, "source": source, "summary": workload.remark, "parameters": rows}

"""Listings of named components, as text and as JSON."""

from __future__ import annotations

import argparse
import inspect
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psm_sim.common.parameter_values import Parameter
    from psm_sim.common.registry import Registry

Item = dict[str, Any]
"""Entry with ``name``, ``source``, ``summary`` and ``parameters``, a list of rows of :func:`row`."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of a listing."""
    parser.add_argument(
        "--format",
        choices=("table", "json"),
        default="table",
        help="format of standard output (default: %(default)s)",
    )


def add_show(parser: argparse.ArgumentParser) -> None:
    """Add the options of a listing, and ``show NAME``."""
    add_arguments(parser)
    parser.add_argument("action", nargs="?", choices=("show",), help="print the TOML file of NAME")
    parser.add_argument("name", nargs="?", metavar="NAME", help="name of the entry to show")


def show_file(kind: str, name: str | None) -> int:
    """Print the TOML file of a bundled entry, and return the exit status 0.

    Raises
    ------
    InputError
        If *name* is None or unknown.
    """
    from psm_sim.common.bundled_files import bundled_dir, bundled_names
    from psm_sim.common.registry import unknown_name_error

    names = bundled_names(kind)
    if name not in names:
        raise unknown_name_error(_SINGULAR[kind], name or "", names)
    print((bundled_dir(kind) / f"{name}.toml").read_text(encoding="utf-8"), end="")  # noqa: T201
    return 0


_SINGULAR = {
    "topologies": "topology",
    "traces": "trace",
    "presets": "preset",
    "topologies/profiles": "profile",
}


def row(name: str, default: Any, parameter: Parameter) -> dict[str, Any]:
    """Return one parameter as plain values.

    Parameters
    ----------
    name : str
        Name on the command line.
    default : object
        Default, a plain value in the unit of the parameter.
    parameter : Parameter
        Declaration with unit, range and help.
    """
    return {
        "name": name,
        "default": default,
        "unit": parameter.unit,
        "range": parameter.range,
        "help": parameter.help,
    }


def registry_items(registry: Registry[Any]) -> list[Item]:
    """Return an entry for every component: first paragraph of its docstring, and its parameters."""
    from psm_sim.common.parameters import parameters_of

    items = []
    sources = {**dict.fromkeys(registry.names(), "built in"), **registry.installed()}
    for name, source in sources.items():
        cls = registry.get(name)
        summary = (inspect.getdoc(cls) or "").partition("\n\n")[0].replace("\n", " ").replace("``", "")
        rows = [row(key, each.default, each) for key, each in parameters_of(cls).items()]
        items.append({"name": name, "source": source, "summary": summary, "parameters": rows})
    return items


def show(kind: str, items: list[Item], remark: str, form: str) -> int:
    """Print a listing, and return the exit status 0.

    Parameters
    ----------
    kind : str
        Key of the list in the JSON object, such as ``"policies"``.
    items : list of Item
        Entries of the listing.
    remark : str
        Text below the table.
    form : str
        ``"json"`` for one JSON object; any other value prints a table.
    """
    if sys.flags.optimize > 1:
        from psm_sim.commands.stderr_messages import print_message

        print_message("descriptions are missing because python -OO (PYTHONOPTIMIZE=2) removes docstrings.")
    if form == "json":
        import json

        print(json.dumps({kind: items}, indent=2))  # noqa: T201
    else:
        from psm_sim.reporting.terminal.listing import write

        write(items, remark, sys.stdout)
    return 0

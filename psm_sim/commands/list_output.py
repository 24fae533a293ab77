"""Lists of what can be named, for people and as JSON."""

from __future__ import annotations

import argparse
import inspect
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psm_sim.parameter_values import Parameter
    from psm_sim.registry import Registry

Item = dict[str, Any]
"""``name``, ``source``, ``summary``, and ``parameters``: a list of rows as :func:`row` makes them."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of a list."""
    parser.add_argument(
        "--format", choices=("table", "json"), default="table", help="of the list (default: %(default)s)"
    )


def add_show(parser: argparse.ArgumentParser) -> None:
    """Declare the options of a list, and ``show NAME``."""
    add_arguments(parser)
    parser.add_argument("action", nargs="?", choices=("show",), help="print the TOML file of NAME")
    parser.add_argument("name", nargs="?", metavar="NAME", help="what is shown")


def shown_file(kind: str, name: str | None) -> int:
    """Print the TOML of a bundled file, to start one's own from; return the exit status, 0.

    Raises
    ------
    InputError
        If there is no name, or none of that kind has it.
    """
    from psm_sim.bundled_files import bundled_dir, bundled_names
    from psm_sim.registry import unknown_name_error

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
    name
        What it is called on the command line.
    default
        Its default, a plain value in the parameter's unit.
    parameter
        Its unit, range and sentence.
    """
    return {
        "name": name,
        "default": default,
        "unit": parameter.unit,
        "range": parameter.range,
        "help": parameter.help,
    }


def of_registry(registry: Registry[Any]) -> list[Item]:
    """Describe every component that has a name: first sentence of its docstring, and parameters."""
    from psm_sim.parameters import parameters_of

    items = []
    sources = {**dict.fromkeys(registry.names(), "built in"), **registry.installed()}
    for name, source in sources.items():
        cls = registry.get(name)
        summary = (inspect.getdoc(cls) or "").partition("\n\n")[0].replace("\n", " ").replace("``", "")
        rows = [row(key, each.default, each) for key, each in parameters_of(cls).items()]
        items.append({"name": name, "source": source, "summary": summary, "parameters": rows})
    return items


def show(kind: str, items: list[Item], remark: str, form: str) -> int:
    """Print a list; return the exit status, 0.

    Parameters
    ----------
    kind
        The key of the list in the JSON object, such as ``"policies"``.
    items
        One per name.
    remark
        A sentence below the table.
    form
        ``"json"`` for one JSON object, else a table.
    """
    if sys.flags.optimize > 1:
        from psm_sim.commands.messages import print_message

        print_message("descriptions are left out, since python -OO (PYTHONOPTIMIZE=2) drops them.")
    if form == "json":
        import json

        print(json.dumps({kind: items}, indent=2))  # noqa: T201
    else:
        from psm_sim.reporting.terminal.listing import write

        write(items, remark, sys.stdout)
    return 0

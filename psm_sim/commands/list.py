"""``psm_sim list``: the components and files that options can name, with their parameters."""

from __future__ import annotations

import argparse
import inspect
import json
import sys
from collections.abc import Callable, Collection
from functools import partial
from typing import Any, NamedTuple

from psm_sim.commands.shared_options import add_format
from psm_sim.common.errors import InputError
from psm_sim.common.formatting import flatten
from psm_sim.common.input_files import bundled_dir, bundled_names
from psm_sim.common.parameters import Parameter, parameters_of
from psm_sim.common.plugins import distribution_of, installed_entry_points
from psm_sim.common.registry import Registry, unknown_name_error
from psm_sim.losses import LOSSES
from psm_sim.network.chip_profiles import load_profile
from psm_sim.network.topology import conditions_of, load_topology, parameter_of
from psm_sim.policies import POLICIES
from psm_sim.reporting.terminal.listing import write_items
from psm_sim.simulation.preset import load_preset
from psm_sim.workload import load_workload
from psm_sim.workload.loading import ENTRY_POINT_GROUP
from psm_sim.workload.page_sampler import PageSampling
from psm_sim.workload.regimes import ShiftingProfile
from psm_sim.workload.traffic_file import Stretches, TrafficPart

HELP = """\
List policies, losses, topologies, traces, chip profiles or presets with their
parameters, or show one of them. Topologies, traces, profiles and presets are
shown as TOML files, which can be edited and used by their file names. With
--all they are shown as tables, with the meaning of each parameter."""

EPILOG = """\
examples:
  psm_sim list
  psm_sim list policies
  psm_sim list policies bsd
  psm_sim list topologies three-node --all
  psm_sim list topologies --format json
  psm_sim list traces ucb > mine.toml"""

ListEntry = dict[str, Any]
"""``summary`` of an entry, its ``parameters`` as rows of :func:`_row`, and its ``source`` for a chip."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.usage = "%(prog)s [KIND [NAME]] [options]"
    parser.add_argument("kind", nargs="?", choices=tuple(KINDS), help="kind of entries (default: count all)")
    parser.add_argument("name", nargs="?", metavar="NAME", help="entry to show (default: list all)")
    add_format(parser, ("table", "json"))
    parser.add_argument("--all", action="store_true", help="show a table of all parameters, expert ones too")


def run(arguments: argparse.Namespace) -> int:
    """Print the kinds, the entries of one kind, or one entry."""
    if arguments.all and (arguments.kind is None or arguments.format == "json"):
        reason = "JSON has all parameters" if arguments.format == "json" else "no parameters are listed"
        raise InputError(f"--all has no effect because {reason}; remove it.")
    if arguments.kind is None:
        _print_kinds(arguments.format)
    else:
        _print_entries(KINDS[arguments.kind], arguments)
    return 0


def _print_kinds(form: str) -> None:
    names = {name: list(kind.sources()) for name, kind in KINDS.items()}
    if form == "json":
        print(json.dumps(names, indent=2))  # noqa: T201
        return
    for name, kind in KINDS.items():
        print(f"{name:<10} {len(names[name]):>4}  {kind.summary}")  # noqa: T201
    print("\nList one kind:  psm_sim list KIND\nShow one:       psm_sim list KIND NAME")  # noqa: T201


def _print_entries(kind: EntryKind, arguments: argparse.Namespace) -> None:
    sources, name = kind.sources(), arguments.name
    if name is not None:
        if arguments.kind == "profiles" and name not in sources:  # the name of a board or a mode, or a file
            found = load_profile(name)
            name, sources = (name, {name: "user"}) if ".toml" in name else (found.name, sources)
        if name not in sources:
            raise unknown_name_error(kind.singular, name, sources)
        if sources[name] == "bundled" and arguments.format == "table" and not arguments.all:
            print((bundled_dir(kind.folder) / f"{name}.toml").read_text(encoding="utf-8"), end="")  # noqa: T201
            return
        sources = {name: sources[name]}
    items = [{"name": name, "source": source, **kind.entry(name)} for name, source in sources.items()]
    if arguments.format == "json":
        print(json.dumps({arguments.kind: items}, indent=2))  # noqa: T201
        return
    remark, hidden = kind.usage, 0
    for item in [] if arguments.all else items:
        shown = [row for row in item["parameters"] if not row["expert"]]
        hidden += len(item["parameters"]) - len(shown)
        item["parameters"] = shown
    if hidden:
        remark = f"{hidden} expert parameters are hidden; show them with --all.\n\n{remark}"
    write_items(items, remark, sys.stdout)


def _component(registry: Registry[Any], name: str) -> ListEntry:
    """Return the entry of a component: first paragraph of its docstring, and its parameters."""
    cls = registry.get(name)
    summary = (inspect.getdoc(cls) or "").partition("\n\n")[0].replace("\n", " ").replace("``", "")
    rows = [_row(key, each.default, each) for key, each in parameters_of(cls).items()]
    return {"summary": summary, "parameters": rows}


def _topology(name: str) -> ListEntry:
    topology = load_topology(name)
    rows = [_topology_row(key, value) for key, value in topology.config().items()]
    return {"summary": topology.description, "parameters": rows}


def _topology_row(key: str, value: Any) -> dict[str, Any]:
    """Return the row of a topology key. Keys in ``requires`` have their section, e.g. ``mac.model``."""
    requires = " and ".join(map(str, conditions_of(key)))
    return {**_row(key, value, parameter_of(key)), "requires": requires}


def _installed_traces() -> dict[str, str]:
    return {name: distribution_of(point) for name, point in installed_entry_points(ENTRY_POINT_GROUP).items()}


def _trace(name: str) -> ListEntry:
    workload = load_workload(name, 1, 1)
    # The parameters are read from a workload of one page, because they depend on the kind of trace.
    rows = [
        _row(key, value, _trace_parameter(key, workload.parameters))
        for key, value in workload.parameters.items()
    ]
    return {"summary": workload.remark, "parameters": rows}


def _trace_parameter(key: str, keys: Collection[str]) -> Parameter:
    """Return the declaration of the parameter *key* of a trace. *keys* are all parameters of the trace."""
    name, names = key.rpartition(".")[2], {other.rpartition(".")[2] for other in keys}
    for cls in (TrafficPart, Stretches, PageSampling, ShiftingProfile):
        parameters = parameters_of(cls)
        if name in parameters and parameters.keys() <= names:
            return parameters[name]
    return Parameter(name, None)


def _profile(name: str) -> ListEntry:
    """Return the entry of a chip profile, with the origin of each value as its help text."""
    profile = load_profile(name)
    rows = [
        {
            **_topology_row(key, value),
            "help": profile.origin.get(key, ""),
            "expert": False,
        }
        for key, value in profile.values.items()
    ]
    modes = f" Modes: {', '.join(profile.modes)}." if profile.modes else ""
    summary = f"{profile.description or profile.name}.{modes}"
    return {"summary": summary, "source": profile.source or "no source", "parameters": rows}


def _preset(name: str) -> ListEntry:
    preset = load_preset(name)
    values = {
        **flatten({preset.trace: preset.trace_parameters}),
        **flatten(preset.policies),
        **preset.settings,
    }
    rows = [_row(key, value, Parameter(key, value)) for key, value in values.items()]
    return {"summary": preset.description, "parameters": rows}


def _row(name: str, default: Any, parameter: Parameter) -> dict[str, Any]:
    """Return a parameter as plain values. Its *default* is in the unit of the parameter."""
    return {
        "name": name,
        "default": default,
        "unit": parameter.unit,
        "range": parameter.range,
        "help": parameter.help,
        "expert": parameter.expert,
        "requires": str(parameter.requires or ""),
    }


class EntryKind(NamedTuple):
    """Kind of entries, such as policies or traces.

    ``singular`` is the name of one entry in error messages. ``usage`` is the text below the list, which shows
    commands that use an entry. ``entry`` returns the entry of a name. ``folder`` is the folder of bundled
    files, or empty. ``others`` returns the names of the other entries, each with its source: a package or
    ``"built in"``.
    """

    singular: str
    summary: str
    usage: str
    entry: Callable[[str], ListEntry]
    folder: str = ""
    others: Callable[[], dict[str, str]] = dict

    def sources(self) -> dict[str, str]:
        """Return the source of each entry by name: ``"built in"``, ``"bundled"`` or a package."""
        bundled = dict.fromkeys(bundled_names(self.folder), "bundled") if self.folder else {}
        return bundled | {name: source for name, source in self.others().items() if name not in bundled}


KINDS = {
    "policies": EntryKind(
        "policy",
        "sleep policies",
        "Select one:    psm_sim --policy NAME:key=value,...\nUser-defined:  psm_sim --policy FILE.py:CLASS",
        partial(_component, POLICIES),
        others=POLICIES.sources,
    ),
    "losses": EntryKind(
        "loss",
        "loss functions of learning policies",
        """\
Select one:    psm_sim --policy lpsm:loss=NAME
Formula:       psm_sim --policy lpsm --loss "gamma * I * Ti**2 / (2*T) + 1/log(Ti)"
User-defined:  psm_sim --policy lpsm --loss FILE.py:CLASS""",
        partial(_component, LOSSES),
        others=LOSSES.sources,
    ),
    "topologies": EntryKind(
        "topology",
        "networks, with the value of every --set key",
        """\
Select one:    psm_sim --topology NAME
Override key:  psm_sim --set links.wired.latency_ms=80
User-defined:  psm_sim list topologies NAME > mine.toml; psm_sim --topology mine.toml""",
        _topology,
        "topologies",
    ),
    "traces": EntryKind(
        "trace",
        "Web pages and device traffic",
        """\
Select one:    psm_sim --trace NAME:key=value,...
Inspect one:   psm_sim trace info NAME
User-defined:  psm_sim list traces NAME > mine.toml; psm_sim --trace mine.toml""",
        _trace,
        "traces",
        _installed_traces,
    ),
    "profiles": EntryKind(
        "profile",
        "measured chips, with the origin of each value",
        """\
Select one:    psm_sim --profile NAME, or NAME:mode=modem-sleep
User-defined:  psm_sim list profiles NAME > mine.toml; psm_sim --profile mine.toml
Battery life:  psm_sim --profile NAME --battery 2000mAh""",
        _profile,
        "topologies/profiles",
    ),
    "presets": EntryKind(
        "preset",
        "trace, policy and topology parameters under one name",
        """\
Select one:    psm_sim --preset NAME
User-defined:  psm_sim list presets NAME > mine.toml; psm_sim --preset mine.toml""",
        _preset,
        "presets",
    ),
}
"""Kinds of entries by their name on the command line."""

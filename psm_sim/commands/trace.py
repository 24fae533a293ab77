"""``psm_sim trace``: inspection, conversion and fitting of traces."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psm_sim.commands.shared_options import add_common, add_force, integer_between, output_option
from psm_sim.commands.stderr_messages import print_message
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.common.formatting import format_seconds, pluralize
from psm_sim.common.input_files import read_toml
from psm_sim.common.input_limits import MAX_PAGES, MAX_SEED
from psm_sim.common.output_files import check_outputs
from psm_sim.common.parameters import build
from psm_sim.common.random_streams import random_stream
from psm_sim.reporting.columns import Column, text_column
from psm_sim.reporting.terminal.console import console_on, print_table
from psm_sim.reporting.terminal.progress import progress
from psm_sim.workload.capture_workloads import capture_options, no_pages_error
from psm_sim.workload.loading import find_trace, load_workload, trace_format
from psm_sim.workload.page_list import MissingValues, read_page_list, write_page_list
from psm_sim.workload.recorded_pages import select_clients
from psm_sim.workload.recordings.capture.ip_packets import TCP, UDP
from psm_sim.workload.recordings.capture.packet_capture import PacketCapture, read_capture
from psm_sim.workload.recordings.recording import PageRecording, recording_of_pages
from psm_sim.workload.regimes import Regimes, regimes_of
from psm_sim.workload.trace_profile import Profile, profile_of
from psm_sim.workload.traffic_file import TrafficPart, TrafficTrace, traffic_of

HELP = "Inspect, convert or fit a trace."

_FILE = "trace file with optional parameters: FILE[:key=value,...]"
_EVERY_PAGE = 2**62  # more pages than any file has


class Description(NamedTuple):
    """Description of a trace.

    Attributes
    ----------
    facts : dict of str to str
        Facts by name.
    table : list of Column
        Numbers.
    warnings : tuple of str
        Problems in the file that are not fatal.
    """

    facts: dict[str, str]
    table: list[Column]
    warnings: tuple[str, ...] = ()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the three actions and their options."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, prog=parser.prog)
    info = actions.add_parser("info", help="print format, duration, clients, pages and quantiles")
    info.add_argument("file", help=f"{_FILE}; or a bundled trace")
    convert = actions.add_parser("convert", help="convert pages to a page list")
    convert.add_argument("file", help=_FILE)
    convert.add_argument("--to", required=True, metavar="FILE.csv", help="output file of the page list")
    convert.add_argument(
        "--pages",
        type=integer_between(1, MAX_PAGES),
        metavar="N",
        help="number of pages (default: all, or 100 for a profile)",
    )
    convert.add_argument(
        "--seed", type=integer_between(0, MAX_SEED), metavar="N", help="random seed (default: 1)"
    )
    fit = actions.add_parser(
        "fit", help="fit a profile to the distributions of a trace, for use with --trace FILE.toml"
    )
    fit.add_argument("file", help=_FILE)
    fit.add_argument("--to", required=True, metavar="FILE.toml", help="output file of the profile")
    for action in (convert, fit):
        add_force(action)
    for action in (info, convert, fit):
        add_common(action)


def run(args: argparse.Namespace) -> int:
    """Run one action; the result goes to standard output, remarks to standard error."""
    {"info": _info, "convert": _convert, "fit": _fit}[args.action](args)
    return 0


def _info(args: argparse.Namespace) -> None:
    spec = Spec.parse(args.file, "trace")
    path = find_trace(spec.name)
    kind = trace_format(path)
    if kind == "profile":
        _check_unused(spec.values, "profiles are shown with their defaults")
        description = _describe_toml(path)
    elif kind == "capture":
        with progress("reading", "bytes") as callback:
            client = capture_options(path, spec.values).client
            description = _describe_capture(read_capture(path, client, callback))
    else:
        description = _describe_recording(_load_recording(path, spec, "replay")[0])
    _print_remarks(description.warnings)
    with console_on(sys.stdout) as console:
        for name, value in {"Trace": str(path), **description.facts}.items():
            line = f"{name:<8} {value}"
            console.print(fill(line, console.width, subsequent_indent=" " * 9, break_on_hyphens=False))
        console.print()
        print_table(console, description.table)


def _convert(args: argparse.Namespace) -> None:
    spec = Spec.parse(args.file, "trace")
    path = find_trace(spec.name)
    to = _target(args, (".csv", ".csv.gz"), [path, *spec.files()])
    kind = trace_format(path)
    if kind == "page list":
        _check_unused({"--seed": args.seed}, "a page list is not sampled")
    elif kind == "capture":
        raise no_pages_error(path)
    sampled = kind == "profile" or spec.values.get("workload") == "sample"
    pages = args.pages if args.pages is not None else 100 if sampled else _EVERY_PAGE
    workload = load_workload(spec, pages, 1 if args.seed is None else args.seed)
    if not workload.has_pages:
        raise InputError(f"trace {workload.name} has only messages; a page list requires a trace with pages.")
    count = write_page_list(to, workload.pages)
    print_message(f"Wrote {pluralize(count, 'page')} to {to}: {workload.remark}")


def _fit(args: argparse.Namespace) -> None:
    from psm_sim.workload.profile_fitting import fit_profile, write_profile

    spec = Spec.parse(args.file, "trace")
    path = find_trace(spec.name)
    to = _target(args, (".toml",), [path, *spec.files()])
    if trace_format(path) == "profile":
        raise InputError(f"{path} is already a profile; expected a recording or a page list.")
    recording, clients = _load_recording(path, spec, "sample")
    profile = fit_profile(recording, path.name, clients)
    write_profile(to, profile)
    _print_remarks((*recording.warnings, f"Wrote profile {to}: {profile.remark}"))


def _target(args: argparse.Namespace, suffixes: tuple[str, ...], inputs: Sequence[Path]) -> Path:
    """Return the path of ``--to`` after checking its suffix, and that it would not replace an input."""
    to = output_option("--to", args.to, *suffixes)
    check_outputs([("--to", to)], inputs, force=args.force)
    return to


def _print_remarks(remarks: Sequence[str]) -> None:
    for remark in remarks:
        print_message(remark)


def _load_recording(path: Path, spec: Spec, use: str) -> tuple[PageRecording, NDArray[np.intp] | None]:
    """Return a recording, and the indices of the selected clients (None for a page list).

    *use* is the default of the parameter ``workload``: ``"replay"`` or ``"sample"``.
    """
    kind = trace_format(path)
    if kind == "page list":
        missing = build(MissingValues, spec.values, f"page list {path.name}")
        return recording_of_pages(read_page_list(path, missing), path.name), None
    unused = {name: spec.values.get(name) for name in ("request_bytes", "server_delay_ms")}
    _check_unused(unused, "it only applies when pages are simulated")
    if kind == "capture":
        raise no_pages_error(path)
    with progress("reading", "bytes") as callback:
        selection = select_clients(path, spec.with_defaults({"workload": use}).values, callback)
        return selection.recording, selection.clients


def _check_unused(values: Mapping[str, Any], reason: str) -> None:
    """Raise InputError with the *reason* if one of the *values* is not None."""
    for name, value in values.items():
        if value is not None:
            raise InputError(f"{name}={value} has no effect because {reason}; remove it.")


def _describe_toml(path: Path) -> Description:
    """Describe a TOML file: a profile, a trace with regimes or a traffic trace."""
    document = read_toml(path, "trace profile")
    if "traffic" in document:
        traffic = traffic_of(document, path)
        kind = "a page after each" if traffic.page_bytes else "none; pauses of"
        pages = "sampled" if traffic.profile else f"{kind} {traffic.stretch_s} s"
        return Description({**_facts("traffic trace", traffic), "Pages": pages}, _part_table(traffic))
    if "regimes" in document:
        regimes = regimes_of(document, path)
        order = "+".join(f"{name}*{pages}" for name, pages in regimes.pages.items())
        return Description({**_facts("trace with regimes", regimes), "Order": order}, _regime_table(regimes))
    profile = profile_of(document, path)
    rows = {name: (table.mean, *table.at(QUANTILES)) for name, table in profile.tables.items()}
    return Description(_facts("trace profile", profile), _table(_HEADS, rows))


def _facts(file_format: str, trace: Profile | Regimes | TrafficTrace) -> dict[str, str]:
    return {
        "Format": file_format + (", synthetic" if trace.synthetic else ""),
        "Name": trace.name,
        "Remark": trace.remark,
        "Source": trace.source or "unknown",
    }


def _regime_table(regimes: Regimes) -> list[Column]:
    """Return a table with one row per regime: pages per segment, means per page, duration of a segment."""
    rows = {}
    for name, pages in regimes.pages.items():
        tables = regimes.profiles[name].tables
        think_s = tables["think_s"].mean
        delay_s = tables["server_delay_s"].mean if "server_delay_s" in tables else 0.0
        size = tables.get("reply_bytes") or tables["image_bytes"]
        objects = tables["files_per_page"].mean
        rows[name] = (pages, think_s, delay_s, objects, size.mean, pages * (think_s + delay_s))
    return _table(("pages", "think s", "delay s", "objects", "bytes each", "segment s"), rows)


def _part_table(traffic: TrafficTrace) -> list[Column]:
    """Return a table with one row per part: its parameters, and its messages in an hour with seed 1."""
    rows = {}
    for name, texts in traffic.parts.items():
        owner = f"trace {traffic.name}: {name}"
        part: TrafficPart = build(TrafficPart, texts, owner)
        sent = part.rows(_HOUR_S, 0, random_stream(1, traffic.streams[name]), owner).size
        sizes = (part.bytes, part.reply_bytes)
        rows[name] = (part.sender, part.transport, part.timing, part.period_s, *sizes, sent)
    return _table(("sender", "transport", "timing", "period s", "bytes", "reply", "an hour"), rows)


def _describe_recording(recording: PageRecording) -> Description:
    busiest = int(recording.busiest()[0])
    span = recording.pages_of(busiest)
    facts = {
        "Format": recording.format,
        "Records": f"{recording.records:,}",
        "Span": format_seconds(recording.span_s) if recording.span_s else "unknown",
        "Clients": f"{len(recording.clients):,} (busiest: {recording.clients[busiest]}, "
        f"{pluralize(span.stop - span.start, 'page')})",
        "Pages": f"{recording.pages:,}",
        "Objects": f"{recording.size.size:,}",
    }
    return Description(facts, _quantile_table(_page_quantities(recording)), recording.warnings)


def _describe_capture(capture: PacketCapture) -> Description:
    """Return the packets per direction."""
    protocol = capture.rows["protocol"]
    kinds = {"TCP": protocol == TCP, "UDP": protocol == UDP, "other": ~np.isin(protocol, (TCP, UDP))}
    facts = {
        "Format": capture.format,
        "Frames": f"{capture.frames:,} ({pluralize(capture.packets, 'IP packet')})",
        "Client": f"{capture.client}, {pluralize(capture.rows.size, 'packet')}",
        "Span": format_seconds(float(capture.at_s[-1])),
        "Busiest": ", ".join(f"{address} ({count:,})" for address, count in capture.others),
        "Packets": ", ".join(f"{name} {int(mask.sum()):,}" for name, mask in kinds.items()),
    }
    quantities: dict[str, NDArray[Any]] = {}
    for name, mask in (("down", ~capture.uplink), ("up", capture.uplink)):
        quantities[f"{name}, between s"] = np.diff(capture.at_s[mask])
        quantities[f"{name}, bytes"] = capture.rows["length"][mask]
    return Description(facts, _quantile_table(quantities), capture.warnings)


def _page_quantities(recording: PageRecording) -> dict[str, NDArray[Any]]:
    is_main = recording.is_main
    requests = np.empty(0) if recording.request_bytes is None else recording.request_bytes
    return {
        "think time, s": recording.think_s[~np.isnan(recording.think_s)],
        "objects per page": recording.objects_per_page,
        "main object, B": recording.size[is_main],
        "embedded object, B": recording.size[~is_main],
        "request, B": requests[requests > 0],
        "server delay, s": recording.delay_us[recording.delay_us >= 0] / 1e6,
    }


# The outer deciles, the quartiles, and the upper tail, which determines the longest page times.
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)
_HEADS = ("mean", *(f"{p:.0%}" for p in QUANTILES[:-1]), "max")
_HOUR_S = 3600.0  # messages per hour are shown


def _quantile_table(quantities: Mapping[str, NDArray[Any]]) -> list[Column]:
    """Return the mean and the quantiles of each quantity that has values."""
    rows = {
        name: (float(values.mean()), *np.quantile(values, QUANTILES))
        for name, values in quantities.items()
        if values.size
    }
    return _table(_HEADS, rows)


def _table(heads: Sequence[str], rows: Mapping[str, Sequence[Any]]) -> list[Column]:
    columns = zip(heads, zip(*rows.values(), strict=True), strict=True)
    return [
        text_column("", list(rows)),
        *(
            Column(head, list(map(_number, values)), is_text=isinstance(values[0], str))
            for head, values in columns
        ),
    ]


def _number(value: Any) -> str:
    """Format a number with at least three digits and rarely an exponent."""
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if 1000 <= value < 1e7 else f"{value:.3g}"

"""``psm_sim trace``: inspection, conversion, fitting and synthesis of traces."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psm_sim.commands.shared_options import add_common, add_force, integer_between, path_option
from psm_sim.commands.stderr_messages import print_message
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.common.formatting import escape_unprintable, format_duration
from psm_sim.common.input_files import read_toml
from psm_sim.common.input_limits import MAX_PAGES, MAX_RECORDS, MAX_SEED
from psm_sim.common.output_files import check_outputs, check_writable
from psm_sim.common.parameters import build
from psm_sim.common.random_streams import random_stream
from psm_sim.reporting.terminal.progress import progress
from psm_sim.workload import Workload
from psm_sim.workload.capture_workloads import CapturedTrace, capture_at, is_capture_file
from psm_sim.workload.loading import find_trace, is_page_list, is_profile, load_workload
from psm_sim.workload.page_list import MissingValues, read_page_list, write_page_list
from psm_sim.workload.recorded_pages import select_clients
from psm_sim.workload.recordings.capture.ip_packets import TCP, UDP
from psm_sim.workload.recordings.recording import Recording, recording_of_pages
from psm_sim.workload.regimes import Regimes, regimes_of
from psm_sim.workload.trace_profile import Profile, profile_of, read_profile
from psm_sim.workload.traffic_file import TrafficPart, TrafficTrace, traffic_of

HELP = "Inspect, convert, fit or synthesize a trace."

_FILE = "trace file with optional parameters: FILE[:key=value,...]"
_EVERY_PAGE = 2**62


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the four actions and their options."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, prog=parser.prog)
    info = actions.add_parser(
        "info", help="print format, duration, clients, pages, quantiles and a histogram"
    )
    info.add_argument("file", help=f"{_FILE}; or a bundled trace")
    convert = actions.add_parser(
        "convert", help="convert pages to a page list, or UCB records to the other UCB format"
    )
    convert.add_argument("file", help=_FILE)
    convert.add_argument(
        "--to",
        required=True,
        metavar="FILE",
        help="output file: .csv for pages; .tr, .tr.gz or .txt for records",
    )
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
    make = actions.add_parser("synthesize", help="sample a UCB trace from published distributions")
    make.add_argument(
        "--records",
        type=integer_between(1, MAX_RECORDS),
        required=True,
        metavar="N",
        help="number of records",
    )
    make.add_argument("--to", required=True, metavar="FILE", help="output file ending in .tr or .tr.gz")
    make.add_argument(
        "--profile", default="ucb", metavar="NAME", help="profile of the distributions (default: %(default)s)"
    )
    make.add_argument(
        "--seed",
        type=integer_between(0, MAX_SEED),
        default=1,
        metavar="N",
        help="random seed (default: %(default)s)",
    )
    for action in (convert, fit, make):
        add_force(action)
    for action in (info, convert, fit, make):
        add_common(action)


def run(args: argparse.Namespace) -> int:
    """Run one action; the result goes to standard output, remarks to standard error."""
    actions = {"info": _info, "convert": _convert, "fit": _fit, "synthesize": _synthesize}
    return actions[args.action](args)


def _info(args: argparse.Namespace) -> int:
    spec = Spec.parse(args.file, "trace")
    path = find_trace(spec.name)
    if is_profile(path):
        _check_unused(spec.values, "profiles are shown with their defaults")
        print(_describe_toml(path))  # noqa: T201
        return 0
    if not is_page_list(path) and is_capture_file(path):
        with progress("reading", "bytes") as callback:
            captured = capture_at(path, spec.values, callback)
        warnings, text = captured.capture.warnings, describe_capture(captured)
    else:
        recording, _ = _load_recording(path, spec, "replay")
        warnings, text = recording.warnings, describe_recording(recording)
    _print_remarks(warnings)
    print(f"Trace    {escape_unprintable(str(path))}\n{text}")  # noqa: T201
    return 0


def _describe_toml(path: Path) -> str:
    document = read_toml(path, "trace profile")
    if "pushes" in document:
        return describe_pushes(load_workload(str(path), 1, 1))
    if "traffic" in document:
        return describe_traffic(traffic_of(document, path))
    if "regimes" in document:
        return describe_regimes(regimes_of(document, path))
    return describe_profile(profile_of(document, path))


def _convert(args: argparse.Namespace) -> int:
    from psm_sim.workload.recordings.ucb_format import FORMS, is_ucb_name

    spec, to = Spec.parse(args.file, "trace"), path_option("--to", args.to)
    path = find_trace(spec.name)
    _check_target(to, [path, *spec.files()], args)
    if is_ucb_name(to):
        unused = {**spec.values, "--pages": args.pages, "--seed": args.seed}
        _check_unused(unused, f"records are written to {to.name} unchanged")
        return _convert_records(path, to)
    if not is_page_list(to):
        raise InputError(f"--to must be a name ending in .csv, {', '.join(FORMS)}, got {args.to!r}.")
    if not (is_profile(path) or is_page_list(path)) and is_capture_file(path):
        spec = spec.with_default("mode", "closed")
    sampled = is_profile(path) or spec.values.get("workload") == "sample"
    if is_page_list(path):
        _check_unused({"--seed": args.seed}, "a page list is not sampled")
    pages = args.pages if args.pages is not None else 100 if sampled else _EVERY_PAGE
    workload = load_workload(spec, pages, 1 if args.seed is None else args.seed)
    _check_pages(workload)
    count = write_page_list(to, workload.pages)
    _print_remarks((f"Wrote {count:,} pages to {to}: {workload.remark}",))
    return 0


def _convert_records(path: Path, to: Path) -> int:
    from psm_sim.workload.recordings.recording_reader import ucb_batches_of
    from psm_sim.workload.recordings.ucb_format import write_batches

    with progress("converting", "bytes") as callback:
        source, batches = ucb_batches_of(path, callback)
        count = write_batches(to, batches)
    _print_remarks((*source.warnings, f"Wrote {count:,} records to {to}"))
    return 0


def _fit(args: argparse.Namespace) -> int:
    from psm_sim.workload.profile_fitting import fit_profile, write_profile

    spec, to = Spec.parse(args.file, "trace"), path_option("--to", args.to)
    path = find_trace(spec.name)
    _check_target(to, [path, *spec.files()], args)
    if to.suffix.lower() != ".toml":
        raise InputError(f"--to must be a name ending in .toml, got {args.to!r}.")
    if is_profile(path):
        raise InputError(f"{path} is already a profile; expected a recording or a page list.")
    recording, clients = _load_recording(path, spec, "sample")
    profile = fit_profile(recording, path.name, clients)
    write_profile(to, profile)
    _print_remarks((*recording.warnings, f"Wrote profile {to}: {profile.remark}"))
    return 0


def _synthesize(args: argparse.Namespace) -> int:
    from psm_sim.workload.recordings.synthetic_ucb import synthesize_ucb

    to = path_option("--to", args.to)
    if not to.name.lower().endswith((".tr", ".tr.gz")):
        raise InputError(f"--to must be a name ending in .tr or .tr.gz, got {args.to!r}.")
    path = _profile_path(args.profile)
    _check_target(to, [path], args)
    profile = read_profile(path)
    with progress("writing", "records") as callback:
        clients = synthesize_ucb(to, args.records, profile, args.seed, callback)
    _print_remarks((f"Wrote {args.records:,} synthetic records of {clients:,} clients to {to}",))
    return 0


def _profile_path(name: str) -> Path:
    path = find_trace(name)
    if not is_profile(path):
        raise InputError(f"--profile must be a bundled trace or a .toml file, got {name!r}.")
    return path


def _print_remarks(remarks: tuple[str, ...]) -> None:
    for remark in remarks:
        print_message(remark)


def _load_recording(path: Path, spec: Spec, use: str) -> tuple[Recording, NDArray[np.intp] | None]:
    """Return a recording and the indices of the selected clients, or None if the file has a single client.

    *use* is the default of the parameter ``workload``: ``"replay"`` or ``"sample"``.
    """
    if is_page_list(path):
        missing = build(MissingValues, spec.values, f"page list {path.name}")
        return recording_of_pages(read_page_list(path, missing), "page list", path.name), None
    unused = {name: spec.values.get(name) for name in ("request_bytes", "server_delay_ms")}
    _check_unused(unused, "it only applies when pages are simulated")
    with progress("reading", "bytes") as callback:
        if is_capture_file(path):
            return capture_at(path, spec.with_default("mode", "closed").values, callback).recording, None
        selection = select_clients(path, spec.with_default("workload", use).values, callback)
        return selection.recording, selection.clients


def _check_unused(values: Mapping[str, Any], reason: str) -> None:
    """Raise InputError if one of *values* is set, because it has no effect for the given *reason*."""
    for name, value in values.items():
        if value is not None:
            raise InputError(f"{name}={value} has no effect because {reason}; remove it.")


def _check_pages(workload: Workload) -> None:
    """Raise InputError if the trace has no page views, because its page list would be empty."""
    if not any(page.objects for page in workload.pages):
        raise InputError(f"trace {workload.name} has only messages; a page list requires a trace with pages.")


def _check_target(to: Path, inputs: Sequence[Path], args: argparse.Namespace) -> None:
    """Raise InputError if the output file *to* is one of the *inputs*, not writable, or exists already."""
    check_writable(to)
    check_outputs([("--to", to)], inputs, force=args.force)


QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)
_HEADS = ("mean", *(f"{p:.0%}" for p in QUANTILES[:-1]), "max")
_BAR_WIDTH = 40
_HOUR_S = 3600.0
_PART_HEADS = ("sender", "transport", "timing", "period s", "bytes", "answer", "an hour")


def describe_recording(recording: Recording) -> str:
    """Return the description of a recording."""
    busiest = int(recording.busiest()[0])
    span = recording.pages_of(busiest)
    facts = {
        "Format": recording.format,
        "Records": f"{recording.records:,}",
        "Span": format_duration(recording.span_s) if recording.span_s else "unknown",
        "Clients": f"{len(recording.clients):,} (busiest: {recording.clients[busiest]}, "
        f"{span.stop - span.start:,} pages)",
        "Pages": f"{recording.pages:,}",
        "Objects": f"{recording.size.size:,}",
    }
    return "\n".join([*_fact_lines(facts), "", *_page_lines(recording)])


def describe_capture(captured: CapturedTrace) -> str:
    """Return the description of a capture: packets per direction and reconstructed pages."""
    capture = captured.capture
    protocol = capture.rows["protocol"]
    kinds = {"TCP": protocol == TCP, "UDP": protocol == UDP, "other": ~np.isin(protocol, (TCP, UDP))}
    facts = {
        "Format": capture.format,
        "Frames": f"{capture.frames:,} ({capture.packets:,} IP packets)",
        "Client": f"{capture.client}, {capture.rows.size:,} packets",
        "Span": format_duration(float(capture.at_s[-1])),
        "Busiest": ", ".join(f"{address} ({count:,})" for address, count in capture.others),
        "Packets": ", ".join(f"{name} {int(mask.sum()):,}" for name, mask in kinds.items()),
    }
    rows = [line for name, up in (("down", False), ("up", True)) for line in _packet_rows(captured, name, up)]
    return "\n".join([*_fact_lines(facts), "", *_quantile_table(rows), "", *_reconstructed_pages(captured)])


def _packet_rows(captured: CapturedTrace, name: str, up: bool) -> list[str]:
    mask = captured.capture.uplink == up
    gaps_s, sizes = np.diff(captured.capture.at_s[mask]), captured.capture.rows["length"][mask]
    return [_quantile_row(f"{name}, between s", gaps_s), _quantile_row(f"{name}, bytes", sizes)]


def _reconstructed_pages(captured: CapturedTrace) -> list[str]:
    try:
        return _page_lines(captured.recording)
    except InputError as error:
        return [str(error)]


def describe_profile(profile: Profile) -> str:
    """Return the description of a trace profile."""
    facts = {
        "Format": "trace profile" + (", synthetic" if profile.synthetic else ""),
        "Name": profile.name,
        "Remark": profile.remark,
        "Source": profile.source or "unknown",
    }
    rows = [_row(name, table.mean, table.at(QUANTILES)) for name, table in profile.tables.items()]
    think = profile.tables["think_s"].at((np.arange(100_000) + 0.5) / 100_000)
    return "\n".join([*_fact_lines(facts), "", *_quantile_table(rows), *_histogram(think)])


def describe_pushes(workload: Workload) -> str:
    """Return the description of push traffic: the number and the intervals of one sampled hour."""
    intervals_s = np.diff(workload.messages.at_s)
    facts = {
        "Format": "push traffic, synthetic",
        "Name": workload.name,
        "Remark": workload.remark,
        "Pushes": f"{len(workload.messages):,} in the first hour, with the default parameters and seed 1",
    }
    row = _row("between_s", float(intervals_s.mean()), np.quantile(intervals_s, QUANTILES))
    return "\n".join([*_fact_lines(facts), "", *_quantile_table([row])])


def describe_regimes(regimes: Regimes) -> str:
    """Return the description of a trace with regimes: their means and durations."""
    facts = {
        "Format": "trace profile with regimes" + (", synthetic" if regimes.synthetic else ""),
        "Name": regimes.name,
        "Remark": regimes.remark,
        "Source": regimes.source or "unknown",
        "Order": "+".join(f"{name}*{pages}" for name, pages in regimes.pages.items()),
    }
    heads = ("pages", "think s", "delay s", "objects", "bytes each", "stretch s")
    rows = ["means".ljust(20) + "".join(f"{head:>12}" for head in heads)]
    for name, pages in regimes.pages.items():
        tables = regimes.profiles[name].tables
        think_s, objects = tables["think_s"].mean, tables["files_per_page"].mean
        delay_s = tables["server_delay_s"].mean if "server_delay_s" in tables else 0.0
        size = tables.get("reply_bytes", tables.get("image_bytes"))
        size_bytes = size.mean if size is not None else np.nan
        numbers = (pages, think_s, delay_s, objects, size_bytes, pages * (think_s + delay_s))
        rows.append(f"{name:<20}" + "".join(f"{_number(number):>12}" for number in numbers))
    return "\n".join(
        [
            *_fact_lines(facts),
            "",
            *rows,
            "",
            "stretch: duration of a regime, think time and server delay per page",
        ]
    )


def describe_traffic(traffic: TrafficTrace) -> str:
    """Return the description of a traffic trace: the defaults of each part, and its messages per hour.

    The hour is sampled with seed 1.
    """
    pages = f"sampled from {traffic.name}" if traffic.profile else f"none; pauses of {traffic.stretch_s} s"
    facts = {
        "Format": "traffic trace" + (", synthetic" if traffic.synthetic else ""),
        "Name": traffic.name,
        "Remark": traffic.remark,
        "Source": traffic.source or "unknown",
        "Pages": pages,
    }
    heads = "part".ljust(16) + "".join(f"{head:>11}" for head in _PART_HEADS)
    rows = [_part_row(name, texts, traffic.name) for name, texts in traffic.parts.items()]
    return "\n".join([*_fact_lines(facts), "", heads, *rows])


def _part_row(name: str, texts: dict[str, str], trace: str) -> str:
    owner = f"trace {trace}: {name}"
    part: TrafficPart = build(TrafficPart, texts, owner)
    sent = part.rows(_HOUR_S, 0, random_stream(1, f"workload.traffic.{name}"), owner).size
    cells = (
        part.sender, part.transport, part.timing, f"{part.period_s:g}", f"{part.bytes:,}",
        f"{part.reply_bytes:,}", f"{sent:,}"
    )  # fmt: skip
    return name.ljust(16) + "".join(f"{cell:>11}" for cell in cells)


def _page_lines(recording: Recording) -> list[str]:
    """Return the lines of the page quantiles and the histogram of think times."""
    rows = [_quantile_row(name, values, unit) for name, values, unit in _quantities(recording)]
    think = recording.think_s[~np.isnan(recording.think_s)]
    return [*_quantile_table(rows), *_histogram(think)]


def _quantile_row(name: str, values: NDArray[Any], unit: float = 1.0) -> str:
    """Return a line with the mean and the quantiles of values, which are reordered in place, times *unit*."""
    return _row(name, *_mean_and_quantiles(values, unit))


def _quantities(recording: Recording) -> Iterator[tuple[str, NDArray[Any], float]]:
    """Yield name, values and unit of each quantity; a generator, since a trace may be large."""
    yield "think time, s", recording.think_s[~np.isnan(recording.think_s)], 1.0
    yield "objects per page", recording.objects_per_page, 1.0
    yield "main object, B", recording.size[recording.first[:-1]], 1.0
    is_embedded = np.ones(recording.size.size, dtype=bool)
    is_embedded[recording.first[:-1]] = False
    yield "embedded object, B", recording.size[is_embedded], 1.0
    if recording.request_bytes is not None:
        yield "request, B", recording.request_bytes[recording.request_bytes > 0], 1.0
    yield "server delay, s", recording.delay_us[recording.delay_us >= 0], 1e-6


def _mean_and_quantiles(values: NDArray[Any], unit: float) -> tuple[float, NDArray[Any]]:
    if not values.size:
        return np.nan, np.full(len(QUANTILES), np.nan)
    return float(values.mean()) * unit, np.quantile(values, QUANTILES, overwrite_input=True) * unit


def _fact_lines(facts: dict[str, str]) -> list[str]:
    """Return one line for each fact, starting with its name."""
    return [f"{name:<8} {escape_unprintable(value)}" for name, value in facts.items()]


def _row(name: str, mean: float, quantiles: NDArray[Any]) -> str:
    return f"{name:<20}" + "".join(f"{_number(value):>10}" for value in (mean, *quantiles.tolist()))


def _quantile_table(rows: list[str]) -> list[str]:
    """Return the lines of a table of quantiles, with a heading."""
    return ["quantiles".ljust(20) + "".join(f"{head:>10}" for head in _HEADS), *rows]


def _number(value: float) -> str:
    """Format a number in at most nine characters, with at least three digits and rarely an exponent."""
    if np.isnan(value):
        return "-"
    if value >= 1000:
        return f"{value:,.0f}" if value < 1e7 else f"{value:.3g}"
    return f"{value:.3g}"


def _histogram(think_s: NDArray[Any]) -> list[str]:
    """Return the lines of a histogram of think times with two bars per decade, from the first to the last."""
    if not think_s.size:
        return []
    edges = [0.0, *(10 ** (k / 2) for k in range(11)), np.inf]
    counts = np.histogram(think_s, edges)[0]
    filled = np.flatnonzero(counts)
    lines = ["", "think time, s"]
    for bin_ in range(filled[0], filled[-1] + 1):
        share, bar = counts[bin_] / think_s.size, "#" * round(_BAR_WIDTH * counts[bin_] / counts.max())
        low, high = _number(edges[bin_]), _number(edges[bin_ + 1])
        lines.append(f"{low:>8} - {high:<8} {share:>6.1%}  {bar}".rstrip())
    return lines

"""``psm_sim trace``: inspection, conversion, fitting and synthesis of traces."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psm_sim.commands.shared_options import add_common, add_force, integer_between, path_option
from psm_sim.commands.stderr_messages import print_message
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.common.formatting import escape_unprintable
from psm_sim.common.input_files import read_toml
from psm_sim.common.input_limits import MAX_PAGES, MAX_RECORDS, MAX_SEED
from psm_sim.common.output_files import check_outputs, check_writable
from psm_sim.common.parameters import build
from psm_sim.reporting.terminal.progress import progress
from psm_sim.workload import Workload
from psm_sim.workload.capture_workloads import capture_at, is_capture_file
from psm_sim.workload.loading import find_trace, is_page_list, is_profile, load_workload
from psm_sim.workload.page_list import MissingValues, read_page_list, write_page_list
from psm_sim.workload.recorded_pages import select_clients
from psm_sim.workload.recordings.recording import Recording, recording_of_pages
from psm_sim.workload.trace_profile import profile_of, read_profile

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
    from psm_sim.commands.trace_descriptions import describe_capture, describe_recording

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
    from psm_sim.commands.trace_descriptions import (
        describe_profile,
        describe_pushes,
        describe_regimes,
        describe_traffic,
    )
    from psm_sim.workload.regimes import regimes_of
    from psm_sim.workload.traffic_file import traffic_of

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

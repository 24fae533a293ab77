"""``psm_sim`` without a subcommand: comparison of policies on the same pages."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from psm_sim.commands.shared_options import (
    access_point_settings,
    add_access_point,
    add_force,
    add_format,
    add_policies_and_pages,
    add_replications,
    add_scenario,
    add_workers,
    measured_profile,
    parse_settings,
    plot_option,
)
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.common.user_code_guards import limits_user_code

if TYPE_CHECKING:
    from psm_sim.simulation import Comparison, References, Scenario
    from psm_sim.simulation.run_outputs import RunOutputs

HELP = """\
Simulate a power-saving Wi-Fi client and compare sleep policies. Reports energy
per page by radio state, and slowdown relative to an always-on radio."""

EPILOG = """\
examples:
  psm_sim --policy lpsm --trace ucb
  psm_sim --policy psm --policy bsd:p=0.5 --pages 500 --seed 7 --output results
  psm_sim --policy my.py:EveryThird --trace my.tr.gz:clients=10 --format json

Without options: always-on, psm, bsd, lpsm and anticipate, with 10 replications.
The ucb trace is synthetic. Its pages are sampled from Web distributions
measured at Berkeley (Mah 1997) and are not a recording of real users.

Results go to standard output, progress and remarks to standard error. Exit
status: 0; 2 for an error in the input, reported in one line; 130 if interrupted."""


DEFAULT_POLICIES = ("bsd", "lpsm", "anticipate")
"""Policies of a run without arguments, in addition to the baselines."""

DEFAULT_REPLICATIONS = 10
"""Number of replications of a run without arguments."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of a run: workload, scenario, comparison, output and execution."""
    add_policies_and_pages(parser)
    add_access_point(add_scenario(parser))
    comparison = parser.add_argument_group("comparison")
    add_replications(
        comparison, "number of seeds, from --seed on; adds 95 %% confidence intervals (default: 1)"
    )
    comparison.add_argument("--against", metavar="POLICY", help="reference of relative values (default: psm)")
    comparison.add_argument(
        "--no-baselines", action="store_true", help="do not run the baselines always-on and psm"
    )
    output = parser.add_argument_group("output")
    add_format(output, ("table", "json", "csv", "latex"))
    output.add_argument("--output", metavar="DIR", help="folder for report.html, JSON, CSV and figures")
    output.add_argument(
        "--figure-format",
        type=_figure_formats,
        metavar="FORMATS",
        help="formats of the figures: svg, png or pdf, or several such as svg,png (default: svg)",
    )
    output.add_argument(
        "--plot",
        metavar="FILE",
        help="plot energy against slowdown with the best known frontier, as .png, .svg or .pdf",
    )
    output.add_argument(
        "--capture", metavar="FILE.pcap", help="802.11 frames for Wireshark, a file per policy"
    )
    output.add_argument(
        "--timeline",
        metavar="FILE.json",
        help="write radio states, decisions and transfers for Perfetto, one file per policy",
    )
    add_force(output)
    add_workers(parser, "worker processes (default: all cores)")


def _figure_formats(text: str) -> tuple[str, ...]:
    from psm_sim.reporting.figures.canvas import FORMATS

    formats = tuple(dict.fromkeys(name.strip().lower() for name in text.split(",")))
    if not set(formats) <= FORMATS.keys():
        raise argparse.ArgumentTypeError(
            f"must be svg, png or pdf, or several separated by commas, got {text!r}"
        )
    return formats


@dataclass(frozen=True)
class _Request:
    """Checked request of a run: what to simulate, and what to write.

    ``form`` is the format of the report. ``facts`` describe the command for the result folder; they are empty
    without *folder*.
    """

    policies: list[Spec]
    scenario: Scenario
    references: References
    preset: str
    replications: int
    workers: int | None
    max_latency_s: float | None
    form: str
    folder: Path | None
    formats: Sequence[str]
    plot: Path | None
    outputs: RunOutputs
    facts: Mapping[str, Any]


def run(arguments: argparse.Namespace) -> int:
    """Run the comparison and report it."""
    from psm_sim.reporting.files.result_folder import write_results

    request = _read_request(arguments)
    finished: list[Comparison] = []
    try:
        # Only results go to standard output. Policies may print, also while the figures repeat their runs.
        with redirect_stdout(sys.stderr):
            finished.append(_simulate(request, finished.append))
            if request.folder is not None:
                options = request.facts, request.workers, request.formats
                write_results(request.folder, finished[-1], *options)
    except BaseException as error:
        if finished and finished[-1].runs:
            _keep(request, finished[-1], error)
        raise
    _report(finished[-1], request)
    _plot(finished[-1], request)
    _name_files(request)
    return 0


def _read_request(arguments: argparse.Namespace) -> _Request:
    """Return what the options request, after all checks that need no simulation."""
    from psm_sim.reporting.files.result_folder import output_paths, provenance_of, usable_folder
    from psm_sim.simulation.run_outputs import RunOutputs

    start = datetime.now(UTC)
    outputs = RunOutputs.of(arguments.capture, arguments.timeline)
    folder = usable_folder(arguments.output) if arguments.output is not None else None
    formats = arguments.figure_format or ("svg",)
    if folder is None and arguments.figure_format is not None:
        raise InputError("--figure-format has no effect without --output; add --output or remove it.")
    plot = None if arguments.plot is None else plot_option(arguments.plot)
    with redirect_stdout(sys.stderr):  # user code may print
        policies, scenario, references, preset = parse(arguments)
    written = [] if folder is None else [("--output", path) for path in output_paths(folder, formats)]
    written += [] if plot is None else [("--plot", plot)]
    _check_files([*written, *outputs.files(policies)], policies, scenario, arguments)
    return _Request(
        policies,
        scenario,
        references,
        preset,
        arguments.replications or (1 if arguments.argv else DEFAULT_REPLICATIONS),
        arguments.workers,
        arguments.latency,
        arguments.format,
        folder,
        formats,
        plot,
        outputs,
        {} if folder is None else provenance_of(arguments.argv, start, scenario.files(policies)),
    )


def _simulate(request: _Request, keep: Callable[[Comparison], None]) -> Comparison:
    """Return the comparison; if it fails or is interrupted, call *keep* with the finished part."""
    from psm_sim.reporting.terminal.progress import progress
    from psm_sim.simulation import run_comparison

    def completed(comparison: Comparison) -> Comparison:
        return replace(comparison, max_latency_s=request.max_latency_s, preset=request.preset)

    with progress("simulating", "pages") as report:
        return completed(
            run_comparison(
                request.policies,
                request.scenario,
                request.replications,
                report,
                request.workers,
                request.references,
                request.outputs,
                lambda partial: keep(completed(partial)),
                isolated=limits_user_code(),
            )
        )


def _keep(request: _Request, comparison: Comparison, error: BaseException) -> None:
    """Report the part finished before *error*, and write it unless *error* is due to an unwritable file."""
    from psm_sim.commands.stderr_messages import print_message
    from psm_sim.reporting.files.result_folder import PARTIAL_NAMES, write_partial_results

    _report(comparison, request)
    is_unwritable = isinstance(error, InputError) and not comparison.missing
    if request.folder is None or is_unwritable:
        return
    try:
        write_partial_results(request.folder, comparison, request.facts, error)
        print_message(f"Wrote {', '.join(PARTIAL_NAMES)} to {request.folder}", "")
    except InputError as unwritten:
        print_message(str(unwritten), "")


def _plot(comparison: Comparison, request: _Request) -> None:
    """Draw ``--plot``."""
    if request.plot is None:
        return
    from psm_sim.reporting.figures.canvas import write_plot
    from psm_sim.reporting.figures.comparison import draw_trade_off, frontier_of
    from psm_sim.reporting.terminal.progress import progress

    with progress("computing the frontier", "workloads") as report, redirect_stdout(sys.stderr):
        frontier = frontier_of(comparison, request.workers, report)
    with progress("drawing"):
        write_plot(draw_trade_off(comparison, frontier), request.plot)


def _name_files(request: _Request) -> None:
    """Print the names of the files that the run has written."""
    from psm_sim.commands.stderr_messages import print_message
    from psm_sim.reporting.files.result_folder import FILE_NAMES

    paths = [] if request.plot is None else [request.plot]
    for path in [*paths, *(path for _, path in request.outputs.files(request.policies))]:
        print_message(f"Wrote {path}", "")
    if request.folder is not None:
        print_message(f"Wrote {', '.join(FILE_NAMES)} and figures to {request.folder}", "")


def _check_files(
    outputs: Sequence[tuple[str, Path]],
    policies: Sequence[Spec],
    scenario: Scenario,
    arguments: argparse.Namespace,
) -> None:
    """Raise InputError if an output would replace an input, or another file without ``--force``."""
    if outputs:
        from psm_sim.common.output_files import check_outputs

        against = [Spec.parse(arguments.against, "policy")] if arguments.against else []
        inputs = scenario.files([*policies, *against])
        inputs += Spec(arguments.preset or "").files()
        check_outputs(outputs, inputs, force=arguments.force)
    elif arguments.force:
        raise InputError(
            "--force has no effect without --output, --plot, --capture or --timeline; remove it."
        )


def parse(arguments: argparse.Namespace) -> tuple[list[Spec], Scenario, References, str]:
    """Return the policies, scenario, references and preset name of a run."""
    from psm_sim.simulation.preset import RunArguments

    given = parse_settings(arguments.set)
    request = RunArguments(
        arguments.trace,
        arguments.topology,
        arguments.pages,
        arguments.seed,
        access_point_settings(arguments.dtim, arguments.beacon_interval, given, arguments.busy_air),
        preset=arguments.preset,
        profile=measured_profile(arguments.profile, arguments.measured),
        battery=arguments.battery,
        loss=arguments.loss,
        where="--set",
    )
    texts = arguments.policy or (["lpsm"] if arguments.argv else list(DEFAULT_POLICIES))
    policies = cast("list[Spec]", request.policies(texts))
    # Like real devices, the baseline psm wakes for DTIM beacons only.
    psm = f"psm:listen_interval={arguments.dtim}" if (arguments.dtim or 1) > 1 else "psm"
    baselines = () if arguments.no_baselines else ("always-on", psm)
    references = request.references(baselines, arguments.against or psm)
    scenario = request.scenario()
    _check_workers(arguments, scenario)
    return policies, scenario, references, request.preset_name


def _check_workers(arguments: argparse.Namespace, scenario: Scenario) -> None:
    """Reject ``--workers`` unless there are several seeds, several clients or figures to compute."""
    is_several = (arguments.replications or 1) > 1 or (
        isinstance(scenario.trace, Spec) and "clients" in scenario.trace.values
    )
    if arguments.workers and not (is_several or arguments.output or arguments.plot):
        raise InputError(
            "--workers has no effect on a single run; add --replications or --output, or remove it."
        )


def _report(comparison: Comparison, request: _Request) -> None:
    from importlib import import_module

    module, _, function = _REPORTS[request.form].rpartition(".")
    write = getattr(import_module(f"psm_sim.reporting.{module}"), function)
    write(comparison, sys.stdout)


_REPORTS = {
    "table": "terminal.comparison.write",
    "json": "files.result_json.write",
    "csv": "files.result_csv.write",
    "latex": "comparison_table.write_latex",
}

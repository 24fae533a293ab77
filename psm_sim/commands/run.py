"""``psm_sim`` without a subcommand: comparison of policies on the same pages."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from psm_sim.commands.shared_options import (
    add_access_point,
    add_force,
    add_format,
    add_policies_and_pages,
    add_replications,
    add_scenario,
    add_workers,
    plot_option,
    run_arguments,
)
from psm_sim.commands.stderr_messages import print_message
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
    add_workers(parser, "worker processes; results do not depend on it (default: all cores)")


def _figure_formats(text: str) -> tuple[str, ...]:
    from psm_sim.reporting.figures.canvas import FORMATS

    formats = tuple(dict.fromkeys(name.strip().lower() for name in text.split(",")))
    if not set(formats) <= FORMATS.keys():
        raise argparse.ArgumentTypeError(
            f"must be svg, png or pdf, or several separated by commas, got {text!r}"
        )
    return formats


class _Outputs(NamedTuple):
    """Files that a run writes: a folder, the formats of its figures, a plot, and a file for each policy."""

    folder: Path | None
    formats: Sequence[str]
    plot: Path | None
    of_policies: RunOutputs

    def files(self, policies: Sequence[Spec]) -> list[tuple[str, Path]]:
        """Return the option and the path of each file."""
        from psm_sim.reporting.files.result_folder import output_paths

        paths = [] if self.folder is None else output_paths(self.folder, self.formats)
        plots = [] if self.plot is None else [("--plot", self.plot)]
        return [*(("--output", path) for path in paths), *plots, *self.of_policies.files(policies)]


def run(arguments: argparse.Namespace) -> int:
    """Run the comparison and report it."""
    from psm_sim.reporting.files.result_folder import provenance_of, write_results
    from psm_sim.reporting.terminal.progress import progress
    from psm_sim.simulation import run_comparison

    start, outputs = datetime.now(UTC), _outputs(arguments)
    with redirect_stdout(sys.stderr):  # user code may print
        policies, scenario, references, preset = parse(arguments)
    _check_files(outputs.files(policies), policies, scenario, arguments)
    facts = provenance_of(arguments.argv, start, scenario.files(policies)) if outputs.folder else {}
    replications = arguments.replications or (1 if arguments.argv else DEFAULT_REPLICATIONS)
    finished: list[Comparison] = []  # a partial comparison, or the whole one

    def keep(comparison: Comparison) -> None:
        finished.append(replace(comparison, max_latency_s=arguments.latency, preset=preset))

    try:
        # Only results go to standard output. Policies may print, also while the figures repeat their runs.
        with redirect_stdout(sys.stderr):
            with progress("simulating", "pages") as report:
                comparison = run_comparison(
                    policies,
                    scenario,
                    replications,
                    report,
                    arguments.workers,
                    references,
                    outputs.of_policies,
                    keep,
                    isolated=limits_user_code(),
                )
            keep(comparison)
            if outputs.folder is not None:
                write_results(outputs.folder, finished[-1], facts, arguments.workers, outputs.formats)
    except BaseException as error:
        if finished and finished[-1].runs:
            _report(finished[-1], arguments.format)
            _write_partial(outputs.folder, finished[-1], facts, error)
        raise
    _report(finished[-1], arguments.format)
    if outputs.plot is not None:
        _plot(finished[-1], outputs.plot, arguments.workers)
    _name_files(outputs, policies)
    return 0


def _outputs(arguments: argparse.Namespace) -> _Outputs:
    """Return the files to write, after the checks that need no policies."""
    from psm_sim.reporting.files.result_folder import usable_folder
    from psm_sim.simulation.run_outputs import RunOutputs

    if arguments.output is None and arguments.figure_format is not None:
        raise InputError("--figure-format has no effect without --output; add --output or remove it.")
    return _Outputs(
        None if arguments.output is None else usable_folder(arguments.output),
        arguments.figure_format or ("svg",),
        None if arguments.plot is None else plot_option(arguments.plot),
        RunOutputs.of(arguments.capture, arguments.timeline),
    )


def _write_partial(
    folder: Path | None, comparison: Comparison, facts: Mapping[str, Any], error: BaseException
) -> None:
    """Write the results finished before *error*, unless the error came from writing a file."""
    from psm_sim.reporting.files.result_folder import PARTIAL_NAMES, write_partial_results

    is_unwritable = isinstance(error, InputError) and not comparison.missing
    if folder is None or is_unwritable:
        return
    try:
        write_partial_results(folder, comparison, facts, error)
        print_message(f"Wrote {', '.join(PARTIAL_NAMES)} to {folder}", "")
    except InputError as unwritten:
        print_message(str(unwritten), "")


def _plot(comparison: Comparison, path: Path, workers: int | None) -> None:
    """Draw ``--plot``."""
    from psm_sim.reporting.figures.canvas import write_plot
    from psm_sim.reporting.figures.comparison import draw_trade_off, frontier_of
    from psm_sim.reporting.terminal.progress import progress

    with progress("computing the frontier", "workloads") as report, redirect_stdout(sys.stderr):
        frontier = frontier_of(comparison, workers, report)
    with progress("drawing"):
        write_plot(draw_trade_off(comparison, frontier), path)


def _name_files(outputs: _Outputs, policies: Sequence[Spec]) -> None:
    """Print the names of the files that the run has written."""
    from psm_sim.reporting.files.result_folder import FILE_NAMES

    for option, path in outputs.files(policies):
        if option != "--output":
            print_message(f"Wrote {path}", "")
    if outputs.folder is not None:
        print_message(f"Wrote {', '.join(FILE_NAMES)} and figures to {outputs.folder}", "")


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
    request = run_arguments(
        arguments, arguments.trace, arguments.pages, preset=arguments.preset, loss=arguments.loss
    )
    texts = arguments.policy or (["lpsm"] if arguments.argv else list(DEFAULT_POLICIES))
    policies = cast("list[Spec]", request.policies(texts))
    # Like real devices, the baseline psm wakes for DTIM beacons only.
    psm = f"psm:listen_interval={arguments.dtim}" if (arguments.dtim or 1) > 1 else "psm"
    baselines = () if arguments.no_baselines else ("always-on", psm)
    references = request.references(baselines, arguments.against or psm)
    return policies, request.scenario(), references, request.preset_name


def _report(comparison: Comparison, form: str) -> None:
    """Write the comparison to standard output."""
    module, _, function = _REPORTS[form].rpartition(".")
    getattr(import_module(f"psm_sim.reporting.{module}"), function)(comparison, sys.stdout)


_REPORTS = {
    "table": "terminal.comparison.write",
    "json": "files.result_json.write",
    "csv": "files.result_csv.write",
    "latex": "comparison_table.write_latex",
}

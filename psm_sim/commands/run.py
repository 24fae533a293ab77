"""``psm_sim`` without a subcommand: comparison of policies on the same pages."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psm_sim.commands.shared_options import (
    access_point_settings,
    add_access_point,
    add_figure_format,
    add_force,
    add_format,
    add_policies_and_pages,
    add_scenario,
    add_workers,
    find_preset,
    integer_between,
    is_given,
    parse_latency,
    parse_settings,
)
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError

if TYPE_CHECKING:
    from psm_sim.simulation import Comparison, References, Scenario
    from psm_sim.simulation.preset import Preset

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
    _add_comparison(parser)
    output = parser.add_argument_group("output")
    add_format(output)
    output.add_argument(
        "--output",
        metavar="DIR",
        help="folder for report.html, JSON, CSV and figures",
    )
    add_figure_format(output)
    output.add_argument(
        "--plot",
        metavar="FILE",
        help="plot energy against slowdown with the offline optimum, as .png, .svg or .pdf",
    )
    _add_observation(output)
    add_force(output)
    add_workers(parser, "worker processes (default: all cores)")


def _add_comparison(parser: argparse.ArgumentParser) -> None:
    """Add the options of replications, reference policy and baselines."""
    group = parser.add_argument_group("comparison")
    group.add_argument(
        "--replications",
        type=integer_between(1, 10_000),
        metavar="N",
        help="number of seeds, from --seed on; adds 95 %% confidence intervals (default: 1)",
    )
    group.add_argument(
        "--against",
        metavar="POLICY",
        help="reference of relative values (default: psm)",
    )
    group.add_argument(
        "--no-baselines",
        action="store_true",
        help="do not run the baselines always-on and psm",
    )


def _add_observation(group: argparse._ActionsContainer) -> None:
    """Add ``--capture`` and ``--timeline``."""
    group.add_argument(
        "--capture",
        metavar="FILE.pcap",
        help="802.11 frames for Wireshark, a file per policy",
    )
    group.add_argument(
        "--timeline",
        metavar="FILE.json",
        help="write radio states, decisions and transfers for Perfetto, one file per policy",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the comparison and report it."""
    from psm_sim.commands.stderr_messages import print_message
    from psm_sim.reporting.files import result_folder as files
    from psm_sim.reporting.files.result_folder import facts_of, run_record
    from psm_sim.reporting.terminal.progress import progress
    from psm_sim.simulation import compare_seeds
    from psm_sim.simulation.run_outputs import RunOutputs

    start = datetime.now(UTC)
    outputs = RunOutputs.of(arguments.capture, arguments.timeline)
    folder = files.usable_folder(arguments.output) if arguments.output is not None else None
    if folder is None and is_given("--figure-format", arguments.argv):
        raise InputError("--figure-format has no effect without --output; add --output or remove it.")
    plot_path = _plot_path(arguments.plot)
    max_latency_s = parse_latency(arguments.latency)
    partial: list[Comparison] = []
    try:
        with redirect_stdout(sys.stderr):  # standard output has only the results, no prints of user code
            policies, scenario, references, preset = parse(arguments)
            formats = arguments.figure_format
            written = (
                [] if folder is None else [("--output", path) for path in files.output_paths(folder, formats)]
            )
            written += [("--plot", plot_path)] if plot_path is not None else []
            _check_files([*written, *outputs.files(policies)], policies, scenario, arguments)
            facts = {} if folder is None else facts_of(arguments.argv, start, scenario.files(policies))
            with progress("simulating", "pages") as report, run_record(folder, facts) as record:
                comparison = compare_seeds(
                    policies,
                    scenario,
                    arguments.replications or (1 if arguments.argv else DEFAULT_REPLICATIONS),
                    record.watching(report),
                    arguments.workers,
                    references,
                    outputs,
                    partial.append,
                )
        comparison = replace(comparison, max_latency_s=max_latency_s)
    except BaseException as error:
        if partial:
            kept = replace(partial[0], max_latency_s=max_latency_s)
            _keep(kept, error, arguments, folder, facts, preset.name)
        raise
    try:
        if folder is not None:
            files.write_results(folder, comparison, facts, preset.name, arguments.workers, formats)
    except BaseException as error:
        record.broken_off(error)
        if folder is not None and not isinstance(error, InputError):
            _write_partial(folder, comparison, error, facts, preset.name)
        raise
    finally:  # print the result even if the files cannot be written
        _report(comparison, arguments.format, preset.name)
    if plot_path is not None:
        from psm_sim.reporting.figures.comparison import frontier_of, plot

        with progress("computing the offline optimum", "workloads") as report:
            frontier = frontier_of(comparison, arguments.workers, report)
        with progress("drawing"):
            plot(comparison, plot_path, frontier, preset.name)
        print_message(f"Wrote {plot_path}", "")
    for _, path in outputs.files(policies):
        print_message(f"Wrote {path}", "")
    if folder is not None:
        print_message(f"Wrote {', '.join(files.NAMES)} and figures to {folder}", "")
    return 0


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
        inputs += [Path(spec.values["state"]) for spec in policies if "state" in spec.values]
        inputs += Spec(arguments.preset or "").files()
        check_outputs(outputs, inputs, force=arguments.force)
    elif arguments.force:
        raise InputError(
            "--force has no effect without --output, --plot, --capture or --timeline; remove it."
        )


def _keep(
    comparison: Comparison,
    error: BaseException,
    arguments: argparse.Namespace,
    folder: Path | None,
    facts: Mapping[str, Any],
    preset: str,
) -> None:
    """Report the finished part of a run that *error* has ended, and write its data to *folder*."""
    from psm_sim.commands.stderr_messages import print_message

    _report(comparison, arguments.format, preset)
    print_message(f"The results are incomplete; missing: {', '.join(comparison.missing)}.", "")
    if folder is not None:
        _write_partial(folder, comparison, error, facts, preset)


def _write_partial(
    folder: Path, comparison: Comparison, error: BaseException, facts: Mapping[str, Any], preset: str
) -> None:
    """Write the data of a run that *error* has ended, without figures. Print why if that is not possible."""
    from psm_sim.commands.stderr_messages import print_message
    from psm_sim.reporting.files.result_folder import PARTIAL_NAMES, write_partial_results

    try:
        write_partial_results(folder, comparison, facts, preset, error)
        print_message(f"Wrote {', '.join(PARTIAL_NAMES)} to {folder}", "")
    except InputError as unwritten:
        print_message(str(unwritten), "")


def _plot_path(text: str | None) -> Path | None:
    """Return the path of the plot. Only then are the figures imported, with all that they draw."""
    if text is None:
        return None
    from psm_sim.reporting.figures.comparison import picture_path

    return picture_path(text)


def parse(arguments: argparse.Namespace) -> tuple[list[Spec], Scenario, References, Preset]:
    """Return policies, scenario, baselines and reference, and preset of the options of a run."""
    from psm_sim.policies.factory import with_loss

    preset = find_preset(arguments.preset)
    texts = arguments.policy or (["lpsm"] if arguments.argv else list(DEFAULT_POLICIES))
    policies = [preset.policy_spec(spec) for spec in with_loss(texts, arguments.loss)]
    references = _references(arguments.against, arguments.no_baselines, arguments.dtim, preset)
    scenario = _scenario(arguments, preset)
    return policies, scenario, references, preset


def _references(against: str | None, no_baselines: bool, dtim: int | None, preset: Preset) -> References:
    """Return the baselines and the reference policy of a comparison, psm unless *against* names another one.

    With *dtim*, the baseline psm wakes for DTIM beacons, as devices do. The parameters of the *preset* also
    apply to these policies.
    """
    from psm_sim.simulation import BASELINES, References

    always_on, psm = (preset.policy_spec(baseline) for baseline in BASELINES)
    baselines = (always_on, psm.with_("listen_interval", dtim) if (dtim or 1) > 1 else psm)
    reference = [preset.policy_spec(Spec.parse(text, "policy")) for text in filter(None, [against])]
    return References(() if no_baselines else baselines, tuple(reference) or baselines[-1:])


def _scenario(arguments: argparse.Namespace, preset: Preset) -> Scenario:
    from psm_sim.network import load_topology
    from psm_sim.network.chip_profiles import battery_settings
    from psm_sim.network.topology import check_effects
    from psm_sim.simulation import Scenario

    given = parse_settings(arguments.set)
    access_point = access_point_settings(arguments.dtim, arguments.beacon_interval, given)
    battery = battery_settings(arguments.battery, "--battery")
    settings = {**preset.settings, **access_point, **battery, **given}
    load_topology(arguments.topology, settings, "--set")
    trace = preset.trace_spec(arguments.trace if is_given("--trace", arguments.argv) else None)
    _check_workers(arguments, trace)
    scenario = Scenario(
        trace, arguments.topology, arguments.pages, arguments.seed, settings, arguments.profile
    )
    if given or access_point:
        check_effects(scenario.resolve_unseeded_topology(), [*access_point, *given], "--set")
    return scenario


def _check_workers(arguments: argparse.Namespace, trace: Spec) -> None:
    """Reject ``--workers`` for the run of one client with one seed, without files that are drawn."""
    is_several = (arguments.replications or 1) > 1 or "clients" in trace.values
    if arguments.workers and not (is_several or arguments.output or arguments.plot):
        raise InputError(
            "--workers has no effect on a single run; add --replications or --output, or remove it."
        )


def _report(comparison: object, form: str, preset: str) -> None:
    from importlib import import_module

    import_module(f"psm_sim.reporting.{_REPORTS[form]}").write(comparison, sys.stdout, preset)


_REPORTS = {"table": "terminal.comparison", "json": "files.result_json", "csv": "files.result_csv"}

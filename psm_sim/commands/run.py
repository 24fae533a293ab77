"""``python -m psm_sim``: policies side by side over the same pages."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from psm_sim.commands.arguments import (
    add_format,
    apply_recording_options,
    find_preset,
    parse_battery,
    parse_max_page_s,
    parse_settings,
)
from psm_sim.commands.run_options import add_comparing, add_policies_and_pages, add_scenario, add_watching
from psm_sim.component_spec import Spec
from psm_sim.errors import InputError

if TYPE_CHECKING:
    from psm_sim.progress import Progress
    from psm_sim.simulation import Comparison, References, Scenario
    from psm_sim.simulation.preset import Preset
    from psm_sim.simulation.run_outputs import RunOutputs

HELP = """\
What does an 802.11 power-save policy cost, and what does it save? A browsing
client, an access point and a web server replay page views while the station's
radio sleeps and wakes as a policy decides. It reports joules per page, by radio
state, and the slowdown against the same pages without power saving."""

EPILOG = """\
The ucb trace is synthetic: page views drawn from Web distributions published
from Berkeley (Mah 1997), not a recording of anybody's browsing.

examples:
  psm_sim --policy lpsm --trace ucb
  psm_sim --policy psm --policy bsd:p=0.5 --policy lpsm --pages 500 --seed 7
  psm_sim --policy lpsm --loss "gamma * I * Ti**2 / (2*T) + 1/log(Ti)"
  psm_sim --policy psm --set links.wired.latency_ms=80 --format json
  psm_sim --policy my.py:EveryThird --trace pages.csv --output results
  psm_sim --policy lpsm --preset thesis
  psm_sim --policy bsd --policy lpsm --replications 10 --against bsd
  psm_sim --policy psm --policy lpsm --trace my.tr.gz --clients 10

Without any word: always-on, psm, bsd, lpsm and anticipate, 10 replications of
100 pages each.

Results go to standard output, progress and remarks to standard error;
--output DIR writes the results to DIR as well. Exit status: 0; 2 for a mistake
that you can mend, explained in one line; 130 if interrupted. Pages that fail
where faults are switched on are a result, and end with 0."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of a run: policies, pages, scenario and output."""
    add_policies_and_pages(parser)
    add_scenario(parser)
    add_comparing(parser)
    add_format(parser)
    parser.add_argument(
        "--output",
        metavar="DIR",
        help="also write report.html, result.json, pages.csv, metadata.json and figures to this folder",
    )
    parser.add_argument(
        "--plot",
        metavar="FILE",
        help="write a picture of energy against slowdown, with hindsight's frontier: .png, .svg or .pdf",
    )
    add_watching(parser)
    parser.add_argument(
        "--force", action="store_true", help="let --output replace the results of a finished run"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the comparison and report it."""
    from psm_sim.commands.messages import print_message
    from psm_sim.reporting.figures.run.write_figures import picture_path, plot
    from psm_sim.reporting.files import result_folder as files
    from psm_sim.reporting.files.run_record import check_free, facts_of, run_record
    from psm_sim.reporting.terminal.progress import progress_on
    from psm_sim.user_code import redirect_stdout_to_stderr

    begun = datetime.now(UTC)
    folder = files.usable_folder(arguments.output) if arguments.output is not None else None
    if folder is not None:
        check_free(folder, force=arguments.force)
    elif arguments.force:
        raise InputError("--force is given, but without --output nothing is replaced; leave it out.")
    picture = picture_path(arguments.plot) if arguments.plot is not None else None
    with redirect_stdout_to_stderr():
        policies, scenario, beside, preset = _asked(arguments)
        facts = {} if folder is None else facts_of(arguments.words, begun, scenario.files(policies))
        with progress_on(sys.stderr) as progress, run_record(folder, facts) as record:
            told = record.watching(progress)
            comparison = _compared(policies, scenario, arguments, beside, told)
    try:
        if folder is not None:
            files.write_results(folder, comparison, facts, preset.name, arguments.workers)
    except BaseException as error:
        record.broken_off(error)
        raise
    finally:  # whatever happens to the files, the result is not lost
        _report(comparison, arguments.format, preset.name)
    if picture is not None:
        plot(comparison, picture, arguments.workers)
        print_message(f"Written: {picture}", "")
    watch = _watch(arguments)
    for path in watch.files(policies) if watch else ():
        print_message(f"Written: {path}", "")
    if folder is not None:
        print_message(f"Written: {', '.join(files.NAMES)}, figures in {folder}", "")
    return 0


def _asked(arguments: argparse.Namespace) -> tuple[list[Spec], Scenario, References, Preset]:
    from psm_sim.commands.baselines import default_policies, make_references

    preset = find_preset(arguments.preset)
    texts = arguments.policy or (["lpsm"] if arguments.words else default_policies())
    given = [preset.policy_spec(Spec.parse(text, "policy")) for text in texts]
    policies = with_loss(given, arguments.loss)
    beside = make_references(arguments.against, arguments.no_baselines, preset)
    scenario = _scenario(arguments, preset)
    return policies, scenario, beside, preset


def _compared(
    policies: Sequence[Spec],
    scenario: Scenario,
    arguments: argparse.Namespace,
    references: References,
    progress: Progress,
) -> Comparison:
    from psm_sim.commands.baselines import DEFAULT_POLICIES
    from psm_sim.simulation import compare_clients, compare_seeds

    workers, count = arguments.workers, arguments.replications or (1 if arguments.words else DEFAULT_POLICIES)
    watch = _watch(arguments)
    if count == 1:
        return compare_clients(policies, scenario, progress, workers, references, watch)
    watch.refuse(f"{count} replications")
    return compare_seeds(policies, scenario, count, progress, workers, references)


def _watch(arguments: argparse.Namespace) -> RunOutputs:
    from psm_sim.simulation.run_outputs import RunOutputs

    return RunOutputs.of(arguments.capture, arguments.timeline)


def _scenario(arguments: argparse.Namespace, preset: Preset) -> Scenario:
    from psm_sim.network import load_topology
    from psm_sim.simulation import Scenario

    options = {**parse_battery(arguments.battery), **parse_max_page_s(arguments.max_page_s)}
    settings = {**preset.settings, **options, **parse_settings(arguments.set)}
    load_topology(arguments.topology, settings, "--set")
    use = {"workload": arguments.workload, "clients": arguments.clients, "client": arguments.client}
    trace = apply_recording_options(preset.trace_spec(arguments.trace), use)
    return Scenario(trace, arguments.topology, arguments.pages, arguments.seed, settings, arguments.profile)


def with_loss(policies: Sequence[Spec], loss: str | None) -> list[Spec]:
    """Return the policies with ``loss`` set in every ``lpsm``; None: it is not given.

    Raises
    ------
    InputError
        If no ``lpsm`` is there to take it, or one names a loss of its own.
    """
    learners = [spec for spec in policies if spec.name == "lpsm"]
    if loss is None:
        return list(policies)
    if not learners:
        raise InputError(
            f"--loss is {loss!r}, but no lpsm is given to use it; add --policy lpsm or drop --loss."
        )
    for spec in learners:
        if "loss" in spec.values:
            raise InputError(f"--loss is {loss!r}, but {str(spec)!r} names a loss too; drop one of the two.")
    return [spec.with_("loss", loss) if spec.name == "lpsm" else spec for spec in policies]


def _report(comparison: object, form: str, preset: str) -> None:
    from importlib import import_module

    import_module(f"psm_sim.reporting.{_REPORTS[form]}").write(comparison, sys.stdout, preset)


_REPORTS = {"table": "terminal.comparison", "json": "files.result_json", "csv": "files.result_csv"}

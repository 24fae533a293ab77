"""``python -m psm_sim``: policies side by side over the same pages."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from psm_sim.commands.arguments import (
    add_format,
    battery_of,
    preset_named,
    recording_used,
    settings_of,
)
from psm_sim.commands.run_options import add_policies_and_pages, add_scenario
from psm_sim.errors import InputError
from psm_sim.spec import Spec

if TYPE_CHECKING:
    from psm_sim.simulation import Scenario
    from psm_sim.simulation.preset import Preset

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
  psm_sim --policy psm --policy lpsm --trace my.tr.gz --clients 10

Results go to standard output, progress and remarks to standard error;
--output DIR writes the results to DIR as well. Exit status: 0; 2 for a mistake
that you can mend, explained in one line; 130 if interrupted."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of a run: policies, pages, scenario and output."""
    add_policies_and_pages(parser)
    add_scenario(parser)
    add_format(parser)
    parser.add_argument(
        "--output",
        metavar="DIR",
        help="also write result.json, pages.csv and metadata.json to this folder",
    )
    parser.add_argument(
        "--force", action="store_true", help="let --output replace the results of a finished run"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the comparison and report it."""
    from psm_sim.commands.sentences import tell
    from psm_sim.reporting.files import result_folder as files
    from psm_sim.reporting.files.run_record import check_free, facts_of, record_in
    from psm_sim.reporting.terminal.progress import progress_on
    from psm_sim.simulation import compare_clients
    from psm_sim.user_code import prints_to_stderr

    begun = datetime.now(UTC)
    folder = files.usable_folder(arguments.output) if arguments.output is not None else None
    if folder is not None:
        check_free(folder, force=arguments.force)
    with prints_to_stderr():
        policies, scenario, preset = _asked(arguments)
        facts = {} if folder is None else facts_of(arguments.words, begun, scenario.files(policies))
        with progress_on(sys.stderr) as progress, record_in(folder, facts) as record:
            comparison = compare_clients(policies, scenario, record.watching(progress))
    try:
        if folder is not None:
            files.write_results(folder, comparison, facts, preset.name)
    except BaseException as error:
        record.broken_off(error)
        raise
    finally:  # whatever happens to the files, the result is not lost
        _report(comparison, arguments.format, preset.name)
    if folder is not None:
        tell(f"Written: {', '.join(files.NAMES)} in {folder}", "")
    return 0


def _asked(arguments: argparse.Namespace) -> tuple[list[Spec], Scenario, Preset]:
    preset = preset_named(arguments.preset)
    given = [preset.policy_spec(Spec.parse(text, "policy")) for text in arguments.policy or ["lpsm"]]
    policies = with_loss(given, arguments.loss)
    scenario = _scenario(arguments, preset)
    return policies, scenario, preset


def _scenario(arguments: argparse.Namespace, preset: Preset) -> Scenario:
    from psm_sim.network import load_topology
    from psm_sim.simulation import Scenario

    settings = {**preset.settings, **battery_of(arguments.battery), **settings_of(arguments.set)}
    load_topology(arguments.topology, settings, "--set")  # once more later, when its errors say "settings"
    use = {"workload": arguments.workload, "clients": arguments.clients}
    trace = recording_used(preset.trace_spec(arguments.trace), use)
    scenario = Scenario(
        trace, arguments.topology, arguments.pages, arguments.seed, settings, arguments.profile
    )
    if arguments.battery is not None and scenario.place().power.supply_v is None:
        raise InputError(
            f"--battery is {arguments.battery!r}, but the supply voltage is not known; add --profile CHIP or"
            " --set power.supply_v=VOLTS."
        )
    return scenario


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

"""``python -m psm_sim``: policies side by side over the same pages."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from psm_sim.bundled import bundled_names
from psm_sim.commands.arguments import (
    add_format,
    add_pages,
    add_seed,
    preset_named,
    recording_used,
    settings_of,
)
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


def add_policies_and_pages(parser: argparse.ArgumentParser) -> None:
    """Declare ``--policy``, ``--trace``, ``--workload`` and ``--clients``."""
    parser.add_argument(
        "--policy",
        action="append",
        metavar="NAME[:key=value,...]",
        help="the policy that decides when the radio sleeps: a name, or FILE.py:CLASS; can be repeated, the "
        "results stand side by side (default: lpsm)",
    )
    parser.add_argument(
        "--trace",
        default="ucb",
        metavar="NAME[:key=value,...] or FILE",
        help="the pages: a bundled trace, or a file: UCB .tr, .tr.gz or showtrace text, HAR, BU log, page "
        "list .csv, profile .toml (default: %(default)s)",
    )
    parser.add_argument(
        "--workload",
        choices=("replay", "sample"),
        help="of a recording: replay a client's pages in their order, or draw pages from distributions "
        "fitted to it; short for --trace FILE:workload=... (default: replay)",
    )
    parser.add_argument(
        "--clients",
        metavar="all, N or ID",
        help="of a recording: all clients, the N busiest or one; each is simulated on its own, and several "
        "are averaged; short for --trace FILE:clients=... (default: the busiest, or all to sample from)",
    )


def add_scenario(parser: argparse.ArgumentParser) -> None:
    """Declare the options of a scenario beside its trace, and ``--loss``."""
    parser.add_argument(
        "--topology",
        default="three-node",
        metavar="NAME or FILE.toml",
        help="the scenario (default: %(default)s)",
    )
    parser.add_argument(
        "--preset",
        metavar="NAME",
        help=f"a named configuration ({', '.join(bundled_names('presets'))}): its trace, policy and"
        " topology parameters replace the defaults; what is given explicitly overrides them",
    )
    parser.add_argument(
        "--loss",
        metavar='NAME, "formula" or FILE.py:CLASS',
        help="the loss of every lpsm given; a formula has I (bytes held), T (ms slept), Ti (candidate ms) "
        "and gamma",
    )
    add_pages(parser, "number of pages")
    add_seed(parser, "the seed of everything drawn")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="key=value",
        help="override one key of the topology, e.g. links.wired.latency_ms=80; can be repeated",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the comparison and report it."""
    from psm_sim.reporting.files import result_folder as files
    from psm_sim.reporting.files.run_record import check_free, facts_of, record_in
    from psm_sim.reporting.terminal.progress import progress_on
    from psm_sim.simulation import compare_clients

    begun = datetime.now(UTC)
    folder = files.usable_folder(Path(arguments.output)) if arguments.output is not None else None
    if folder is not None:
        check_free(folder, force=arguments.force)
    preset = preset_named(arguments.preset)
    given = [preset.policy_spec(Spec.parse(text, "policy")) for text in arguments.policy or ["lpsm"]]
    policies = with_loss(given, arguments.loss)
    scenario = _scenario(arguments, preset)
    facts = {} if folder is None else facts_of(arguments.words, begun, scenario.files(policies))
    with progress_on(sys.stderr) as progress, record_in(folder, facts) as record:
        comparison = compare_clients(policies, scenario, record.watching(progress))
    if folder is not None:
        files.write_results(folder, comparison, facts, preset.name)
    _report(comparison, arguments.format, preset.name)
    if folder is not None:
        print(f"Written: {', '.join(files.NAMES)} in {folder}", file=sys.stderr)  # noqa: T201
    return 0


def _scenario(arguments: argparse.Namespace, preset: Preset) -> Scenario:
    from psm_sim.network import load_topology
    from psm_sim.simulation import Scenario

    settings = {**preset.settings, **settings_of(arguments.set)}
    load_topology(arguments.topology, settings, "--set")  # once more later, when its errors say "settings"
    use = {"workload": arguments.workload, "clients": arguments.clients}
    trace = recording_used(preset.trace_spec(arguments.trace), use)
    return Scenario(trace, arguments.topology, arguments.pages, arguments.seed, settings)


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

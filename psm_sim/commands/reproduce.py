"""``psm_sim reproduce``: published numbers compared with simulated ones."""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import TYPE_CHECKING

from psm_sim.commands.shared_options import add_seed, add_table_or_json, add_workers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psm_sim.lab.studies.study import Findings, Study

HELP = """\
Repeat published studies and compare the published numbers with the simulated ones. Each
row has a 95 % confidence interval over replications, the difference, and a verdict by a
predefined rule."""

EPILOG = """\
studies: lpsm-100, lpsm-4x500, bsd-energy, bsd-rtt, slowdown-by-page, sleep-times,
sensitivity, one-setting, optimum, trace-study, non-stationary. Without a name, or with
'all', all of these run. By name only: listening (policies of psm_sim against published
policies), devices (device policies on chips and device traffic), mac (published numbers
on an 802.11b channel)

examples:
  psm_sim reproduce lpsm-100 --quick
  psm_sim reproduce all --output reports/reproduction"""


OWN_WORDING = {
    "introduction": """\
# Studies of psm_sim

These studies repeat no published experiment. Their claims, if any, were fixed before the first run, and
claims that fail are reported like the others. {rule}

psm_sim {version}, from seed {seed} on:

```sh
{command}
```

""",
    "rule": "The remarks of the study state the rule of the verdicts.",
}
"""Texts of a report on :data:`~psm_sim.lab.studies.OWN` studies only."""


def add_arguments(
    parser: argparse.ArgumentParser,
    quick: str = "run fewer replications of fewer pages, which takes less than a minute",
) -> None:
    """Add the options; *quick* is the help of ``--quick``."""
    parser.usage = "%(prog)s [STUDY ...] [options]"
    parser.add_argument("studies", nargs="*", metavar="STUDY", help="names of studies (default: all)")
    parser.add_argument("--quick", action="store_true", help=quick)
    add_seed(parser, "seed of the first replication; the others follow")
    parser.add_argument(
        "--output", metavar="DIR", help="write README.md, numbers.json and figures/ to this folder"
    )
    add_table_or_json(parser)
    add_workers(parser, "worker processes; results do not depend on it (default: all cores)")


def run(arguments: argparse.Namespace) -> int:
    """Run the studies and report their results."""
    from psm_sim.lab.studies import OWN, STUDIES, load_study

    names = select_studies(arguments.studies, list(STUDIES))
    wording = OWN_WORDING if set(names) <= set(OWN) else {}
    return run_studies(arguments, {name: load_study(name) for name in names}, **wording)


def run_studies(
    arguments: argparse.Namespace, studies: Mapping[str, Study], command: str = "reproduce", **wording: str
) -> int:
    """Run studies, print and write the report, and return the exit status.

    Parameters
    ----------
    arguments : Namespace
        Values of the options of :func:`add_arguments`.
    studies : mapping of str to Study
        Studies by name, in the order of the report.
    command : str
        Name of the subcommand in the report.
    **wording : str
        ``introduction`` and ``rule`` of the report, if they differ from those of the published numbers.
    """
    from psm_sim.commands.stderr_messages import print_message
    from psm_sim.lab.reporting.pages.reproduction import write_report
    from psm_sim.lab.studies.reproduce import EVERY_PROCESSOR, reproduce
    from psm_sim.lab.studies.study import FULL, QUICK
    from psm_sim.reporting.files.result_folder import usable_folder
    from psm_sim.reporting.terminal.progress import progress_on

    folder = usable_folder(arguments.output) if arguments.output is not None else None
    scale = QUICK if arguments.quick else FULL
    with progress_on(sys.stderr) as progress:
        findings = reproduce(studies, scale, arguments.seed, arguments.workers or EVERY_PROCESSOR, progress)
    try:
        if folder is not None:
            command_line = _command_line(arguments, command)
            write_report(
                folder, findings, arguments.seed, command_line, workers=arguments.workers or None, **wording
            )
    finally:
        _print(findings, arguments, wording.get("rule"))
    if folder is not None:
        print_message(f"Wrote README.md, numbers.json and figures to {folder}", "")
    return 0


def select_studies(requested: list[str], names: list[str]) -> list[str]:
    """Return the studies to run in report order; unknown names remain and are rejected later."""
    if not requested or "all" in requested:
        return [*names, *(name for name in requested if name not in {*names, "all"})]
    return sorted(dict.fromkeys(requested), key=lambda name: names.index(name) if name in names else -1)


def _command_line(arguments: argparse.Namespace, command: str) -> str:
    """Return the command that reproduces the report, without ``--workers``, which has no effect on it."""
    argv = [command, *(arguments.studies or ["all"])]
    argv += ["--quick"] if arguments.quick else []
    argv += ["--seed", str(arguments.seed), "--output", arguments.output]
    return shlex.join(["python", "-m", "psm_sim", *argv])


def _print(findings: list[Findings], arguments: argparse.Namespace, rule: str | None) -> None:
    if arguments.format == "json":
        from psm_sim.lab.reporting.files.study_numbers import numbers_of
        from psm_sim.reporting.files.result_json import to_text

        sys.stdout.write(to_text(numbers_of(findings, arguments.seed)))
    else:
        from psm_sim.lab.reporting.terminal.study import write_findings

        write_findings(findings, sys.stdout, **({"rule": rule} if rule else {}))

"""``python -m psm_sim reproduce``: the published numbers, and ours beside them."""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import TYPE_CHECKING

from psm_sim.commands.arguments import add_seed, whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psm_sim.lab.studies.study import Findings, Study

HELP = """\
Run published studies again, and set the published numbers beside ours: each with
its 95 % confidence interval over replications, the difference, and a verdict by a
rule fixed beforehand."""

EPILOG = """\
studies: lpsm-100, lpsm-4x500, bsd-energy, bsd-rtt, slowdown-by-page, sleep-times,
sensitivity, one-setting, optimum, trace-study, non-stationary; without a name, or
with 'all', all of them; by name only: listening, this program's own policies against
the published ones; devices, policies that devices run over chips and traffic; mac,
published numbers over the air of 802.11b

examples:
  psm_sim reproduce lpsm-100 --quick
  psm_sim reproduce all --output reports/reproduction"""


OWN_WORDING = {
    "introduction": """\
# Studies of this program's own

They repeat no experiment of a paper. Claims, where there are any, were fixed before any seed of the study was
run, and one that fails is printed like the others. {rule}

psm_sim {version}, from seed {seed} on:

```sh
{command}
```

""",
    "rule": "The rule of the verdicts stands in the remarks of the study.",
}
"""Words of a report on :data:`~psm_sim.lab.studies.OWN` studies alone."""


def add_arguments(
    parser: argparse.ArgumentParser, quick: str = "fewer replications of fewer pages: under a minute"
) -> None:
    """Declare the options; *quick* says what ``--quick`` does."""
    parser.usage = "%(prog)s [STUDY ...] [options]"
    parser.add_argument("studies", nargs="*", metavar="STUDY", help="the studies to run (default: all)")
    parser.add_argument("--quick", action="store_true", help=quick)
    add_seed(parser, "the first replication's seed; the next ones follow")
    parser.add_argument(
        "--workers",
        type=whole_number(1, 1024),
        metavar="N",
        help="processes; the numbers do not depend on it (default: one per processor)",
    )
    parser.add_argument(
        "--output", metavar="DIR", help="also write README.md, numbers.json and figures/ to this folder"
    )
    parser.add_argument(
        "--format",
        choices=("table", "json"),
        default="table",
        help="of the findings on standard output (default: %(default)s)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the studies and report what they found."""
    from psm_sim.lab.studies import OWN, STUDIES, load_study

    names = select_studies(arguments.studies, list(STUDIES))
    wording = OWN_WORDING if set(names) <= set(OWN) else {}
    return run_studies(arguments, {name: load_study(name) for name in names}, **wording)


def run_studies(
    arguments: argparse.Namespace, studies: Mapping[str, Study], word: str = "reproduce", **wording: str
) -> int:
    """Run *studies* as the options say, report and print what they found; return the exit status.

    Parameters
    ----------
    arguments
        The options of :func:`add_arguments`.
    studies
        By name, in the order of the report.
    word
        The subcommand, for the report.
    wording
        ``introduction`` and ``rule`` of the report, where they are not those of the published numbers.
    """
    from psm_sim.commands.messages import print_message
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
            command = _command(arguments, word)
            write_report(
                folder, findings, arguments.seed, command, workers=arguments.workers or None, **wording
            )
    finally:
        _print(findings, arguments, wording.get("rule"))
    if folder is not None:
        print_message(f"Written: README.md, numbers.json and figures in {folder}", "")
    return 0


def select_studies(given: list[str], names: list[str]) -> list[str]:
    """Return the studies to run, in the order of the report; what is unknown stays, to be refused."""
    if not given or "all" in given:
        return [*names, *(name for name in given if name not in {*names, "all"})]
    return sorted(dict.fromkeys(given), key=lambda name: names.index(name) if name in names else -1)


def _command(arguments: argparse.Namespace, word: str) -> str:
    """Return the command that gives the same report; workers are left out, as nothing depends on them."""
    words = [word, *(arguments.studies or ["all"])]
    words += ["--quick"] if arguments.quick else []
    words += ["--seed", str(arguments.seed), "--output", arguments.output]
    return shlex.join(["python", "-m", "psm_sim", *words])


def _print(findings: list[Findings], arguments: argparse.Namespace, rule: str | None) -> None:
    if arguments.format == "json":
        from psm_sim.lab.reporting.files.study_numbers import numbers_of
        from psm_sim.reporting.files.result_json import to_text

        sys.stdout.write(to_text(numbers_of(findings, arguments.seed)))
    else:
        from psm_sim.lab.reporting.terminal.study import write_findings

        write_findings(findings, sys.stdout, **({"rule": rule} if rule else {}))

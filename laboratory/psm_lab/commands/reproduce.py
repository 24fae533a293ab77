"""``python -m psm_lab STUDY``: published and measured numbers compared with simulated ones."""

from __future__ import annotations

import argparse
import shlex
import sys
from dataclasses import replace
from textwrap import fill
from typing import TYPE_CHECKING

from psm_lab.studies import ACTIVE_STUDIES, FIELD, OWN, STUDIES, VALIDATIONS
from psm_sim.commands.shared_options import add_force, add_format, add_seed, add_workers
from psm_sim.common.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from psm_lab.studies.study import Findings

HELP = """\
Repeat published studies and compare their numbers with the simulated ones. Each
row has a 95 % confidence interval over replications, the difference, and a
verdict by a predefined rule. Rows that disagree are shown as well."""


def _names(studies: Mapping[str, str]) -> str:
    indent = " " * 4
    return fill("  ".join(studies), 78, initial_indent=indent, subsequent_indent=indent)


EPILOG = f"""\
studies:
  all (the default), published power savings:
{_names(STUDIES)}
  validation, measured currents and latencies of hardware:
{_names(VALIDATIONS)}
  learners, published claims about active learners:
{_names(ACTIVE_STUDIES)}
  by name only, published results of the field on contention and IoT devices:
{_names(FIELD)}
  by name only, studies that repeat no published experiment:
{_names(OWN)}

text-like, ocr and a part of drift require a data set of digits:
pip install 'psm_lab[digits]'

replay runs a learner on recorded network activity:
python -m psm_lab replay --help

examples:
  python -m psm_lab lpsm-100 --quick
  python -m psm_lab validation learners --quick
  python -m psm_lab all --output reports/reproduction"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.usage = "%(prog)s [STUDY ...] [options]"
    parser.add_argument(
        "studies", nargs="*", metavar="STUDY", help="names of studies or of groups (default: all)"
    )
    parser.add_argument("--quick", action="store_true", help="run fewer replications of smaller problems")
    add_seed(parser, "seed of the first replication; the others follow")
    parser.add_argument(
        "--output", metavar="DIR", help="write README.md, numbers.json and figures/ to this folder"
    )
    add_force(parser)
    add_format(parser, ("table", "json"))
    add_workers(parser, "worker processes; results do not depend on it (default: all cores)")


def run(arguments: argparse.Namespace) -> int:
    """Run the studies, print and write the report, and return the exit status.

    If a study fails or is interrupted, the finished ones are reported before the command ends.
    """
    from psm_lab.reporting.pages.report_writer import output_paths
    from psm_lab.studies import load_study, select_studies
    from psm_lab.studies.study import FULL, QUICK
    from psm_lab.studies.study_runner import EVERY_PROCESSOR, reproduce
    from psm_lab.studies.tasks import sample_rows
    from psm_sim.common.output_files import check_outputs
    from psm_sim.reporting.files.result_folder import usable_folder
    from psm_sim.reporting.terminal.progress import progress
    from psm_sim.simulation.comparison import reason_of

    names = select_studies(arguments.studies)
    folder = usable_folder(arguments.output) if arguments.output is not None else None
    if folder is not None:
        outputs = [("--output", path) for path in output_paths(folder, names)]
        check_outputs(outputs, (), force=arguments.force)
    elif arguments.force:
        raise InputError("--force has no effect without --output; remove it.")
    studies = {name: load_study(name) for name in names}
    scale = QUICK if arguments.quick else FULL
    workers = arguments.workers or EVERY_PROCESSOR
    findings: list[Findings] = []
    try:
        with progress("simulating", "pages") as report:
            for each in reproduce(studies, scale, arguments.seed, workers, report):
                findings.append(each)  # noqa: PERF402 (the studies before a failure are kept)
    except BaseException as error:
        missing = names[len(findings) :]
        if findings:
            reasons = dict.fromkeys(missing, "not run") | {missing[0]: reason_of(error)}
            _report(findings, reasons, folder, names, arguments)
        raise
    if folder is not None:
        samples = [sample_rows(study.tasks(scale, arguments.seed)) for study in studies.values()]
        findings = [replace(each, sample=rows) for each, rows in zip(findings, samples, strict=True)]
    _report(findings, {}, folder, names, arguments)
    return 0


def _report(
    findings: list[Findings],
    missing: Mapping[str, str],
    folder: Path | None,
    names: Sequence[str],
    arguments: argparse.Namespace,
) -> None:
    """Write the report to *folder* and print the findings, also if the report cannot be written.

    If studies are *missing*, no figures are plotted, because an interrupted command must end soon. Such a
    report does not replace an earlier one.
    """
    from psm_lab.reporting.pages.introductions import introduction_of
    from psm_lab.reporting.pages.report_writer import write_report
    from psm_sim.commands.stderr_messages import print_message
    from psm_sim.reporting.terminal.progress import progress

    introduction = introduction_of(names)
    if folder is not None and missing and (folder / "numbers.json").exists():
        print_message(f"{folder} keeps its earlier results; a partial result does not replace them.", "")
        folder = None
    try:
        if folder is not None:
            with progress("drawing"):
                write_report(
                    folder,
                    findings,
                    arguments.seed,
                    _command_line(arguments),
                    introduction,
                    missing,
                )
    finally:
        _print(findings, arguments, introduction.rule, missing)
    if missing:
        print_message(f"The results are incomplete; missing: {', '.join(missing)}.", "")
    if folder is not None:
        written = "README.md and numbers.json" if missing else "README.md, numbers.json and figures"
        print_message(f"Wrote {written} to {folder}", "")


def _command_line(arguments: argparse.Namespace) -> str:
    """Return the command that reproduces the report, without ``--workers``, which has no effect on it."""
    argv = [*(arguments.studies or ["all"])]
    argv += ["--quick"] if arguments.quick else []
    argv += ["--seed", str(arguments.seed), "--output", arguments.output]
    return shlex.join(["python", "-m", "psm_lab", *argv])


def _print(
    findings: list[Findings],
    arguments: argparse.Namespace,
    rule: str,
    missing: Mapping[str, str],
) -> None:
    if arguments.format == "json":
        from psm_lab.reporting.study_numbers import numbers_of
        from psm_sim.reporting.files.result_json import to_text

        sys.stdout.write(to_text(numbers_of(findings, arguments.seed, missing)))
    else:
        from psm_lab.reporting.terminal_findings import write_findings

        write_findings(findings, sys.stdout, rule, missing)

"""``psm_sim benchmark``: rank policies on fixed traffic, radios, prices of delay and seeds."""

from __future__ import annotations

import argparse
import shlex
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from psm_sim.commands.shared_options import (
    add_force,
    add_workers,
    integer_between,
    is_given,
    path_option,
)
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_SEED

if TYPE_CHECKING:
    from psm_sim.campaign.benchmark.result import BenchmarkResult

HELP = """\
Rank policies by energy plus price times delay, relative to the offline optimum, over
fixed traffic, radios, prices of delay and seeds. The built-in policies have stored
results, so that only the policies of --policy run."""

EPILOG = """\
{price} in a policy is replaced by the price of delay of each cell, in watts.
docs/benchmark.md has the rules.

examples:
  psm_sim benchmark
  psm_sim benchmark --policy my.py:Mine --quick
  psm_sim benchmark --policy "my.py:Mine:price={price}" --output mine.json
  psm_sim benchmark --seed 1 --replications 5 --policy my.py:Mine
  psm_sim benchmark verify mine.json --policy my.py:Mine

Exit status: 0; 1 if 'verify' finds a difference in a number, version or file; 2 for an error in the input."""

_VERIFY = "verify"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.usage = "%(prog)s [options]\n       %(prog)s verify FILE.json [options]"
    parser.add_argument(
        "action",
        nargs="*",
        metavar="verify FILE.json",
        help="run the policies of a result file again, and compare each number exactly",
    )
    parser.add_argument(
        "--policy",
        action="append",
        default=[],
        metavar="NAME[:key=...]",
        help="policy to rank or to verify, or FILE.py:CLASS; repeatable",
    )
    parser.add_argument("--quick", action="store_true", help="use the first 3 of the seeds only")
    parser.add_argument(
        "--seed", type=integer_between(0, MAX_SEED), metavar="N", help="first seed (default: 70001)"
    )
    parser.add_argument(
        "--replications", type=integer_between(1, 1000), metavar="N", help="number of seeds (default: 10)"
    )
    parser.add_argument(
        "--fresh", action="store_true", help="run the built-in policies, too, instead of using stored results"
    )
    parser.add_argument("--output", metavar="FILE.json", help="result file to write")
    add_force(parser)
    parser.add_argument(
        "--store", metavar="FILE.sqlite", help="database of finished tasks, with which a run can be resumed"
    )
    add_workers(parser, "worker processes; results do not depend on it (default: all cores)")


def run(arguments: argparse.Namespace) -> int:
    """Run the policies and print the ranking, or verify a result file."""
    if arguments.action:
        return _verify(arguments)
    from psm_sim.commands.stderr_messages import print_message
    from psm_sim.common.output_files import atomic_write_text, check_outputs, check_writable
    from psm_sim.reporting.terminal.benchmark import write

    output = None if arguments.output is None else path_option("--output", arguments.output)
    if output is not None:
        files = [file for policy in arguments.policy for file in Spec.parse(policy, "policy").files()]
        check_outputs([("--output", output)], files, force=arguments.force)
        check_writable(output, "--output")
    result = _result(arguments)
    write(result, sys.stdout, arguments.policy)
    if output is not None:
        from psm_sim.campaign.benchmark.result import to_json

        atomic_write_text(output, to_json(result), "--output")
        print_message(f"Wrote {output}", "")
    return 0


def _result(arguments: argparse.Namespace) -> BenchmarkResult:
    """Return the result of the policies, with the stored results of the built-in ones if there are any."""
    from psm_sim.campaign.benchmark.cells import JUDGING_SEEDS, QUICK, built_in
    from psm_sim.campaign.benchmark.result import STANDING, read_result
    from psm_sim.commands.stderr_messages import print_message

    first = JUDGING_SEEDS[0] if arguments.seed is None else arguments.seed
    count = arguments.replications or (QUICK if arguments.quick else len(JUDGING_SEEDS))
    seeds = range(first, first + count)
    stored = None
    if not arguments.fresh and first == JUDGING_SEEDS[0] and count <= len(JUDGING_SEEDS):
        stored = read_result(STANDING).first(count)
    if stored is None:
        return _simulate(arguments, [*built_in(), *arguments.policy], seeds)
    new = [policy for policy in arguments.policy if policy not in stored.policies]
    if not new:
        return stored
    found = _simulate(arguments, new, seeds, stored)
    for line in replace(stored, files=found.files).differing_facts(found):
        print_message(f"The stored results of the built-in policies differ in {line}; see --fresh.")
    if stored.differing_cells(found):  # always-on runs in both
        print_message("The stored results were computed by other code of psm_sim; use --fresh.")
    return stored.joined(found)


def _verify(arguments: argparse.Namespace) -> int:
    from psm_sim.campaign.benchmark.cells import QUICK
    from psm_sim.campaign.benchmark.result import named_files, read_result
    from psm_sim.commands.stderr_messages import print_message

    if len(arguments.action) != 2 or arguments.action[0] != _VERIFY:
        raise InputError(f"expected no argument, or verify FILE.json, got {shlex.join(arguments.action)!r}.")
    for option in ("--seed", "--replications", "--fresh", "--output", "--store"):
        if is_given(option, arguments.argv):
            raise InputError(
                f"{option} cannot be used with verify, which runs the seeds of the file again; remove it."
            )
    recorded = read_result(Path(arguments.action[1])).first(QUICK if arguments.quick else None)
    for policy in arguments.policy:
        if policy not in recorded.policies:
            raise InputError(
                f"{arguments.action[1]} has no policy {policy}; expected one of"
                f" {', '.join(recorded.policies)}."
            )
    code = [str(file) for file in named_files(recorded.policies) if file.suffix.lower() == ".py"]
    if code and not arguments.policy:
        print_message(f"{arguments.action[1]} names {', '.join(code)}, whose code runs now.")
    found = _simulate(arguments, arguments.policy or recorded.policies, recorded.seeds)
    if arguments.policy or arguments.quick:  # fewer files
        files = {name: digest for name, digest in recorded.files.items() if name in found.files}
        recorded = replace(recorded, files=files)
    facts, differences = recorded.differing_facts(found), recorded.differing_cells(found)
    for fact in facts:
        sys.stdout.write(f"differs: {fact}\n")
    for policy, cell in differences:
        sys.stdout.write(f"differs: {policy} in {cell}\n")
    cells = sum(map(len, found.runs.values())) + len(found.optimum_j)
    sys.stdout.write(
        f"{cells - len(differences)} of {cells} runs and optima of {len(recorded.seeds)} seeds are equal"
        " to the last bit.\n"
    )
    return 1 if facts or differences else 0


def _simulate(
    arguments: argparse.Namespace,
    policies: list[str],
    seeds: range | tuple[int, ...],
    known: BenchmarkResult | None = None,
) -> BenchmarkResult:
    from psm_sim.campaign.benchmark.run import run_benchmark
    from psm_sim.campaign.sweep.run import Resources
    from psm_sim.reporting.terminal.progress import progress

    store = None if arguments.store is None else path_option("--store", arguments.store)
    resources = Resources(arguments.workers)
    with redirect_stdout(sys.stderr), progress("simulating", "tasks") as report:
        return run_benchmark(policies, seeds, store, resources, report, known)

"""``psm_sim benchmark``: rank policies on fixed traffic, radios, prices of delay and seeds."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from psm_sim.commands.shared_options import (
    add_force,
    add_replications,
    add_workers,
    integer_between,
    is_given,
    output_option,
)
from psm_sim.commands.stderr_messages import print_message
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.common.formatting import pluralize
from psm_sim.common.input_limits import MAX_SEED
from psm_sim.common.output_files import atomic_write_text, check_outputs
from psm_sim.common.registry import unknown_name_error

if TYPE_CHECKING:
    from psm_sim.campaign.benchmark.cases import BenchmarkPlan, Case
    from psm_sim.campaign.benchmark.result import BenchmarkResult

HELP = """\
Rank policies by energy plus price times delay, relative to the best known cost, over
fixed traffic, radios, prices of delay and seeds. The built-in policies have stored
results, so that only the policies of --policy run."""

EPILOG = """\
In a policy, {price} stands for the price of delay of each case, relative to the cost of a
second awake instead of asleep. {price_w} stands for the same price in watts.
docs/benchmark.md has the rules.

examples:
  psm_sim benchmark
  psm_sim benchmark --policy my.py:Mine --quick
  psm_sim benchmark --policy "my.py:Mine:price={price}" --output mine.json
  psm_sim benchmark --traffic mqtt --radio nrf7002 --price 1
  psm_sim benchmark --seed 1 --replications 5 --policy my.py:Mine
  psm_sim benchmark verify mine.json --policy my.py:Mine

Exit status: 0; 1 if 'verify' finds a difference in a number, version or file; 2 for an error in the input."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.usage = "%(prog)s [options]\n       %(prog)s verify FILE.json [options]"
    parser.add_argument(
        "action",
        nargs="*",
        metavar="verify FILE.json",
        help="run the policies of a result file again, and compare each number",
    )
    parser.add_argument(
        "--policy",
        action="append",
        default=[],
        metavar="NAME[:key=...]",
        help="policy to rank or to verify, or FILE.py:CLASS; repeatable",
    )
    parser.add_argument("--quick", action="store_true", help="use one seed and two radios only")
    parser.add_argument(
        "--seed", type=integer_between(0, MAX_SEED), metavar="N", help="first seed (default: 70001)"
    )
    add_replications(parser, "number of seeds (default: 10)")
    parser.add_argument(
        "--seeds", metavar="FILE.toml", help="file of seeds and recordings, on which all policies run"
    )
    parser.add_argument("--traffic", metavar="NAME", help="print the means of each policy on this traffic")
    parser.add_argument("--radio", metavar="NAME", help="with --traffic: radio (default: three-node)")
    parser.add_argument(
        "--price", type=float, metavar="X", help="with --traffic: price of delay (default: 1)"
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
    from psm_sim.reporting.terminal.benchmark import write_case, write_rankings

    case = _case(arguments)
    output = None
    if arguments.output is not None:
        output = output_option("--output", arguments.output)
        files = [file for policy in arguments.policy for file in Spec.parse(policy, "policy").files()]
        check_outputs([("--output", output)], files, force=arguments.force)
    result, new = _result(arguments)
    if case is None:
        write_rankings(result, sys.stdout, arguments.policy)
    else:
        write_case(result, case, sys.stdout)
    if output is not None:
        from psm_sim.campaign.benchmark.result import to_json

        atomic_write_text(output, to_json(new), "--output")
        print_message(f"Wrote {output}", "")
    return 0


def _case(arguments: argparse.Namespace) -> Case | None:
    """Return the case that ``--traffic`` selects; None without ``--traffic``."""
    from psm_sim.campaign.benchmark.cases import PRICES, RADIOS, TRAFFIC, Case

    if arguments.traffic is None:
        _refuse(("--radio", "--price"), arguments, "needs --traffic; add it")
        return None
    case = Case(arguments.traffic, arguments.radio or next(iter(RADIOS)), arguments.price or 1.0)
    if case.traffic not in TRAFFIC:
        raise unknown_name_error("traffic", case.traffic, TRAFFIC)
    if case.radio not in RADIOS:
        raise unknown_name_error("radio", case.radio, RADIOS)
    if case.price not in PRICES:
        raise InputError(f"--price must be one of {', '.join(map(str, PRICES))}, got {case.price:g}.")
    return case


def _plan(arguments: argparse.Namespace) -> BenchmarkPlan:
    """Return the cases and seeds to run."""
    from psm_sim.campaign.benchmark.cases import JUDGING, QUICK, read_plan

    if arguments.seeds is not None:
        used = ("--seed", "--replications", "--quick")
        _refuse(used, arguments, "cannot be used with --seeds, whose file states the seeds; remove it")
        return read_plan(Path(arguments.seeds))
    plan = QUICK if arguments.quick else JUDGING
    first = plan.seeds[0] if arguments.seed is None else arguments.seed
    return replace(plan, seeds=tuple(range(first, first + (arguments.replications or len(plan.seeds)))))


def _result(arguments: argparse.Namespace) -> tuple[BenchmarkResult, BenchmarkResult]:
    """Return two results: for the terminal, with all policies, and for ``--output``."""
    from psm_sim.campaign.benchmark.cases import built_in
    from psm_sim.campaign.benchmark.result import STANDING, read_result

    plan, stored = _plan(arguments), None
    if not arguments.fresh and arguments.seeds is None:
        stored = read_result(STANDING)
    if stored is None or not set(plan.seeds) <= set(stored.seeds):
        simulated = _simulate(arguments, [*built_in(), *arguments.policy], plan)
        return simulated, simulated
    stored = stored.part(plan.seeds, plan.cases)
    new = [policy for policy in arguments.policy if policy not in stored.policies]
    if not new:
        return stored, stored
    simulated = _simulate(arguments, new, plan, stored)
    for line in replace(stored, data=simulated.data, files=simulated.files).differing_facts(simulated):
        print_message(f"The stored results of the built-in policies differ in {line}; see --fresh.")
    if stored.differing_cases(simulated):  # both contain always-on
        print_message("The stored results were computed by other code of psm_sim; use --fresh.")
    return stored.joined(simulated), simulated


def _refuse(options: Sequence[str], arguments: argparse.Namespace, reason: str) -> None:
    """Raise an error if the command line has one of *options*."""
    for option in options:
        if is_given(option, arguments.argv):
            raise InputError(f"{option} {reason}.")


def _verify(arguments: argparse.Namespace) -> int:
    from psm_sim.campaign.benchmark.cases import QUICK
    from psm_sim.campaign.benchmark.result import TOLERANCE, named_files, plan_of, read_result

    if len(arguments.action) != 2 or arguments.action[0] != "verify":
        raise InputError(
            f"expected no argument, or 'verify FILE.json', got {shlex.join(arguments.action)!r}."
        )
    options = ("--seed", "--replications", "--seeds", "--traffic", "--fresh", "--output", "--store")
    _refuse(
        options, arguments, "cannot be used with verify, which runs the seeds of the file again; remove it"
    )
    recorded = read_result(Path(arguments.action[1]))
    if arguments.quick:
        recorded = recorded.part(recorded.seeds[:1], [case for case in recorded.cases if case in QUICK.cases])
    for policy in arguments.policy:
        if policy not in recorded.policies:
            raise InputError(
                f"{arguments.action[1]} has no policy {policy}; expected one of"
                f" {', '.join(recorded.policies)}."
            )
    code = [str(file) for file in named_files(recorded.policies) if file.suffix.lower() == ".py"]
    if code and not arguments.policy:
        print_message(f"{arguments.action[1]} names {', '.join(code)}; verify runs that code.")
    repeated = _simulate(arguments, arguments.policy or recorded.policies, plan_of(recorded))
    if arguments.policy or arguments.quick:  # compare only the files that the repeated runs have read
        files = {name: digest for name, digest in recorded.files.items() if name in repeated.files}
        data = {name: digest for name, digest in recorded.data.items() if name in repeated.data}
        recorded = replace(recorded, files=files, data=data)
    facts, differences = recorded.differing_facts(repeated), recorded.differing_cases(repeated)
    for fact in facts:
        sys.stdout.write(f"differs: {fact}\n")
    for policy, case in differences:
        sys.stdout.write(f"differs: {policy} in {case}\n")
    cases = sum(map(len, repeated.runs.values())) + len(repeated.chain_j)
    seeds = pluralize(len(recorded.seeds), "seed")
    sys.stdout.write(
        f"{cases - len(differences)} of {cases} runs and optima of {seeds} are equal within {TOLERANCE:g}.\n"
    )
    return 1 if facts or differences else 0


def _simulate(
    arguments: argparse.Namespace,
    policies: list[str],
    plan: BenchmarkPlan,
    known: BenchmarkResult | None = None,
) -> BenchmarkResult:
    from psm_sim.campaign.benchmark.run import run_benchmark
    from psm_sim.reporting.terminal.progress import progress

    store = None if arguments.store is None else Path(arguments.store)
    with redirect_stdout(sys.stderr), progress("simulating", "tasks") as report:
        return run_benchmark(policies, plan, store, arguments.workers, report, known)

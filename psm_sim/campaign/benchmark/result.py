"""Result of a benchmark (energy, delay and cost of each policy in each case) and the file that stores it."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import isclose
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from psm_sim.campaign.benchmark.cases import PRICES, TRAFFIC, BenchmarkPlan, Case, is_priced, runs_of
from psm_sim.common.array_types import FloatArray
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.common.input_files import file_digest, read_text
from psm_sim.common.provenance import PACKAGES, code_versions
from psm_sim.version import __version__

ALWAYS_ON = "always-on"
STANDING = Path(__file__).with_name("standing.json")
"""Stored result of the built-in policies on the judging seeds."""

TOLERANCE = 1e-9
"""Relative difference, or difference in joules or seconds, up to which numbers count as equal.

The last bits depend on the processor.
"""

_MAX_BYTES = 64 << 20  # 70 times the size of the stored results of all policies


class Costs(NamedTuple):
    """Energy, delay in addition to an always-on radio, and simulated time, each with one value per seed."""

    energy_j: tuple[float, ...]
    delay_s: tuple[float, ...]
    time_s: tuple[float, ...]


@dataclass(frozen=True)
class BenchmarkResult:
    """Result of policies in all cases, for the same seeds.

    Attributes
    ----------
    seeds : tuple of int
        Seeds of the runs.
    runs : mapping of str to mapping of Case to Costs
        Costs by policy and case. A policy whose spec does not name the price has costs at the first price
        only.
    chain_j : mapping of Case to tuple of float
        Cost of the offline optimum on the event chain, one value per seed, in joules.
    versions : mapping of str to str
        Versions of psm_sim, Python and the numerical packages.
    data : mapping of str to str
        Digest of each file of traffic and radios.
    files : mapping of str to str
        Digest of each file that the policies name or open, such as their modules.
    """

    seeds: tuple[int, ...]
    runs: Mapping[str, Mapping[Case, Costs]]
    chain_j: Mapping[Case, tuple[float, ...]]
    versions: Mapping[str, str]
    data: Mapping[str, str]
    files: Mapping[str, str]

    @property
    def policies(self) -> list[str]:
        """Policy specs, in the order of the runs."""
        return list(self.runs)

    @property
    def cases(self) -> tuple[Case, ...]:
        """Cases of the result."""
        return tuple(self.chain_j)

    def costs(self, policy: str, case: Case) -> Costs:
        """Return the energies, delays and times of a policy in a case."""
        return self.runs[policy][case if is_priced(policy) else case.free]

    def cost_j(self, policy: str, case: Case) -> FloatArray:
        """Return energy plus price times delay of a policy in a case for each seed, in joules."""
        energy_j, delay_s, _ = map(np.array, self.costs(policy, case))
        return np.asarray(energy_j + case.price_w * delay_s)

    def log_costs(self, policies: Sequence[str]) -> FloatArray:
        """Return log(cost) of *policies* in all cases, shape (policies, cases, seeds)."""
        return np.log([[self.cost_j(policy, case) for case in self.cases] for policy in policies])

    def log_best_known(self) -> FloatArray:
        """Return log(least cost of the offline optimum and all policies), shape (cases, seeds)."""
        chain = np.log([self.chain_j[case] for case in self.cases])
        return np.asarray(np.minimum(chain, self.log_costs(self.policies).min(axis=0)))

    def part(self, seeds: Sequence[int], cases: Sequence[Case] | None = None) -> BenchmarkResult:
        """Return this result reduced to *seeds* and *cases*; None selects all cases."""
        columns = [self.seeds.index(seed) for seed in seeds]
        chosen = self.cases if cases is None else tuple(cases)

        def cut(values: tuple[float, ...]) -> tuple[float, ...]:
            return tuple(values[column] for column in columns)

        runs = {
            policy: {case: Costs(*map(cut, each[case])) for case in runs_of(policy, chosen)}
            for policy, each in self.runs.items()
        }
        chain_j = {case: cut(self.chain_j[case]) for case in chosen}
        return replace(self, seeds=tuple(seeds), runs=runs, chain_j=chain_j)

    def joined(self, other: BenchmarkResult) -> BenchmarkResult:
        """Return this result with the policies of *other* added; policies in both results do not change."""
        runs = {**self.runs, **{name: each for name, each in other.runs.items() if name not in self.runs}}
        return replace(self, runs=runs, files={**other.files, **self.files})

    def differing_facts(self, other: BenchmarkResult) -> list[str]:
        """Return a text for each version or file that differs between this result and *other*."""
        return [
            f"{name} ({own.get(name, 'missing')[:12]} and {theirs.get(name, 'missing')[:12]})"
            for own, theirs in (
                (self.versions, other.versions),
                (self.data, other.data),
                (self.files, other.files),
            )
            for name in dict.fromkeys([*own, *theirs])
            if own.get(name) != theirs.get(name)
        ]

    def differing_cases(self, other: BenchmarkResult) -> list[tuple[str, Case]]:
        """Return the pairs (policy, case) whose costs differ in *other*; the optimum counts as a policy."""
        both = [policy for policy in self.policies if policy in other.runs]
        pairs = {
            (policy, case): (sum(own, ()), sum(other.costs(policy, case), ()))
            for policy in both
            for case, own in self.runs[policy].items()
        }
        pairs |= {("offline optimum", case): (self.chain_j[case], other.chain_j[case]) for case in self.cases}
        return [run for run, (own, theirs) in pairs.items() if not _are_close(own, theirs)]


def _are_close(values: Sequence[float], others: Sequence[float]) -> bool:
    return all(
        isclose(*pair, rel_tol=TOLERANCE, abs_tol=TOLERANCE) for pair in zip(values, others, strict=True)
    )


def facts_of(policies: Sequence[str], plan: BenchmarkPlan) -> dict[str, Mapping[str, str]]:
    """Return the versions and digests that a new result of *policies* stores."""
    installed = code_versions()
    versions = {"psm_sim": __version__, "python": platform.python_version()}
    return {
        "versions": {**versions, **{name: installed[name] for name in PACKAGES}},
        "data": plan.data_digests(),
        "files": {str(file): file_digest(file) for file in named_files(policies)},
    }


def named_files(policies: Iterable[str]) -> list[Path]:
    """Return the users' files that *policies* name, such as ``my.py`` in ``my.py:Mine``."""
    return [file for policy in policies for file in Spec.parse(policy, "policy").files()]


def to_json(result: BenchmarkResult) -> str:
    """Return a result as JSON text that :func:`read_result` reads without loss."""
    runs = [
        {"policy": policy, **case._asdict(), **costs._asdict()}
        for policy, each in result.runs.items()
        for case, costs in each.items()
    ]
    optimum = [{**case._asdict(), "cost_j": values} for case, values in result.chain_j.items()]
    lines = {
        name: json.dumps(getattr(result, name), indent=2) for name in ("versions", "data", "files", "seeds")
    }
    lines |= {"runs": _list(runs), "optimum": _list(optimum)}
    return "{\n" + ",\n".join(f'"{name}": {text}' for name, text in lines.items()) + "\n}\n"


def _list(rows: Sequence[Mapping[str, Any]]) -> str:
    return "[\n" + ",\n".join(json.dumps(row, allow_nan=False) for row in rows) + "\n]"


def read_result(path: Path) -> BenchmarkResult:
    """Read a result file.

    Raises
    ------
    InputError
        If the file cannot be read, was not written by ``psm_sim benchmark``, or lacks seeds or runs.
    """
    try:
        document = json.loads(read_text(path, _MAX_BYTES))
        result = _result_of(document)
        if json.loads(to_json(result)) != document:  # parsing lost content, e.g. a duplicate row of a run
            raise ValueError
    except InputError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{path} is no complete result of psm_sim benchmark --output; write it again."
        ) from error
    return result


def plan_of(result: BenchmarkResult) -> BenchmarkPlan:
    """Return the plan of a result.

    Raises
    ------
    InputError
        If the result has traffic that the benchmark does not have.
    """
    names, radios = (tuple(dict.fromkeys(values)) for values in list(zip(*result.cases, strict=True))[:2])
    if unknown := [name for name in names if name not in TRAFFIC]:
        raise InputError(f"the result has traffic {unknown[0]!r}, which is no traffic of the benchmark.")
    return BenchmarkPlan(result.seeds, {name: TRAFFIC[name] for name in names}, radios)


def _result_of(document: Any) -> BenchmarkResult:
    seeds = tuple(map(int, document["seeds"]))
    if not seeds or len(set(seeds)) < len(seeds) or not document["runs"]:
        raise ValueError
    runs: dict[str, dict[Case, Costs]] = {}
    for row in document["runs"]:
        costs = Costs(*(_numbers(row[name], seeds) for name in Costs._fields))
        runs.setdefault(str(row["policy"]), {})[_case(row)] = costs
    chain_j = {_case(row): _numbers(row["cost_j"], seeds) for row in document["optimum"]}
    traffic, radios, _ = zip(*chain_j, strict=True)
    if set(chain_j) != set(product(traffic, radios, PRICES)) or any(
        set(each) != set(runs_of(name, tuple(chain_j))) for name, each in runs.items()
    ):
        raise ValueError
    facts = {
        name: {str(key): str(value) for key, value in document[name].items()}
        for name in ("versions", "data", "files")
    }
    return BenchmarkResult(seeds, runs, chain_j, **facts)


def _case(row: Mapping[str, Any]) -> Case:
    return Case(str(row["traffic"]), str(row["radio"]), float(row["price"]))


def _numbers(values: Any, seeds: Sequence[int]) -> tuple[float, ...]:
    if len(values) != len(seeds):
        raise ValueError
    return tuple(map(float, values))

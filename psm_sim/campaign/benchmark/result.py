"""Result of a benchmark: energy, delay and cost of each policy in each cell, and its file."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from psm_sim.campaign.benchmark.cells import CELLS, PRICE, PRICES_W, Cell, data_digests, runs_of
from psm_sim.common.array_types import FloatArray
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError
from psm_sim.common.hashing import file_digest
from psm_sim.common.input_files import read_text
from psm_sim.common.provenance import PACKAGES, package_versions
from psm_sim.version import __version__

ALWAYS_ON = "always-on"
STANDING = Path(__file__).with_name("standing.json")
"""Stored result of the built-in policies on the judging seeds."""

_MAX_BYTES = 64 << 20


class Costs(NamedTuple):
    """Energy in joules, and delay in seconds beyond that of an always-on radio, of a run of each seed."""

    energy_j: tuple[float, ...]
    delay_s: tuple[float, ...]


@dataclass(frozen=True)
class BenchmarkResult:
    """Result of policies in all cells, for the same seeds.

    Attributes
    ----------
    seeds : tuple of int
        Seeds of the runs.
    runs : mapping of str to mapping of Cell to Costs
        Costs by policy and cell. A policy that does not know the price has those of the first price only.
    optimum_j : mapping of Cell to tuple of float
        Cost of the offline optimum for each seed, in joules.
    versions : mapping of str to str
        Versions of psm_sim, Python and the numerical packages.
    data : mapping of str to str
        Digest of each file of traffic and radios.
    files : mapping of str to str
        Digest of each file that the policies name or open, such as their modules.
    """

    seeds: tuple[int, ...]
    runs: Mapping[str, Mapping[Cell, Costs]]
    optimum_j: Mapping[Cell, tuple[float, ...]]
    versions: Mapping[str, str]
    data: Mapping[str, str]
    files: Mapping[str, str]

    @property
    def policies(self) -> list[str]:
        """Policy specs, in the order of the runs."""
        return list(self.runs)

    def costs(self, policy: str, cell: Cell) -> Costs:
        """Return the energies and delays of a policy in a cell."""
        return self.runs[policy][cell if PRICE in policy else cell._replace(price_w=PRICES_W[0])]

    def cost_j(self, policy: str, cell: Cell) -> FloatArray:
        """Return energy plus price times delay of a policy in a cell for each seed, in joules."""
        energy_j, delay_s = map(np.array, self.costs(policy, cell))
        return np.asarray(energy_j + cell.price_w * delay_s)

    def log_ratios(self) -> FloatArray:
        """Return log(cost / cost of the offline optimum), shape (policies, cells, seeds)."""
        optimum_j = np.array([self.optimum_j[cell] for cell in CELLS])
        costs_j = np.array([[self.cost_j(policy, cell) for cell in CELLS] for policy in self.policies])
        return np.asarray(np.log(costs_j / optimum_j))

    def first(self, seeds: int | None, skip: int = 0) -> BenchmarkResult:
        """Return the result of the first *seeds* seeds without the first *skip* ones; None returns all."""
        part = slice(skip, seeds)

        def cut(costs: Costs) -> Costs:
            return Costs(costs.energy_j[part], costs.delay_s[part])

        runs = {
            policy: {cell: cut(costs) for cell, costs in each.items()} for policy, each in self.runs.items()
        }
        optimum_j = {cell: values[part] for cell, values in self.optimum_j.items()}
        return replace(self, seeds=self.seeds[part], runs=runs, optimum_j=optimum_j)

    def joined(self, other: BenchmarkResult) -> BenchmarkResult:
        """Return this result with the policies that only *other* has."""
        runs = {**self.runs, **{name: each for name, each in other.runs.items() if name not in self.runs}}
        return replace(self, runs=runs, files={**other.files, **self.files})

    def differing_facts(self, other: BenchmarkResult) -> list[str]:
        """Return the versions and files in which *other* differs from this result, as texts."""
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

    def differing_cells(self, other: BenchmarkResult) -> list[tuple[str, Cell]]:
        """Return the policies, or the optimum, and the cells whose costs in *other* differ in any bit."""
        both = [policy for policy in self.policies if policy in other.runs]
        runs = [(policy, cell) for policy in both for cell in self.runs[policy]]
        return [pair for pair in runs if self.costs(*pair) != other.costs(*pair)] + [
            ("offline optimum", cell) for cell in CELLS if self.optimum_j[cell] != other.optimum_j[cell]
        ]


def facts_of(policies: Sequence[str]) -> dict[str, Mapping[str, str]]:
    """Return the versions and digests of a result that is made now."""
    found = package_versions()
    versions = {"psm_sim": __version__, "python": platform.python_version()}
    return {
        "versions": {**versions, **{name: found[name] for name in PACKAGES if name in found}},
        "data": data_digests(),
        "files": {str(file): file_digest(file) for file in named_files(policies)},
    }


def named_files(policies: Iterable[str]) -> list[Path]:
    """Return the user's files that the specs of *policies* name."""
    return [file for policy in policies for file in Spec.parse(policy, "policy").files()]


def to_json(result: BenchmarkResult) -> str:
    """Return a result as JSON text that :func:`read_result` reads without loss."""
    runs = [
        {"policy": policy, **_place(cell), **costs._asdict()}
        for policy, each in result.runs.items()
        for cell, costs in each.items()
    ]
    optimum = [{**_place(cell), "cost_j": values} for cell, values in result.optimum_j.items()]
    lines = {
        name: json.dumps(getattr(result, name), indent=2) for name in ("versions", "data", "files", "seeds")
    }
    lines |= {"runs": _list(runs), "optimum": _list(optimum)}
    return "{\n" + ",\n".join(f'"{name}": {text}' for name, text in lines.items()) + "\n}\n"


def _list(rows: Sequence[Mapping[str, Any]]) -> str:
    return "[\n" + ",\n".join(json.dumps(row, allow_nan=False) for row in rows) + "\n]"


def _place(cell: Cell) -> dict[str, Any]:
    return cell._asdict()


def read_result(path: Path) -> BenchmarkResult:
    """Read a result file.

    Raises
    ------
    InputError
        If the file cannot be read, was not written by ``psm_sim benchmark``, or lacks seeds, runs, a version
        or a digest.
    """
    try:
        found = json.loads(read_text(path, _MAX_BYTES))
        result = _result_of(found)
        if json.loads(to_json(result)) != found:  # e.g. two rows of the same run
            raise ValueError
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}; specify a result file.") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{path} is no complete result of psm_sim benchmark --output; write it again."
        ) from error
    for missing in _missing(result):
        raise InputError(f"{path} has no {missing}; write it again with psm_sim benchmark --output.")
    return result


def _missing(result: BenchmarkResult) -> Iterator[str]:
    """Yield what a result lacks, so that its runs cannot be verified."""
    facts = facts_of(result.policies)
    yield from (name for name in ("seeds", "runs") if not getattr(result, name))
    yield from (f"version of {name}" for name in facts["versions"] if name not in result.versions)
    digests = {**result.data, **result.files}
    yield from (f"digest of {name}" for name in {**facts["data"], **facts["files"]} if name not in digests)


def _result_of(found: Any) -> BenchmarkResult:
    seeds = tuple(map(int, found["seeds"]))
    if len(set(seeds)) < len(seeds):
        raise ValueError
    runs: dict[str, dict[Cell, Costs]] = {}
    for row in found["runs"]:
        costs = Costs(_numbers(row["energy_j"], seeds), _numbers(row["delay_s"], seeds))
        runs.setdefault(str(row["policy"]), {})[_cell(row)] = costs
    optimum_j = {_cell(row): _numbers(row["cost_j"], seeds) for row in found["optimum"]}
    if set(optimum_j) != set(CELLS) or any(set(each) != set(runs_of(name)) for name, each in runs.items()):
        raise ValueError
    facts = {
        name: {str(key): str(value) for key, value in found[name].items()}
        for name in ("versions", "data", "files")
    }
    return BenchmarkResult(seeds, runs, optimum_j, **facts)


def _cell(row: Mapping[str, Any]) -> Cell:
    return Cell(str(row["traffic"]), str(row["radio"]), float(row["price_w"]))


def _numbers(values: Any, seeds: Sequence[int]) -> tuple[float, ...]:
    if len(values) != len(seeds):
        raise ValueError
    return tuple(map(float, values))

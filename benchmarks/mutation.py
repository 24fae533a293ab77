"""Mutation run over a random sample of the core: ``python benchmarks/mutation.py``, in a clone of its own.

mutmut makes the mutants, and calls each function by way of a trampoline that looks for the active one. A page
then takes ten times as long. Here a worker replaces the code of the one function that its mutant changes.
``mutmut results`` and ``mutmut show NAME`` work as usual afterwards. CONTRIBUTING.md has the commands.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import random
import re
import resource
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any

import mutmut.__main__ as mutmut_main
from mutmut.mutation import trampoline
from mutmut.state import state
from mutmut.stats import save_stats
from mutmut.workers import isolation

LEAST = 4
"""Least number of mutants of a module in the sample."""

MEMORY_BYTES = 4 << 30
"""Limit of the address space of a worker, because a mutant may append to a list without end."""

SUSPICIOUS = 35
"""Exit status of a worker whose mutant cannot replace the function."""

_functions: dict[str, tuple[FunctionType, dict[str, Any]]] = {}
_names: dict[int, str] = {}
_collect_stats = mutmut_main.run_stats_collection


def remember(mutants: dict[str, Any], is_classmethod: bool = False) -> Callable[[FunctionType], FunctionType]:
    """Return a decorator that leaves a function as it is, and remembers its *mutants*."""

    def decorate(function: FunctionType) -> FunctionType:
        *owner, name = function.__qualname__.split(".")
        mangled = f"xǁ{owner[-1]}ǁ{name}" if owner else f"x_{name}"
        qualified = f"{function.__module__}.{mangled}"
        _functions[qualified], _names[id(function.__code__)] = (function, mutants), qualified
        return function

    return decorate


def activate(name: str | None) -> None:
    """Replace the code of the function that the mutant *name* changes; for "stats", record calls."""
    sys.setprofile(record if name == "stats" else None)
    os.environ["MUTANT_UNDER_TEST"] = name or ""  # for processes that a test starts
    if name is None or "__mutmut_" not in name:
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    module, _, mutant = name.rpartition(".")
    importlib.import_module(module)
    function, mutants = _functions[name.partition("__mutmut_")[0]]
    changed = getattr(mutants[mutant], "__func__", mutants[mutant])
    if changed.__code__.co_freevars != function.__code__.co_freevars:
        os._exit(SUSPICIOUS)
    function.__code__ = changed.__code__
    function.__defaults__, function.__kwdefaults__ = changed.__defaults__, changed.__kwdefaults__


def record(frame: FrameType, event: str, _: object) -> None:
    """Record which of the functions a test calls."""
    if event == "call" and (name := _names.get(id(frame.f_code))):
        state()._stats.add(name)


def collect_stats(runner: isolation.MutantRunner, tests: Iterable[str] | None = None) -> None:
    """Find the tests of each function.

    Only the first test that uses a cache or a fixture of its file calls the functions behind it. All tests of
    such a file therefore count as tests of them.
    """
    _collect_stats(runner, tests)
    by_file: dict[str, set[str]] = {}
    for test in state().duration_by_test:
        by_file.setdefault(test.partition("::")[0], set()).add(test)
    shared = {
        file
        for file in by_file
        if re.search(r'scope="module"|@cache\b', Path("mutants", file).read_text(encoding="utf-8"))
    }
    for test_names in state().tests_by_mangled_function_name.values():
        for file in {test.partition("::")[0] for test in test_names} & shared:
            test_names.update(by_file[file])
    save_stats()


def sample(size: int, seed: int) -> list[str]:
    """Return a random sample of the mutants: of each module in proportion, but at least four."""
    by_module = [
        list(json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"])
        for path in sorted(Path("mutants").rglob("*.py.meta"))
    ]
    share, drawn = size / sum(map(len, by_module)), random.Random(seed)  # noqa: S311 (no secret)
    return [
        name
        for names in by_module
        for name in drawn.sample(names, min(len(names), max(LEAST, round(share * len(names)))))
    ]


def main() -> None:
    """Make the mutants, and run the tests for those of the sample."""
    parser = argparse.ArgumentParser(description="Mutation run over a random sample of the core.")
    parser.add_argument("--sample", type=int, default=600, help="number of mutants (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=25, help="seed of the sample (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="number of processes")
    parser.add_argument("names", nargs="*", help="mutants to run instead of a sample; * stands for any text")
    given = parser.parse_args()
    Path("mutants").mkdir(exist_ok=True)
    mutmut_main.copy_src_dir()
    mutmut_main.create_mutants(given.jobs)
    mutmut_main._run(given.names or sample(given.sample, given.seed), given.jobs)


for patched in (trampoline, isolation, mutmut_main):
    patched.set_mutant_under_test = activate
trampoline.wrap_in_trampoline = remember
mutmut_main.run_stats_collection = collect_stats
mutmut_main.run_forced_fail_test = lambda runner: None  # mutants that are killed show as much
isolation.ForkServerRunner.run_clean_tests = lambda self, tests: 0  # collect_stats has run them

if __name__ == "__main__":
    main()

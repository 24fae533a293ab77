"""Imports at start-up, which determine its time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import sys
from contextlib import suppress
before = set(sys.modules)
with suppress(SystemExit):
    exec(sys.argv.pop(1))
rooms = {name.partition(".")[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)
ours = [name for name in sys.modules if name.partition(".")[0] == "psm_sim"]
heavy = {"matplotlib", "numpy", "pandas", "rich", "scipy", "simpy"}
print(len(ours), *sorted(rooms & heavy))
"""
MAIN = "from psm_sim.cli import main; main(sys.argv[1:])"


def imported(folder: Path, code: str, *words: str) -> tuple[int, list[str]]:
    """Return the number of modules of psm_sim, and the libraries, that a new interpreter imports."""
    done = subprocess.run(
        [sys.executable, "-c", CODE, code, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    count, *libraries = done.stdout.splitlines()[-1].split()
    return int(count), libraries


@pytest.mark.parametrize("words", ["--help", "--pages 0"])
def test_help_and_usage_errors_import_no_libraries(tmp_path: Path, words: str) -> None:
    """At most thirteen modules of psm_sim are imported, with the one that prints errors."""
    count, libraries = imported(tmp_path, MAIN, *words.split())
    assert libraries == []
    assert count <= 13


@pytest.mark.parametrize(
    ("words", "libraries"),
    [
        ("--policy lpsm --pages 2", ["numpy", "rich", "simpy"]),
        ("--policy lpsm --pages 2 --format json", ["numpy", "simpy"]),
        ("sweep --policy psm --vary seed=1..2 --pages 1 --workers 2 --format csv", ["numpy", "simpy"]),
    ],
)
def test_a_run_imports_only_the_libraries_that_it_uses(
    tmp_path: Path, words: str, libraries: list[str]
) -> None:
    """A table requires neither pandas nor scipy nor matplotlib."""
    assert imported(tmp_path, MAIN, *words.split())[1] == libraries


@pytest.mark.parametrize(
    ("module", "libraries"),
    [
        ("psm_sim.policies", []),
        ("psm_sim.workload", ["numpy"]),
        ("psm_sim.simulation", ["numpy", "simpy"]),
    ],
)
def test_a_module_imports_only_the_libraries_that_it_uses(
    tmp_path: Path, module: str, libraries: list[str]
) -> None:
    """A policy in a file does not import numpy."""
    assert imported(tmp_path, f"import {module}")[1] == libraries


def test_no_module_of_the_current_folder_is_imported(tmp_path: Path) -> None:
    """The folder has a module with the name of a library, and one that a library tries to import.

    Modules in the folder of a policy's file are imported.
    """
    of_workers = ("pickle", "struct", "socket", "signal", "threading", "random", "cloudpickle")
    names = (
        "json",
        "re",
        "rich",
        "numpy",
        "argparse",
        "shutil",
        "nt",
        "msvcrt",
        "org",
        "helper",
        *of_workers,
    )
    for name in names:
        (tmp_path / f"{name}.py").write_text("raise SystemExit(f'{__name__} of the folder')")
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "helper.py").write_text("from deeper import BEACONS\n")
    (tmp_path / "policies" / "deeper.py").write_text("BEACONS = 2\n")
    (tmp_path / "policies" / "own.py").write_text(
        "import helper\nfrom psm_sim.policies import Policy, Rest\n\n"
        "class Own(Policy):\n    name = 'own'\n\n"
        "    def rest(self, *_):\n        return Rest(beacons=helper.BEACONS)\n"
    )
    words = ["--policy", "policies/own.py:Own", "--pages", "1", "--replications", "2", "--workers", "2"]
    words = [sys.executable, "-m", "psm_sim", *words]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_only_results_are_written_to_standard_output(tmp_path: Path) -> None:
    """Prints of a policy, and its writes to the descriptor, go to standard error."""
    (tmp_path / "own.py").write_text(
        "import os, sys\nfrom psm_sim.policies import Policy, Rest\n\n"
        "class Own(Policy):\n    name = 'own'\n\n"
        "    def rest(self, *_):\n        os.write(1, b'x')\n        print('y', file=sys.__stdout__)\n"
        "        return Rest()\n"
    )
    words = [sys.executable, "-m", "psm_sim", "--policy", "own.py:Own", "--pages", "1", "--format", "json"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)
    assert "x" in done.stderr
    assert "y" in done.stderr

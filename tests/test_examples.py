"""The examples: each prints what stands beside it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "examples"
SCRIPTS = sorted(FOLDER.glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_an_example_prints_what_stands_beside_it(script: Path, tmp_path: Path) -> None:
    """In a new interpreter, from another folder, without a warning; it leaves no file there."""
    done = subprocess.run(
        [sys.executable, "-W", "error", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == script.with_suffix(".txt").read_text(encoding="utf-8")
    assert list(tmp_path.iterdir()) == []


def test_the_list_of_examples_is_complete() -> None:
    """Every script is in the table, in its order, and every output belongs to one."""
    listed = re.findall(r"^\| \[(\S+\.py)\]", (FOLDER / "README.md").read_text(encoding="utf-8"), re.M)
    assert listed == [script.name for script in SCRIPTS]
    assert {path.stem for path in FOLDER.glob("*.txt")} == {script.stem for script in SCRIPTS}

"""Examples print their committed output."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "examples"
SCRIPTS = sorted(FOLDER.glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_an_example_prints_its_committed_output(script: Path, tmp_path: Path) -> None:
    """The interpreter is new and the folder another one. There are no warnings and no files."""
    done = subprocess.run(
        [sys.executable, "-W", "error", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == script.with_suffix(".txt").read_text(encoding="utf-8")
    assert list(tmp_path.iterdir()) == []


def test_the_notebook_runs_and_displays_its_results(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells run in one namespace, as in Jupyter. The committed notebook has no outputs."""
    displayed: list[Any] = []
    monkeypatch.setattr(sys, "displayhook", displayed.append)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    notebook = json.loads((FOLDER / "15-notebook.ipynb").read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)
            source = "".join(line for line in cell["source"] if not line.startswith("%"))
            exec(compile(ast.Interactive(ast.parse(source).body), cell["id"], "single"), namespace)  # noqa: S102
    kinds = [type(each).__name__ for each in displayed if each is not None]
    assert kinds == ["Comparison", "DataFrame", "Figure", "Figure", "Comparison", "Figure", "DataFrame"]


def test_the_list_of_examples_is_complete() -> None:
    """Every script is in the table in order, and every output belongs to a script."""
    listed = re.findall(r"^\| \[(\S+\.py)\]", (FOLDER / "README.md").read_text(encoding="utf-8"), re.M)
    assert listed == [script.name for script in SCRIPTS]
    assert {path.stem for path in FOLDER.glob("*.txt")} == {script.stem for script in SCRIPTS}

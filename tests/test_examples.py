"""Examples print their committed output."""

from __future__ import annotations

import ast
import json
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "examples"
SCRIPTS = sorted(FOLDER.glob("*.py"))


PROCESSES = {"01-first-comparison", "12-agent-process"}
"""Scripts that run in a new interpreter: the first one, and that with a process of its own."""


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_an_example_prints_its_committed_output(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The folder is another one. There are no warnings and no files."""
    if script.stem in PROCESSES:
        done = subprocess.run(
            [sys.executable, "-W", "error", script], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        output, messages = done.stdout, done.stderr
    else:
        monkeypatch.chdir(tmp_path)
        runpy.run_path(str(script), run_name="__main__")
        output, messages = capsys.readouterr()
    assert messages == ""
    assert output == script.with_suffix(".txt").read_text(encoding="utf-8")
    assert list(tmp_path.iterdir()) == []


def test_the_notebook_runs_and_displays_its_results(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells run in one namespace, as in Jupyter, with two pages and seeds.

    The committed notebook has no outputs.
    """
    displayed: list[Any] = []
    monkeypatch.setattr(sys, "displayhook", displayed.append)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    notebook = json.loads((FOLDER / "15-notebook.ipynb").read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)
            source = "".join(line for line in cell["source"] if not line.startswith("%"))
            source = re.sub(r"(pages|replications)=\d+", r"\1=2", source)
            exec(compile(ast.Interactive(ast.parse(source).body), cell["id"], "single"), namespace)  # noqa: S102
    kinds = [type(each).__name__ for each in displayed if each is not None]
    assert kinds == ["Comparison", "DataFrame", "Figure", "Figure", "Comparison", "Figure", "DataFrame"]


def test_the_list_of_examples_is_complete() -> None:
    """Every script is in the table in order, and every output belongs to a script."""
    listed = re.findall(r"^\| \[(\S+\.py)\]", (FOLDER / "README.md").read_text(encoding="utf-8"), re.M)
    assert listed == [script.name for script in SCRIPTS]
    assert {path.stem for path in FOLDER.glob("*.txt")} == {script.stem for script in SCRIPTS}

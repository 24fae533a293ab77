"""``reproduce`` in process: what it prints and writes, on a small study."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from psm_sim.cli import main


def test_a_study_is_printed_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON on standard output is what the folder has; the page has the command without the workers."""
    words = ["reproduce", "sleep-times", "--quick", "--seed", "2", "--workers", "1", "--format", "json"]
    assert main([*words, "--output", str(tmp_path / "new")]) == 0
    output, remark = capsys.readouterr()
    assert remark == f"Wrote README.md, numbers.json and figures to {tmp_path / 'new'}\n"
    assert (tmp_path / "new" / "numbers.json").read_text() == output
    found = json.loads(output)
    assert (found["seed"], list(found["studies"])) == (2, ["sleep-times"])
    page = (tmp_path / "new" / "README.md").read_text()
    assert f"reproduce sleep-times --quick --seed 2 --output {tmp_path / 'new'}\n" in page
    assert "--workers" not in page


def test_the_table_names_the_study_and_its_setting(capsys: pytest.CaptureFixture[str]) -> None:
    """One row per loss and family of think times."""
    assert main(["reproduce", "sleep-times", "--quick", "--workers", "1"]) == 0
    output = capsys.readouterr().out
    assert output.startswith("sleep-times: Evolution of LPSM's sleep times")
    assert "preset thesis-uniform, and think times of other tails; 30 pages, seed 1" in output
    cells = [line.split() for line in output.splitlines()]
    rows = [line[1] for line in cells if len(line) == 8 and line[1].startswith("inverse")]
    assert rows == ["inverse", "inverse-log"] * 5

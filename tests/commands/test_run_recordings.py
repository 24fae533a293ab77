"""The run on recordings: replayed or sampled, one client or many."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from psm_sim.cli import main
from psm_sim.simulation import Scenario, compare_clients
from tests.workload.recordings.ucb_files import write_sampled


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Work where s.tr.gz has a few clients and pages.csv one page."""
    monkeypatch.chdir(tmp_path)
    write_sampled(Path("s.tr.gz"), 4000)
    (tmp_path / "pages.csv").write_text("page,think_s,main_bytes,images\n1,5,1000,100;200\n")
    capsys.readouterr()


def output_of(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run, expect success, and return standard output."""
    assert main(["--policy", "psm", "--pages", "4", *words]) == 0
    return capsys.readouterr().out


def test_many_clients_are_averaged_in_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    """The table's, the JSON's and the CSV's numbers are those of Python."""
    expected = compare_clients(["psm"], Scenario("s.tr.gz:clients=2", pages=4), workers=1).runs[0].to_dict()
    words = ("--trace", "s.tr.gz:clients=2")
    found = json.loads(output_of(capsys, *words, "--format", "json"))
    assert {**found["runs"][0], "wall_s": 0} == {**expected, "wall_s": 0}
    assert (found["clients"], found["pages"]) == (2, 8)
    [row] = csv.DictReader(io.StringIO(output_of(capsys, *words, "--format", "csv")))
    assert row["clients"] == "2"
    assert float(row["half_width_95.slowdown.mean"]) == expected["half_width_95"]["slowdown.mean"]
    table = output_of(capsys, *words)
    assert "95 % confidence interval (Student's t) of the mean over 2 clients" in table
    assert f"{expected['half_width_95']['page_time_s.mean']:.3f}" in table

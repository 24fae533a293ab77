"""``psm_sim sweep`` and what can be done with its store, in process."""

from __future__ import annotations

import csv
import io
import json
import shlex
from pathlib import Path

import pytest

import psm_sim
from psm_sim.cli import main
from tests.campaign.sweep.common import write_policy

SWEEP = (
    "sweep --policy psm --policy always-on --vary policy.bsd.p=0.1,0.5 --vary seed=1..3 --pages 5 --workers 1"
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def words(line: str) -> list[str]:
    """Split a command line."""
    return shlex.split(line)


def table(text: str) -> list[dict[str, str]]:
    """Read CSV."""
    return list(csv.DictReader(io.StringIO(text)))


def test_the_table_has_the_best_of_each_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words(SWEEP)) == 0
    output, remarks = capsys.readouterr()
    assert remarks == "12 tasks in sweep.sqlite.\n"
    assert "trace ucb, topology three-node, pages 5." in output
    assert "psm" not in output.partition("The policies")[0].split()
    assert main(["sweep", "best", "sweep.sqlite"]) == 0
    assert capsys.readouterr().out == output
    assert main(["sweep", "best", "sweep.sqlite", "--format", "csv"]) == 0
    policies = {row["policy"] for row in table(capsys.readouterr().out)}
    assert policies == {"bsd:p=0.5"}


def test_the_output_is_the_same_for_any_number_of_workers(capsys: pytest.CaptureFixture[str]) -> None:
    """Byte for byte, as a table, CSV and JSON; the second form is read from the store of the first."""
    found = []
    for workers in ("1", "2"):
        store = ("--workers", workers, "--store", f"{workers}.sqlite")
        for form in ("csv", "json", "table"):
            assert main([*words(SWEEP.removesuffix(" --workers 1")), *store, "--format", form]) == 0
            found.append(capsys.readouterr().out)
    assert found[:3] == found[3:]
    assert len(set(found)) == 3


def test_a_grid_file_names_its_store(capsys: pytest.CaptureFixture[str]) -> None:
    Path("grid.toml").write_text('policies = ["psm"]\npages = 5\n[vary]\nseed = "1..3"\n')
    assert main(words("sweep grid.toml --workers 1 --format csv")) == 0
    output, remarks = capsys.readouterr()
    assert [row["seed"] for row in table(output)] == ["1", "2", "3"]
    assert remarks == "3 tasks in grid.sqlite.\n"
    assert main(words("sweep grid.toml --pages=6")) == 2
    assert "--pages=6 conflicts with the grid file 'grid.toml'" in capsys.readouterr().err


@pytest.mark.parametrize("line", ["sweep --pages 1", "sweep grid.toml"])
def test_a_sweep_that_varies_nothing_is_refused(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("grid.toml").touch()
    assert main(words(line)) == 2
    assert "single run; add --vary KEY=VALUES" in capsys.readouterr().err
    assert not list(Path().glob("*.sqlite"))


def test_a_failed_task_is_told_and_the_status_is_1(capsys: pytest.CaptureFixture[str]) -> None:
    """With its parameters and sentence, at once and by 'status'."""
    write_policy(Path("my.py"), before="if self.n == 2 and now_s > 1: raise ValueError('two')")
    line = "sweep --vary policy.my.py:Hears.n=1,2 --set power.awake_w=1 --pages 5 --workers 1"
    assert main(words(line)) == 1
    told = capsys.readouterr().err
    assert "failed: my.py:Hears:n=2 trace=ucb topology=three-node pages=5 seed=1 power.awake_w=1.0: " in told
    assert "ValueError: two" in told
    assert main(["sweep", "status", "sweep.sqlite"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "2 tasks: 1 done, 1 failed, 0 waiting."
    assert shown[1].startswith("Started 20")
    assert ", finished 20" in shown[1]
    assert shown[1].endswith(f": python -m psm_sim {line}")
    assert shown[2] == told.splitlines()[0]
    write_policy(Path("my.py"))
    assert main(words(line)) == 0


def test_a_store_is_exported_as_it_was_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """To standard output, or to a file in the format of its name."""
    main([*words(SWEEP), "--format", "csv"])
    printed = capsys.readouterr().out
    assert main(words("sweep export sweep.sqlite")) == 0
    assert capsys.readouterr().out == printed
    for name in ("a.csv", "a.json"):
        assert main(words(f"sweep export sweep.sqlite --to {name}")) == 0
    assert Path("a.csv").read_text() == printed
    tasks = json.loads(Path("a.json").read_text())["tasks"]
    assert [str(task["energy_per_page_j"]) for task in tasks] == [
        row["energy_per_page_j"] for row in table(printed)
    ]
    assert main(words("sweep export sweep.sqlite --to a.txt")) == 2
    assert "--to must end in .csv, .json or .parquet" in capsys.readouterr().err


def test_parquet_is_written_or_its_extra_named(capsys: pytest.CaptureFixture[str]) -> None:
    main(words(SWEEP))
    status = main(words("sweep export sweep.sqlite --to a.parquet"))
    try:
        import pandas as pd
        import pyarrow  # noqa: F401
    except ImportError:
        assert status == 2
        assert "pip install 'psm_sim[parquet]'" in capsys.readouterr().err
    else:
        assert status == 0
        found = pd.read_parquet("a.parquet")
        assert list(found["slowdown.mean"]) == list(psm_sim.load_sweep("sweep.sqlite")["slowdown.mean"])


def test_a_figure_has_its_numbers_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Means and half widths over the seeds; the same bytes each time."""
    main(words(SWEEP + " --vary power.awake_w=1,2"))
    assert main(words("sweep plot sweep.sqlite --x policy.bsd.p --by power.awake_w --to p.png")) == 0
    rows = table(Path("p.csv").read_text())
    assert [(row["power.awake_w"], row["policy.bsd.p"], row["seeds"]) for row in rows] == [
        ("1.0", "0.1", "3"), ("2.0", "0.1", "3"), ("1.0", "0.5", "3"), ("2.0", "0.5", "3"),
    ]  # fmt: skip
    frame = psm_sim.load_sweep("sweep.sqlite")
    mine = frame[(frame["policy"] == "bsd:p=0.1") & (frame["power.awake_w"] == 1)]["energy_per_page_j"]
    assert float(rows[0]["energy_per_page_j"]) == pytest.approx(mine.mean())
    assert float(rows[0]["energy_per_page_j ±"]) == pytest.approx(4.302653 * mine.std() / 3**0.5)
    first = Path("p.png").read_bytes()
    assert main(words("sweep plot sweep.sqlite --x policy.bsd.p --by power.awake_w --to p.png --force")) == 0
    assert Path("p.png").read_bytes() == first
    assert not Path("p.svg").exists()
    assert main(words("sweep plot sweep.sqlite --where power.awake_w=2 --where name=bsd")) == 0
    assert len(table(Path("sweep.csv").read_text())) == 2
    assert main(words("sweep plot sweep.sqlite --x trace --by policy --where power.awake_w=2 --force")) == 0
    assert len(table(Path("sweep.csv").read_text())) == 4


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("--x policy.bsd.p", "differ in power.awake_w; select one with --where power.awake_w=VALUE"),
        ("--x policy.bsd.q", "Unknown column 'policy.bsd.q'"),
        ("--where nosuch=1", "Unknown column 'nosuch'"),
        ("--where power.awake_w=x", "No finished task has slowdown.mean"),
        ("--x policy.bsd.p --where name=psm", "Unknown column 'policy.bsd.p'"),
    ],
)
def test_what_cannot_be_drawn_is_told(line: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(words(SWEEP + " --vary power.awake_w=1,2"))
    capsys.readouterr()
    assert main(words(f"sweep plot sweep.sqlite {line}")) == 2
    assert sentence in capsys.readouterr().err


def test_a_figure_has_series_that_can_be_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    main(words("sweep --vary policy.bsd.p=0.1..1.7:0.1 --pages 1 --workers 1"))
    assert main(words("sweep plot sweep.sqlite --by policy")) == 2
    assert "--by policy must give at most 16 series, got 17" in capsys.readouterr().err


def test_other_versions_are_told_and_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    import sqlite3

    main(words(SWEEP))
    database = sqlite3.connect("sweep.sqlite")
    database.execute("UPDATE tasks SET version = '0.0.9' WHERE seed = 3")
    database.commit()
    database.close()
    capsys.readouterr()
    assert main(words("sweep status sweep.sqlite")) == 0
    output, told = capsys.readouterr()
    assert output.startswith("8 tasks: 8 done, 0 failed, 0 waiting.\nBy version: 0.1.0 8, 0.0.9 4.\n")
    assert told == "4 tasks of version 0.0.9 are not shown.\n"
    assert main(words("sweep export sweep.sqlite")) == 0
    assert {row["seed"] for row in table(capsys.readouterr().out)} == {"1", "2"}
    database = sqlite3.connect("sweep.sqlite")
    database.execute("UPDATE tasks SET version = '0.0.9'")
    database.commit()
    database.close()
    assert main(words("sweep best sweep.sqlite")) == 2
    assert "has no task of version 0.1.0, only of 0.0.9; run the sweep again" in capsys.readouterr().err


def test_python_gives_the_same_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    """One column per parameter; without a store nothing is left behind."""
    main([*words(SWEEP), "--format", "csv"])
    printed = table(capsys.readouterr().out)
    frame = psm_sim.sweep(
        {"policy.bsd.p": [0.1, 0.5], "seed": "1..3"}, policies=["psm", "always-on"], pages=5, workers=1
    )
    assert list(frame.columns) == list(printed[0])
    assert [str(each) for each in frame["slowdown.p95"]] == [row["slowdown.p95"] for row in printed]
    assert frame["policy.bsd.p"].isna().sum() == 6
    assert sorted(path.name for path in Path.cwd().iterdir()) == ["sweep.sqlite"]
    assert psm_sim.load_sweep("sweep.sqlite").equals(frame)
    kept = psm_sim.sweep({"seed": 1}, preset="thesis", store="mine.sqlite", workers=1, pages=2)
    assert kept["trace.server_delay_ms"].tolist() == [650.0]
    with pytest.raises(psm_sim.common.errors.InputError, match=r"workers must be .*, got 0"):
        psm_sim.sweep({"seed": 1}, workers=0)

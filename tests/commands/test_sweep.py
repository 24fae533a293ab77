"""``psm_sim sweep`` and the export of its table, in process."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

import psm_sim
from psm_sim.campaign.sweep.table import open_table
from psm_sim.cli import main
from tests.campaign.sweep.common import write_policy

SWEEP = (
    "sweep --policy psm --policy always-on --vary policy.bsd.p=0.1,0.5 --vary seed=1..3 --pages 5 --workers 1"
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def words(line: str) -> list[str]:
    """Split a command line."""
    return shlex.split(line)


def table(text: str) -> list[dict[str, str]]:
    """Read CSV."""
    return list(csv.DictReader(io.StringIO(text)))


def test_the_table_has_the_best_policy_of_each_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words(SWEEP)) == 0
    output, remarks = capsys.readouterr()
    assert remarks == "12 tasks in sweep.sqlite.\n"
    assert "trace ucb, topology three-node, pages 5." in output
    assert "psm" not in output.partition("The policies")[0].split()
    figure = Path("sweep.sqlite.svg").read_bytes()
    assert figure.startswith(b"<?xml")
    assert main(words(SWEEP)) == 0
    assert capsys.readouterr().out == output
    assert Path("sweep.sqlite.svg").read_bytes() == figure


def test_a_figure_that_the_command_did_not_write_is_not_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    """A larger sweep replaces its own figure."""
    path = Path("sweep.sqlite.svg")
    main(words(SWEEP))
    figure = path.read_bytes()
    main(words(SWEEP.replace("1..3", "1..4")))
    assert path.read_bytes() != figure
    path.write_text("mine")
    capsys.readouterr()
    assert main(words(SWEEP)) == 0
    assert path.read_text() == "mine"
    assert "sweep.sqlite.svg is not the figure of this sweep and is kept; rename" in capsys.readouterr().err


def test_the_output_is_the_same_for_any_number_of_workers(capsys: pytest.CaptureFixture[str]) -> None:
    """Table, CSV and JSON are equal byte for byte."""
    outputs = []
    for workers in ("1", "2"):
        table = ("--workers", workers, "--output", f"{workers}.sqlite")
        for form in ("csv", "json", "table"):
            assert main([*words(SWEEP.removesuffix(" --workers 1")), *table, "--format", form]) == 0
            outputs.append(capsys.readouterr().out)
    assert outputs[:3] == outputs[3:]
    assert len(set(outputs)) == 3


def test_the_table_is_named_after_the_grid_file(capsys: pytest.CaptureFixture[str]) -> None:
    Path("grid.toml").write_text('policies = ["psm"]\npages = 5\n[vary]\nseed = "1..3"\n')
    assert main(words("sweep grid.toml --workers 1 --format csv")) == 0
    output, remarks = capsys.readouterr()
    assert [row["seed"] for row in table(output)] == ["1", "2", "3"]
    assert remarks == "3 tasks in grid.sqlite.\n"
    assert main(words("sweep grid.toml --pages=6")) == 2
    assert "--pages=6 conflicts with the grid file 'grid.toml'" in capsys.readouterr().err


def test_a_sweep_without_axes_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words("sweep --pages 1")) == 2
    assert "single run; add --vary KEY=VALUES" in capsys.readouterr().err
    assert not list(Path().glob("*.sqlite"))


def test_a_failed_task_is_reported_with_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    """The report has its parameters and error. The task runs again the next time, and there is no figure."""
    write_policy(Path("my.py"), before="if now_s > 1: raise ValueError('two')")
    line = "sweep --policy my.py:Hears:n=2 --set power.awake_w=1 --pages 5 --workers 1"
    assert main(words(line)) == 1
    output, messages = capsys.readouterr()
    assert output == "No task is done.\n"
    assert (
        "failed: my.py:Hears:n=2 trace=ucb topology=three-node pages=5 power.awake_w=1.0 seed=1: " in messages
    )
    assert "ValueError: two" in messages
    assert not Path("sweep.sqlite.svg").exists()
    write_policy(Path("my.py"))
    assert main(words(line)) == 0


def test_the_exported_table_equals_the_printed_table(capsys: pytest.CaptureFixture[str]) -> None:
    """Rows are sorted, on standard output and in a file."""
    main([*words(SWEEP), "--format", "json"])
    printed = json.loads(capsys.readouterr().out)["tasks"]
    assert main(words("sweep export sweep.sqlite")) == 0
    exported = capsys.readouterr().out
    rows = table(exported)
    assert sorted(str(task["energy_per_page_j"]) for task in printed) == sorted(
        row["energy_per_page_j"] for row in rows
    )
    assert [(row["policy"], row["seed"]) for row in rows] == sorted(
        (task["policy"], str(task["seed"])) for task in printed
    )
    assert main(words("sweep export sweep.sqlite --to a.csv")) == 0
    assert Path("a.csv").read_text() == exported
    assert main(words("sweep export sweep.sqlite --to a.txt")) == 2
    assert "--to must be a file that ends in .csv or .parquet, got 'a.txt'" in capsys.readouterr().err


def test_a_warning_is_printed_for_a_damaged_table(capsys: pytest.CaptureFixture[str]) -> None:
    """An export has the readable rows and the warning. A sweep runs the other tasks again."""
    main(words(SWEEP))
    capsys.readouterr()
    main(words("sweep export sweep.sqlite"))
    whole = capsys.readouterr().out
    with closing(sqlite3.connect("sweep.sqlite")) as database, database:
        database.execute("UPDATE rows SET measures = '{' WHERE seed = 2")
    capsys.readouterr()
    assert main(words("sweep export sweep.sqlite")) == 1
    output, warning = capsys.readouterr()
    assert {row["seed"] for row in table(output)} == {"1", "3"}
    assert re.fullmatch(
        r"sweep.sqlite is damaged: row \d+: .*\. The rows that can be read are shown\.\n", warning
    )
    assert main(words(SWEEP)) == 0
    warning = capsys.readouterr().err
    assert warning.startswith("sweep.sqlite was damaged: row ")
    assert warning.endswith("It is now sweep.sqlite.damaged.\n12 tasks in sweep.sqlite.\n")
    assert main(words("sweep export sweep.sqlite")) == 0
    assert capsys.readouterr().out == whole


def test_parquet_has_the_numbers_of_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyarrow", reason="the extra psm_sim[parquet] is not installed")
    import pandas as pd

    main(words(SWEEP))
    assert main(words("sweep export sweep.sqlite --to a.parquet")) == 0
    frame = pd.read_parquet("a.parquet")
    assert list(frame["slowdown.mean"]) == list(psm_sim.load_sweep("sweep.sqlite")["slowdown.mean"])


def test_the_error_for_parquet_without_pyarrow_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    main(words(SWEEP))
    assert main(words("sweep export sweep.sqlite --to a.parquet")) == 2
    assert "pip install 'psm_sim[parquet]'" in capsys.readouterr().err


def test_rows_of_different_versions_are_omitted_with_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    main(words(SWEEP))
    with closing(sqlite3.connect("sweep.sqlite")) as database, database:
        database.execute("UPDATE rows SET version = '0.0.9' WHERE seed = 3")
    capsys.readouterr()
    assert main(words("sweep export sweep.sqlite")) == 0
    output, warning = capsys.readouterr()
    assert warning == "Tasks of version 0.0.9 are not shown.\n"
    assert {row["seed"] for row in table(output)} == {"1", "2"}
    with closing(sqlite3.connect("sweep.sqlite")) as database, database:
        database.execute("UPDATE rows SET key = version || key WHERE seed = 3")
    assert main(words(SWEEP)) == 0
    with open_table(Path("sweep.sqlite"), new=False) as stored:
        assert [len(stored.rows), len(stored.current_rows())] == [16, 12]
    capsys.readouterr()
    with closing(sqlite3.connect("sweep.sqlite")) as database, database:
        database.execute("UPDATE rows SET version = '0.0.9'")
    assert main(words("sweep export sweep.sqlite")) == 2
    assert "has no task of version 0.1.0, only of 0.0.9; run the sweep again" in capsys.readouterr().err


def test_the_function_psm_sim_sweep_gives_the_numbers_of_the_sweep_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The frame has a column per parameter. Without an output no files are written."""
    main([*words(SWEEP), "--format", "csv"])
    printed = table(capsys.readouterr().out)
    frame = psm_sim.sweep(
        {"policy.bsd.p": [0.1, 0.5], "seed": "1..3"}, policies=["psm", "always-on"], pages=5, workers=1
    )
    assert list(frame.columns) == list(printed[0])
    assert [str(value) for value in frame["slowdown.p95"]] == [row["slowdown.p95"] for row in printed]
    assert frame["policy.bsd.p"].isna().sum() == 6
    assert sorted(path.name for path in Path.cwd().iterdir()) == ["sweep.sqlite"]
    loaded = psm_sim.load_sweep("sweep.sqlite").set_index(["policy", "seed"])
    assert loaded.sort_index(axis=1).equals(
        frame.sort_values(["policy", "seed"]).set_index(["policy", "seed"]).sort_index(axis=1)
    )
    stored = psm_sim.sweep({"seed": 1}, preset="thesis", output="mine.sqlite", workers=1, pages=2)
    assert stored["trace.server_delay_ms"].tolist() == [650.0]
    with pytest.raises(psm_sim.common.errors.InputError, match=r"workers must be .*, got 0"):
        psm_sim.sweep({"seed": 1}, workers=0)

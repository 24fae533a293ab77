"""Runs of sweeps: numbers, stored tasks, failed tasks, and workers."""

from __future__ import annotations

import os
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import psm_sim
from psm_sim.campaign.sweep import run as run_of_sweep
from psm_sim.campaign.sweep.results import candidates, table_rows
from psm_sim.campaign.sweep.run import Job
from psm_sim.campaign.sweep.table import TaskRow, open_table
from psm_sim.common import opened_files
from psm_sim.common.errors import PLUGIN, InputError
from psm_sim.simulation.run import Task
from tests.campaign.sweep.common import grid, run, write_policy

SMALL = grid("policy.bsd.p=0.1,0.5", "seed=1,2", policies=("psm", "bsd"))


@pytest.fixture(autouse=True)
def runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Change to an empty folder; return the keys of the tasks that this process runs."""
    keys: list[str] = []
    original = run_of_sweep.run_job

    def record(contents: dict[str, bytes], job: Job, folder: Path | None) -> Iterator[TaskRow]:
        keys.extend(row.key for row in job.rows)
        return original(contents, job, folder)

    monkeypatch.setattr(run_of_sweep, "run_job", record)
    monkeypatch.chdir(tmp_path)
    return keys


def test_a_sweep_has_the_numbers_of_single_runs() -> None:
    """The table has a row per policy, parameter and seed, and every parameter."""
    rows = run(Path("a.sqlite"), SMALL)
    assert [(row.policy, row.seed, row.state) for row in rows] == [
        (policy, seed, "done") for policy in ("psm", "bsd:p=0.1", "bsd:p=0.5") for seed in (1, 2)
    ]
    alone = psm_sim.simulate("bsd:p=0.5", pages=5, seed=2)
    assert rows[-1].measures["energy_per_page_j"] == alone.energy_per_page_j
    assert rows[-1].measures["slowdown.p95"] == alone.slowdown.p95
    assert rows[-1].parameters["policy.bsd.p"] == 0.5
    assert rows[-1].parameters["trace.server_delay_ms"] is not None


def test_stored_tasks_are_not_run_again(runs: list[str]) -> None:
    """A larger sweep on the same table runs only new tasks; each sweep returns its own rows."""
    path = Path("a.sqlite")
    first = run(path, SMALL)
    assert len(runs) == len(set(runs)) == 6
    assert run(path, SMALL) == first
    assert len(runs) == 6
    larger = run(path, grid("policy.bsd.p=0.1,0.5,1", "seed=1..3", policies=("psm", "bsd")))
    assert len(runs) == len(set(runs)) == 12
    assert [row for row in larger if row in first] == first


def test_a_task_with_a_changed_file_runs_again(runs: list[str]) -> None:
    """Rows of the old file stay in the table, and are returned for the old content."""
    write_policy(Path("my.py"))
    path, mine = Path("a.sqlite"), grid(policies=("my.py:Hears:n=2",))
    (first,) = run(path, mine)
    write_policy(Path("my.py"), beacons="4")
    (second,) = run(path, mine)
    assert first.measures["energy_per_page_j"] != second.measures["energy_per_page_j"]
    assert shown(path) == [second]
    write_policy(Path("my.py"))
    assert run(path, mine) == [first]
    assert len(runs) == 2
    assert shown(path) == [first]


def shown(path: Path) -> list[TaskRow]:
    """Return the rows of an export."""
    with open_table(path, new=False) as table:
        return table.current_rows()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_failed_task_does_not_stop_the_other_tasks(workers: int, runs: list[str]) -> None:
    """The table has the parameters and the error of the failed task, with the file as the user names it."""
    write_policy(Path("my.py"), before="if self.n == 3 and now_s > 1: raise ValueError('three', __file__)")
    path, mine = (
        Path("a.sqlite"),
        grid("policy.my.py:Hears.n=1..4", "seed=1,2", policies=("my.py:Hears", "psm")),
    )
    rows = run(path, mine, workers)
    failed = [row for row in rows if row.state == "failed"]
    assert [(row.policy, row.seed) for row in failed] == [("my.py:Hears:n=3", 1), ("my.py:Hears:n=3", 2)]
    assert [row.state for row in rows].count("done") == 8
    assert failed[0].parameters["policy.my.py:Hears.n"] == 3
    assert "ValueError: ('three', 'my.py')" in failed[0].error
    assert failed[0].measures == {}
    done = len(runs)
    assert run(path, mine) == rows  # the failed tasks run again
    assert len(runs) == done + 2
    write_policy(Path("my.py"))
    assert {row.state for row in run(path, mine)} == {row.state for row in shown(path)} == {"done"}


def test_policies_on_several_stations_share_one_reference_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All policies share one run without power saving; a failed policy does not affect the others."""
    compared: list[int] = []
    original = run_of_sweep.run_task

    def record(policies: list, task: Task) -> Iterator:
        compared.append(len(policies))
        return original(policies, task)

    monkeypatch.setattr(run_of_sweep, "run_task", record)
    among = {"topology": "cafe", "pages": 2}
    together = run(Path("a.sqlite"), grid("seed=1", policies=("psm", "bsd"), **among))
    assert compared == [2]
    write_policy(Path("my.py"), before="if now_s > 1: raise ValueError('no')")
    alone = run(Path("b.sqlite"), grid("seed=1", policies=("psm", "bsd", "my.py:Hears"), **among))
    assert compared == [2, 3]
    assert [row.state for row in alone] == ["done", "done", "failed"]
    assert [row.measures for row in alone[:2]] == [row.measures for row in together]
    assert [list(row.measures) for row in together] == [["reader", "laptop"]] * 2
    assert [row["station"] for row in table_rows(together)] == ["reader", "laptop"] * 2
    assert [
        (policy.row.policy, policy.row.scenario["station"], policy.interval("energy_per_page_j").mean)
        for policy in candidates(together)
    ] == [
        (row.policy, station, measures["energy_per_page_j"])
        for row in together
        for station, measures in row.measures.items()
    ]


@pytest.mark.parametrize("policy", ["nosuch", "bsd:p=-1"])
def test_an_invalid_sweep_is_an_error_before_the_first_task(policy: str, runs: list[str]) -> None:
    """No table is created, and an existing one is not changed."""
    path = Path("a.sqlite")
    invalid = grid("seed=1,2", policies=("psm", policy))
    with pytest.raises(InputError, match=policy.partition(":")[0]):
        run(path, invalid)
    assert runs == list(Path().iterdir()) == []
    run(path, SMALL)
    before = shown(path)
    with pytest.raises(InputError, match=policy.partition(":")[0]):
        run(path, invalid)
    assert shown(path) == before


def test_user_files_are_sent_to_workers_by_content() -> None:
    """Edits of a page list or of a nested loss during a sweep do not change its numbers."""
    Path("pages.csv").write_text("page,think_s,main_bytes,images\n1,5,1000,100;200\n2,2.5,4000,\n")
    Path("my.py").write_text(
        "from pathlib import Path\nfrom psm_sim.losses import InverseLoss\nhere = Path('my.py')\n"
        "if here.exists(): here.write_text('1 +')\n\n\nclass Mine(InverseLoss):\n    name = 'mine'\n"
    )
    rows = run(
        Path("a.sqlite"), grid("seed=1,2", policies=("lpsm:loss=(my.py:Mine:gamma=1e-4)",), trace="pages.csv")
    )
    assert [row.state for row in rows] == ["done", "done"]
    assert Path("my.py").read_text() == "1 +"
    same = psm_sim.simulate("lpsm:loss=(inverse:gamma=1e-4)", trace="pages.csv", pages=5)
    assert rows[0].measures["energy_per_page_j"] == same.energy_per_page_j


def test_a_file_that_is_not_a_table_is_an_error() -> None:
    """The cases are a text, a database of another program, a folder, and a missing file."""
    Path("text.sqlite").write_text("a text that is surely no database" * 40)
    other = sqlite3.connect("other.sqlite")
    other.execute("CREATE TABLE rows (text)")
    other.commit()
    other.close()
    Path("folder").mkdir()
    os.mkfifo("pipe")
    before = {name: Path(name).read_bytes() for name in ("text.sqlite", "other.sqlite")}
    for name, sentence in (
        ("text.sqlite", "'text.sqlite' cannot be used: file is not a database"),
        ("other.sqlite", "'other.sqlite' is not a table of a sweep"),
        ("folder", "'folder' is not a regular file"),
        ("pipe", "'pipe' is not a regular file"),
        ("none/none.sqlite", "'none/none.sqlite' cannot be used: .*No such file"),
    ):
        with pytest.raises(InputError, match=sentence):
            run(Path(name), SMALL)
    with pytest.raises(InputError, match=r"Table not found: 'none\.sqlite'"):
        psm_sim.load_sweep("none.sqlite")
    assert not Path("none.sqlite").exists()
    assert before == {name: Path(name).read_bytes() for name in before}


def test_a_sweep_without_an_output_leaves_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert len(psm_sim.sweep({"seed": "1..2"}, ["psm"], workers=1, pages=2)) == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("vary", "words", "sentence"),
    [
        (["seed=1"], {}, r"vary must be a dictionary .*, got \['seed=1'\]"),
        ({}, {"policies": "psm"}, "policies must be a list of strings, got 'psm'"),
        ({}, {"settings": 3}, "settings must be a dictionary .*, got 3"),
        ({}, {"pages": 1.5}, "pages must be an integer .*, got '1.5'"),
        ({}, {"seed": 2**63}, "seed must be .*, got '9223372036854775808'"),
        ({"pages": [1, 2]}, {"pages": 2}, "pages is specified twice"),
    ],
)
def test_the_error_for_an_argument_of_a_wrong_type_names_the_argument(
    vary: Any, words: dict[str, Any], sentence: str
) -> None:
    """A single text is not a list of texts, because its letters would be policies."""
    with pytest.raises(InputError, match=sentence):
        psm_sim.sweep(vary, workers=1, **words)


def test_readable_rows_of_a_damaged_table_are_recovered(runs: list[str]) -> None:
    """An export warns. The next sweep runs the other tasks again, and renames the damaged file."""
    path, seeds = Path("a.sqlite"), grid("seed=1..40", policies=("psm",), pages=2)
    expected = run(path, seeds)
    assert len(runs) == 40
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("PRAGMA journal_mode = DELETE")
        size = database.execute("PRAGMA page_size").fetchone()[0]
    content = bytearray(path.read_bytes())
    content[-5 * size : -4 * size] = b"x" * size
    path.write_bytes(content)
    damaged = path.read_bytes()
    recovered = shown(path)
    assert 10 < len(recovered) < 40
    assert all(row in expected for row in recovered)
    assert path.read_bytes() == damaged
    Path("a.sqlite.damaged").touch()
    with pytest.raises(InputError, match=r"a.sqlite is damaged, and a.sqlite.damaged exists; rename"):
        run(path, seeds)
    Path("a.sqlite.damaged").unlink()
    assert run(path, seeds) == expected
    assert len(runs) == 40 + 40 - len(recovered)
    assert Path("a.sqlite.damaged").read_bytes() == damaged
    assert shown(path) == expected
    assert run(path, seeds) == expected
    assert len(runs) == 40 + 40 - len(recovered)


@pytest.mark.parametrize("name", ["library/helper.py", "table.txt", "late.txt"])
def test_a_task_runs_again_if_a_file_that_it_opened_changes(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, runs: list[str]
) -> None:
    """The file is an imported module, or data read before or during the run. Other tasks do not run again."""

    def sweep() -> list[TaskRow]:
        """Run the sweep as a new process would."""
        for module in [key for key in sys.modules if key == "helper" or key.startswith(PLUGIN)]:
            monkeypatch.delitem(sys.modules, module)
        monkeypatch.setattr(opened_files, "_digests", {})
        return run(Path("a.sqlite"), grid(policies=("psm", "my.py:Hears")))

    Path("library").mkdir()
    files = {"library/helper.py": "LIMIT = 1", "table.txt": "1", "late.txt": "1"}
    for file, text in files.items():
        Path(file).write_text(text)
    monkeypatch.syspath_prepend(tmp_path / "library")
    write_policy(
        Path("my.py"),
        "LIMIT * TABLE * int(Path(late).read_text())",
        f"late = {str(Path('late.txt').absolute())!r}",
    )
    table = str(tmp_path / "table.txt")
    code = f"from pathlib import Path\nfrom helper import LIMIT\nTABLE = int(Path({table!r}).read_text())\n"
    Path("my.py").write_text(code + Path("my.py").read_text())
    before = sweep()
    assert before[0].files == {}
    assert before[1].files.keys() >= {str(tmp_path / file) for file in files}
    assert str(tmp_path / "my.py") not in before[1].files  # the key has its content
    assert sweep() == before
    assert len(runs) == 2
    Path(name).write_text(files[name].replace("1", "10"))
    after = sweep()
    assert after[0] == before[0]
    assert after[1].measures["energy_per_page_j"] < before[1].measures["energy_per_page_j"]
    assert sweep() == after
    assert len(runs) == 3

"""Sweeps that are killed, interrupted, started twice at once or out of room lose nothing."""

from __future__ import annotations

import os
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

GRID = "--policy psm --policy lpsm --vary policy.bsd.p=0.1,0.5 --vary seed=1..6 --pages 20 --format csv"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there are no such signals on Windows")


@pytest.fixture
def start(tmp_path: Path) -> Iterator:
    """Give a function that starts a sweep in a folder of the test's own; what still runs then is ended."""
    begun: list[subprocess.Popen[str]] = []

    def starting(words: str, **options) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "psm_sim", "sweep", *shlex.split(words)],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )
        begun.append(process)
        return process

    yield starting
    for process in begun:
        process.kill()
        process.communicate()


def done(path: Path) -> int:
    """Return the number of rows of a table; 0 as long as there is none."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)) as database, database:
            return int(database.execute("SELECT count(*) FROM rows").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def without_progress(told: str) -> str:
    """Leave out the lines that a command prints every ten seconds, as it does on a busy machine."""
    return "".join(line for line in told.splitlines(keepends=True) if " s elapsed" not in line)


def wait_for(process: subprocess.Popen[str], path: Path, count: int) -> None:
    """Wait until *count* tasks are done, or the process is over."""
    while process.poll() is None and done(path) < count:
        time.sleep(0.005)


def test_a_killed_sweep_ends_as_one_that_was_not(start, tmp_path: Path) -> None:
    """With the same rows and export; one kill comes before the first task, the other between two tasks."""
    expected, _ = start(f"{GRID} --output whole.sqlite --workers 1").communicate()
    path = tmp_path / "killed.sqlite"
    for workers, tasks in ((1, 0), (2, 1)):
        process = start(f"{GRID} --output killed.sqlite --workers {workers}")
        wait_for(process, path, tasks)
        process.kill()
        process.communicate()
    assert done(path) >= 1
    found, _ = start(f"{GRID} --output killed.sqlite --workers 2").communicate()
    assert found == expected
    assert found.count("\n") == 25
    exported = [start(f"export {name}.sqlite").communicate()[0] for name in ("whole", "killed")]
    assert exported[0] == exported[1] != ""


@pytest.mark.parametrize(
    ("workers", "number", "status", "sentence"),
    [
        (1, signal.SIGINT, 130, "psm_sim: interrupted.\n"),
        (2, signal.SIGTERM, 143, "psm_sim: terminated by SIGTERM.\n"),
    ],
)
def test_an_interrupt_ends_it_and_the_next_run_goes_on(
    workers: int, number: int, status: int, sentence: str, start, tmp_path: Path
) -> None:
    path = tmp_path / "sweep.sqlite"
    process = start(f"--policy psm --vary seed=1..400 --pages 100 --workers {workers}")
    wait_for(process, path, 1)
    process.send_signal(number)
    _, told = process.communicate()
    assert (process.returncode, without_progress(told)) == (status, sentence)
    before = done(path)
    assert before >= 1
    _, told = start(f"--policy psm --vary seed=1..6 --pages 100 --workers {workers}").communicate()
    assert without_progress(told) == "6 tasks in sweep.sqlite.\n"
    assert before <= done(path) <= before + 6


def test_a_second_sweep_on_a_table_is_refused(start, tmp_path: Path) -> None:
    """In one line; the first goes on, and when it is killed, the table is free at once."""
    path = tmp_path / "sweep.sqlite"
    first = start("--policy psm --vary seed=1..400 --pages 100 --workers 1")
    wait_for(first, path, 1)
    second = start("--policy psm --vary seed=1..2 --pages 100 --workers 1")
    output, told = second.communicate()
    assert (second.returncode, output) == (2, "")
    assert "psm_sim: The table 'sweep.sqlite' is in use by another sweep; wait" in told
    assert first.poll() is None
    first.kill()
    first.communicate()
    third = start("--policy psm --vary seed=1..2 --pages 100 --workers 1")
    third.communicate()
    assert third.returncode == 0


def test_a_full_disk_is_told_and_spoils_nothing(start, tmp_path: Path) -> None:
    """What was there is there, and the sweep goes on when there is room again."""
    import resource

    path = tmp_path / "sweep.sqlite"
    first, _ = start("--policy psm --vary seed=1..3 --pages 2 --workers 1 --format csv").communicate()

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, path.stat().st_size))

    words = "--policy psm --vary seed=1..100 --pages 2 --workers 1 --format csv"
    process = start(words, preexec_fn=limit)
    _, told = process.communicate()
    assert process.returncode == 2
    assert told.startswith("psm_sim: The table 'sweep.sqlite' cannot be used: ")
    assert told.count("\n") == 1
    again, _ = start("--policy psm --vary seed=1..3 --pages 2 --workers 1 --format csv").communicate()
    assert again == first
    process = start(words)
    found, _ = process.communicate()
    assert process.returncode == 0
    assert found.count(",done,") == 100

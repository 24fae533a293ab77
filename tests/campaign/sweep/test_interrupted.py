"""Sweeps lose no rows if they are killed, interrupted, run twice at once, or the disk is full."""

from __future__ import annotations

import os
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from psm_sim.cli import main

GRID = "--policy psm --policy lpsm --vary policy.bsd.p=0.1,0.5 --vary seed=1..6 --pages 20 --format csv"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there are no such signals on Windows")


@pytest.fixture
def start(tmp_path: Path) -> Iterator:
    """Yield a function that starts a sweep in a temporary folder; at the end, kill running sweeps."""
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


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable:
    """Return a function that runs a command in this process, and returns its status, output and messages."""
    monkeypatch.chdir(tmp_path)
    return lambda words: (main(shlex.split(words)), *capsys.readouterr())


def done(path: Path) -> int:
    """Return the number of rows of a table, or 0 without a table."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)) as database, database:
            return int(database.execute("SELECT count(*) FROM rows").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def without_progress(messages: str) -> str:
    """Remove the progress lines, which a command prints every ten seconds."""
    return "".join(line for line in messages.splitlines(keepends=True) if " s elapsed" not in line)


def wait_for(process: subprocess.Popen[str], path: Path, count: int) -> None:
    """Wait until *count* tasks are done, or the process has ended."""
    while process.poll() is None and done(path) < count:
        time.sleep(0.005)


def test_a_killed_sweep_that_is_continued_gives_the_rows_of_an_uninterrupted_sweep(
    start, run, tmp_path: Path
) -> None:
    """The sweep is killed before the first task or between two tasks; exports are equal, too."""
    _, expected, _ = run(f"sweep {GRID} --output whole.sqlite --workers 1")
    path = tmp_path / "killed.sqlite"
    for workers, tasks in ((1, 0), (2, 1)):
        process = start(f"{GRID} --output killed.sqlite --workers {workers}")
        wait_for(process, path, tasks)
        process.kill()
        process.communicate()
    assert done(path) >= 1
    _, output, _ = run(f"sweep {GRID} --output killed.sqlite --workers 1")
    assert output == expected
    assert output.count("\n") == 25
    exported = [run(f"sweep export {name}.sqlite")[1] for name in ("whole", "killed")]
    assert exported[0] == exported[1] != ""


@pytest.mark.parametrize(
    ("workers", "number", "status", "sentence"),
    [
        (1, signal.SIGINT, 130, "psm_sim: interrupted.\n"),
        (2, signal.SIGTERM, 143, "psm_sim: terminated by SIGTERM.\n"),
    ],
)
def test_an_interrupt_ends_a_sweep_and_the_next_run_continues_the_sweep(
    workers: int, number: int, status: int, sentence: str, start, run, tmp_path: Path
) -> None:
    path = tmp_path / "sweep.sqlite"
    process = start(f"--policy psm --vary seed=1..2000 --pages 40 --workers {workers}")
    wait_for(process, path, 1)
    process.send_signal(number)
    _, messages = process.communicate()
    assert (process.returncode, without_progress(messages)) == (status, sentence)
    before = done(path)
    assert before >= 1
    _, _, messages = run("sweep --policy psm --vary seed=1..6 --pages 40 --workers 1")
    assert without_progress(messages) == "6 tasks in sweep.sqlite.\n"
    assert before <= done(path) <= before + 6


def test_a_second_sweep_that_writes_the_same_table_is_an_error(start, run, tmp_path: Path) -> None:
    """The first sweep continues; when it is killed, the table is free immediately."""
    path = tmp_path / "sweep.sqlite"
    first = start("--policy psm --vary seed=1..2000 --pages 40 --workers 1")
    wait_for(first, path, 1)
    second = "sweep --policy psm --vary seed=1..2 --pages 40 --workers 1"
    status, output, messages = run(second)
    assert (status, output) == (2, "")
    assert "psm_sim: The table 'sweep.sqlite' is in use by another sweep; wait" in messages
    assert first.poll() is None
    first.kill()
    first.communicate()
    assert run(second)[0] == 0


def test_a_full_disk_is_an_error_and_loses_no_rows(start, run, tmp_path: Path) -> None:
    """The stored rows remain, and the sweep continues when there is space again."""
    import resource

    path = tmp_path / "sweep.sqlite"
    few = "sweep --policy psm --vary seed=1..3 --pages 2 --workers 1 --format csv"
    _, first, _ = run(few)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, path.stat().st_size))

    words = "--policy psm --vary seed=1..40 --pages 2 --workers 1 --format csv"
    process = start(words, preexec_fn=limit)
    _, message = process.communicate()
    assert process.returncode == 2
    assert message.startswith("psm_sim: The table 'sweep.sqlite' cannot be used: ")
    assert message.count("\n") == 1
    assert run(few)[:2] == (0, first)
    status, output, _ = run(f"sweep {words}")
    assert status == 0
    assert output.count(",done,") == 40

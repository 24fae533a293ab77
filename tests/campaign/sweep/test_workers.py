"""Workers of a sweep: tasks that end their worker, and prints of user code."""

from __future__ import annotations

import multiprocessing
import os
import re
import shlex
import subprocess
import sys
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from psm_sim.campaign.sweep.run import make_jobs, run_job, run_sweep_tasks
from psm_sim.campaign.sweep.table import open_table
from psm_sim.common.errors import InputError
from tests.campaign.sweep.common import grid, run, write_policy

needs_posix = pytest.mark.skipif(os.name == "nt", reason="there are no such signals on Windows")


@needs_posix
def test_a_task_that_kills_its_worker_runs_once_and_no_other_task_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other tasks of the worker run again, with and without user code."""
    monkeypatch.chdir(tmp_path)
    dies = "if self.n == 2 and now_s > 1: open('deaths', 'a').write('x'); import os; os._exit(3)"
    write_policy(Path("my.py"), before=dies)
    policies = ("my.py:Hears", "psm")
    rows = run(None, grid("policy.my.py:Hears.n=1..3", "seed=1..3", policies=policies), workers=2)
    failed = [row for row in rows if row.state == "failed"]
    assert [row.parameters["policy.my.py:Hears.n"] for row in failed] == [2, 2, 2]
    assert len(rows) == 12
    assert {row.error for row in failed} == {"its process has ended with exit status 3."}
    assert Path("deaths").read_text() == "xxx"


def test_the_first_task_of_a_job_is_not_run_again_after_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second run would not create the directory."""
    monkeypatch.chdir(tmp_path)
    write_policy(Path("my.py"), before="if self.n == 1 and now_s > 1: import os; os.mkdir('failed'); 1 / 0")
    rows = run(None, grid("policy.my.py:Hears.n=1..3"))
    assert [row.state for row in rows] == ["failed", "done", "done"]
    assert "ZeroDivisionError" in rows[0].error


@pytest.mark.parametrize("failure", ["1 / 0", pytest.param("import os; os._exit(3)", marks=needs_posix)])
def test_a_policy_that_fails_its_trial_fails_only_its_own_tasks(failure: str, tmp_path: Path) -> None:
    """The tasks of the other policies are done."""
    words = shlex.split("--policy my.py:Hears --policy psm --vary seed=1..2 --pages 5 --format csv")
    command = [sys.executable, "-m", "psm_sim", "sweep", *words, "--workers", "1"]
    write_policy(tmp_path / "my.py", before=failure)
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert re.findall(r"^(\S+?),.*,(done|failed),", done.stdout, re.MULTILINE) == [
        ("my.py:Hears", "failed"),
        ("my.py:Hears", "failed"),
        ("psm", "done"),
        ("psm", "done"),
    ]
    assert done.stderr.count("failed: 2 tasks, the first is my.py:Hears ") == 1


@needs_posix
def test_workers_killed_from_outside_lose_no_task() -> None:
    tasks = grid("seed=1..8", policies=("psm", "lpsm")).tasks()
    killed = list[BaseProcess]()

    def kill(done: int, *_: object) -> None:
        if done and not killed:
            killed.extend(multiprocessing.active_children())
            for process in killed:
                process.kill()

    with open_table(None) as table, open_table(None) as other:
        rows = run_sweep_tasks(tasks, table, 2, kill)
        assert killed
        assert rows == run_sweep_tasks(tasks, other, 1)
    assert {row.state for row in rows} == {"done"}


def finished(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run Python, and return its completed process."""
    return subprocess.run([sys.executable, *words], cwd=cwd, capture_output=True, text=True, check=True)


def test_what_user_code_prints_goes_to_standard_error(tmp_path: Path) -> None:
    """Standard output has only the output of the command, also without worker processes."""
    write_policy(tmp_path / "my.py", before="print('stray')")
    words = ["--policy", "my.py:Hears", "--vary", "seed=1..2", "--pages", "5", "--format", "csv"]
    done = finished("-m", "psm_sim", "sweep", *words, "--workers=1", cwd=tmp_path)
    assert "stray" not in done.stdout
    assert len(done.stdout.splitlines()) == 3
    assert "stray" in done.stderr


def test_a_worker_of_a_different_version_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    (task,) = grid(policies=("psm",)).tasks()
    (job,), _ = make_jobs({"key": task}, 1)
    monkeypatch.setattr("psm_sim.campaign.sweep.run.__version__", "9.9")
    with pytest.raises(InputError, match=r"has psm_sim 9\.9, expected 0\.1\.0; install 0\.1\.0 there"):
        list(run_job({}, job))

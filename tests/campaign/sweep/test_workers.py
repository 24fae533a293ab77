"""Workers of a sweep: a task that ends its worker fails alone, and what user code prints goes elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from psm_sim.campaign.sweep.job import make_jobs, run_job
from psm_sim.common.errors import InputError
from tests.campaign.sweep.common import grid, run, write_policy

needs_posix = pytest.mark.skipif(os.name == "nt", reason="there are no such signals on Windows")


@needs_posix
def test_a_task_that_kills_its_worker_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_policy(Path("my.py"), before="if self.n == 3 and now_s > 1: import os; os._exit(3)")
    rows = run(tmp_path / "a.sqlite", grid("policy.my.py:Hears.n=1..4", "seed=1..3"), workers=2)
    failed = [row.parameters["policy.my.py:Hears.n"] for row in rows if row.state == "failed"]
    assert failed == [3, 3, 3]
    assert len(rows) == 12
    assert {row.error.partition(":")[0] for row in rows} == {"", "The worker returned no result"}


KILLS_ONCE = """import os
        if now_s > 1 and not os.path.exists('killed'):
            open('killed', 'w')
            os.kill(os.getpid(), 9)"""


@needs_posix
def test_a_worker_killed_from_outside_loses_no_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_policy(Path("my.py"), before=KILLS_ONCE)
    mine = grid("seed=1..8", policies=("my.py:Hears", "psm"))
    rows = run(tmp_path / "a.sqlite", mine, workers=2)
    assert Path("killed").exists()
    assert rows == run(tmp_path / "b.sqlite", mine, workers=1)
    assert {row.state for row in rows} == {"done"}


def finished(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Return what Python has printed by its successful end."""
    return subprocess.run([sys.executable, *words], cwd=cwd, capture_output=True, text=True, check=True)


def test_what_user_code_prints_goes_to_standard_error(tmp_path: Path) -> None:
    """Standard output is the command's, also without worker processes."""
    write_policy(tmp_path / "my.py", before="print('stray')")
    words = ["--policy", "my.py:Hears", "--vary", "seed=1..2", "--pages", "5", "--format", "csv"]
    done = finished("-m", "psm_sim", "sweep", *words, "--workers=1", cwd=tmp_path)
    assert "stray" not in done.stdout
    assert len(done.stdout.splitlines()) == 3
    assert "stray" in done.stderr


def test_a_worker_of_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    (task,) = grid(policies=("psm",)).tasks()
    (job,) = make_jobs({"key": task}, 1)
    monkeypatch.setattr("psm_sim.campaign.sweep.job.__version__", "9.9")
    with pytest.raises(InputError, match=r"has psm_sim 9\.9, expected 0\.1\.0; install 0\.1\.0 there"):
        run_job({}, job)

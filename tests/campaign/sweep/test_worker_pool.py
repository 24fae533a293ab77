"""Workers of a sweep: one that dies takes nothing with it, and none outlives its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from psm_sim.campaign.sweep import worker as worker_module
from psm_sim.campaign.sweep import worker_pool as pool_module
from psm_sim.campaign.sweep.task_batches import Batch
from psm_sim.campaign.sweep.user_files import UserFiles
from psm_sim.campaign.sweep.worker_pool import ProcessPool
from psm_sim.common import parallel
from tests.campaign.sweep.common import grid, run, write_policy

needs_posix = pytest.mark.skipif(os.name == "nt", reason="there are no such signals on Windows")


@needs_posix
def test_a_task_that_kills_its_worker_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All others are done, those that ran beside it too."""
    monkeypatch.chdir(tmp_path)
    write_policy(Path("my.py"), before="if self.n == 3 and now_s > 1: import os; os._exit(3)")
    rows = run(tmp_path / "a.sqlite", grid("policy.my.py:Hears.n=1..4", "seed=1..3"), workers=2)
    failed = [row.parameters["policy.my.py:Hears.n"] for row in rows if row.state == "failed"]
    assert failed == [3, 3, 3]
    assert len(rows) == 12
    assert {row.error.partition(":")[0] for row in rows} == {"", "The worker returned no result"}


@needs_posix
def test_a_worker_killed_from_outside_loses_no_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its tasks are run again, by another."""
    expected = run(tmp_path / "a.sqlite", grid("seed=1..8", policies=("psm", "lpsm"), pages=20))
    pools: list[ProcessPool] = []

    class Watched(ProcessPool):
        def __init__(self, workers) -> None:
            super().__init__(workers)
            pools.append(self)

        def finished(self):
            found = super().finished()
            if found and len(pools) == 1:
                pools.append(self)
                os.kill(self.pids[0], signal.SIGKILL)
            return found

    monkeypatch.setattr("psm_sim.campaign.sweep.run.ProcessPool", Watched)
    rows = run(tmp_path / "b.sqlite", grid("seed=1..8", policies=("psm", "lpsm"), pages=20), workers=2)
    assert len(pools) == 2
    assert [row.measures for row in rows] == [row.measures for row in expected]


CHILDREN = """
import sys, time
from pathlib import Path
from psm_sim.campaign.sweep.worker_pool import ProcessPool
from psm_sim.campaign.sweep.user_files import UserFiles
from psm_sim.campaign.sweep.task_batches import Batch

if __name__ == "__main__":
    pool = ProcessPool(2)
    for _ in range(2):
        pool.submit(Batch((), UserFiles()))
    print(*pool.pids, flush=True)
    time.sleep(60)
"""


def running(pid: int) -> bool:
    """Say whether a process runs, and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
def test_workers_end_with_a_killed_parent(tmp_path: Path) -> None:
    """Nobody has to look for them."""
    script = tmp_path / "children.py"
    script.write_text(CHILDREN)
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        workers = [int(each) for each in parent.stdout.readline().split()]
        assert len(workers) == 2
        assert all(map(running, workers))
        parent.kill()
    for _ in range(100):
        if not any(map(running, workers)):
            break
        time.sleep(0.1)
    assert not any(map(running, workers))


@pytest.mark.skipif(sys.platform != "linux", reason="workers are copied on Linux alone")
def test_on_linux_one_process_imports_for_all() -> None:
    """The workers are its children, and end when they are told to."""
    pool = ProcessPool(2)
    workers = pool.pids
    parents = {Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1] for pid in workers}
    assert len(parents) == 1
    assert parents != {str(os.getpid())}
    pool.close()
    assert not any(map(running, workers))


def exits(pipe: object) -> None:
    """Stand in for the work of a worker that cannot even begin."""
    os._exit(3)


def test_workers_that_cannot_begin_give_every_batch_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a reason, and not by trying for ever."""
    monkeypatch.setattr(worker_module, "serve", exits)
    pool = ProcessPool(2)
    for _ in range(5):
        pool.submit(Batch((), UserFiles()))
    found: list[object] = []
    while len(found) < 5:
        found += [outcome for _, outcome in pool.finished()]
    pool.close(at_once=True)
    assert found == [worker_module.WORKER_DIED] * 5


def finished(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Return what Python has printed by its successful end."""
    return subprocess.run([sys.executable, *words], cwd=cwd, capture_output=True, text=True, check=True)


@pytest.mark.parametrize("workers", [1, 2])
def test_what_user_code_prints_goes_to_standard_error(tmp_path: Path, workers: int) -> None:
    """Standard output is the command's, whoever does the work."""
    write_policy(tmp_path / "my.py", before="print('stray')")
    words = ["--policy", "my.py:Hears", "--vary", "seed=1..2", "--pages", "5", "--format", "csv"]
    done = finished("-m", "psm_sim", "sweep", *words, f"--workers={workers}", cwd=tmp_path)
    assert "stray" not in done.stdout
    assert len(done.stdout.splitlines()) == 3
    assert "stray" in done.stderr


UNGUARDED = """
from psm_sim import sweep
print("begun")
print(len(sweep({"seed": [1, 2]}, ["my.py:Hears"], workers=2, pages=5)))
"""


def test_a_worker_runs_no_script_again_and_leaves_its_output_alone(tmp_path: Path) -> None:
    """The script need not be made for it; what a policy writes past Python itself goes elsewhere too."""
    write_policy(tmp_path / "my.py", before="import os; os.write(1, b'stray') if now_s > 30 else None")
    (tmp_path / "script.py").write_text(UNGUARDED)
    done = finished("script.py", cwd=tmp_path)
    assert done.stdout.split() == ["begun", "2"]
    assert "stray" in done.stderr


def test_a_worker_of_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its batch is lost with a sentence, and gives no numbers."""
    pool = pool_module.ProcessPool(1)
    pool.submit(Batch((), UserFiles(), version="9.9"))
    found: pool_module.BatchResult = []
    while not found:
        found = pool.finished()
    pool.close(at_once=True)
    assert isinstance(found[0][1], pool_module.WorkerLost)
    assert "expected 9.9; install 9.9 there" in found[0][1]


def test_a_worker_leaves_interrupts_to_its_parent_and_ends_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process does when it begins, done here step by step."""
    parents = [7, 7, 1]
    ended: list[int] = []
    handled: list[tuple[object, ...]] = []
    monkeypatch.setattr(parallel, "_CHECK_S", 0.0)
    monkeypatch.setattr(parallel, "_watched", False)
    monkeypatch.setattr("sys.stdout", sys.stdout)
    monkeypatch.setattr("os.dup2", lambda *words: handled.append(words))
    monkeypatch.setattr("os.getppid", lambda: parents.pop(0))
    monkeypatch.setattr("os._exit", ended.append)
    monkeypatch.setattr("signal.signal", lambda *words: handled.append(words))
    parallel.init_worker(7)
    for _ in range(1000):
        if ended:
            break
        time.sleep(0.005)
    assert ended == [1]
    assert handled == [(2, 1), (signal.SIGINT, signal.SIG_IGN)]

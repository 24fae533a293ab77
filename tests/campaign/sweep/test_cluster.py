"""Sweeps on a Dask cluster of two worker processes of this machine."""

from __future__ import annotations

import importlib.util
import json
import pickle
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from psm_sim.common.errors import InputError
from tests.campaign.sweep.common import grid, run, write_policy
from tests.campaign.sweep.test_interrupted import done

INSTALLED = importlib.util.find_spec("distributed") is not None
needs_dask = pytest.mark.skipif(not INSTALLED, reason="the extra psm_sim[cluster] (Dask) is not installed")

GRID = (
    "--policy my.py:Hears:n=2 --policy psm --policy lpsm --vary policy.bsd.p=0.1,0.5 --vary seed=1..20"
    " --pages 20 --format csv"
)


def dask(folder: Path, part: str, *words: str) -> subprocess.Popen[bytes]:
    """Start a part of a cluster, ``scheduler`` or ``worker``."""
    command = [sys.executable, "-m", f"distributed.cli.dask_{part}", "--no-dashboard"]
    with (folder / "dask.log").open("ab") as log:
        return subprocess.Popen([*command, *words], cwd=folder, stdout=log, stderr=log)


def scheduled(folder: Path) -> tuple[str, subprocess.Popen[bytes]]:
    """Start a scheduler at a free port; return its address and process."""
    file = folder / "scheduler.json"
    words = ["--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file)]
    process = dask(folder, "scheduler", *words)
    while process.poll() is None:
        with suppress(FileNotFoundError, ValueError):  # the scheduler has not written its address yet
            return json.loads(file.read_text())["address"], process
        time.sleep(0.05)
    raise AssertionError((folder / "dask.log").read_text())


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Start a scheduler and two workers of one thread each; yield the address and the workers."""
    away = tmp_path / "cluster"
    away.mkdir()
    address, scheduler = scheduled(away)
    parts = [scheduler, *(dask(away, "worker", address, "--nthreads", "1", "--no-nanny") for _ in range(2))]
    yield address, parts[1:]
    for part in parts:
        part.kill()
        part.wait()


@pytest.fixture
def restarting_cluster(tmp_path: Path) -> Iterator[str]:
    """Start a scheduler, and two workers that restart when they end; yield the address."""
    away = tmp_path / "cluster"
    away.mkdir()
    address, scheduler = scheduled(away)
    parts = [scheduler, dask(away, "worker", address, "--nthreads", "1", "--nworkers", "2")]
    yield address
    for part in reversed(parts):
        part.terminate()
        part.wait()


def sweep(folder: Path, words: str) -> subprocess.Popen[str]:
    """Start a sweep."""
    command = [sys.executable, "-m", "psm_sim", "sweep", *shlex.split(words)]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@needs_dask
@pytest.mark.parametrize("killed", [False, True], ids=["both live", "one is killed"])
def test_a_sweep_on_a_cluster_has_the_rows_of_a_local_sweep(cluster, killed: bool, tmp_path: Path) -> None:
    """Workers have no file of the user-defined policy; tasks of a lost worker run on the other one."""
    address, workers = cluster
    write_policy(tmp_path / "my.py")
    expected, _ = sweep(tmp_path, f"{GRID} --output here.sqlite --workers 1").communicate()
    process = sweep(tmp_path, f"{GRID} --output there.sqlite --cluster {address}")
    if killed:
        while process.poll() is None and done(tmp_path / "there.sqlite") < 30:
            time.sleep(0.01)
        assert process.poll() is None
        workers[0].kill()
    output, messages = process.communicate()
    assert process.returncode == 0, messages
    assert output == expected
    assert output.count(",done,") == 100


@needs_dask
def test_if_a_policy_ends_its_workers_only_the_tasks_of_that_policy_fail(
    restarting_cluster: str, tmp_path: Path
) -> None:
    """A user-defined policy fails at the first loss of a worker, and a built-in one at the second."""
    write_policy(tmp_path / "my.py", before="if now_s > 1: import os; os._exit(3)")
    words = "--policy my.py:Hears --policy psm --vary seed=1..2 --pages 5 --format csv"
    process = sweep(tmp_path, f"{words} --cluster {restarting_cluster}")
    output, messages = process.communicate()
    assert process.returncode == 1
    assert output.count(",done,") == 2
    (failed,) = [line for line in messages.splitlines() if line.startswith("failed: ")]
    assert failed.startswith("failed: 2 tasks, the first is my.py:Hears ")
    assert failed.endswith(": its process has ended with exit status 3.")


def test_the_error_without_dask_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install 'psm_sim\[cluster\]'"):
        run(None, grid(policies=("psm",)), None, "tcp://127.0.0.1:9")


class StandIn(ModuleType):
    """Replacement of Dask in this process that runs a job in wait(), and loses every third one."""

    KilledWorker = RuntimeError

    def __init__(self) -> None:
        super().__init__("distributed")
        self.other: dict[str, str] = {}
        self.submitted: list[tuple[Any, ...]] = []
        self.waits = self.done = 0

    def Client(self, address: str, timeout: float) -> StandIn:
        if address != "tcp://here:1":
            raise OSError("Timed out")
        return self

    def run(self, function: Callable) -> dict[str, dict[str, str]]:
        return {"tcp://here:2": {**function(), **self.other}}

    def wait_for_workers(self, n_workers: int, timeout: float) -> None:
        if not self.nthreads():
            raise TimeoutError("Only 0/1 workers arrived")

    def nthreads(self) -> dict[str, int]:
        return {"tcp://here:2": 1, "tcp://here:3": 1}

    def submit(self, *call: Any, pure: bool) -> Future:
        assert not pure
        self.submitted.append((Future(), *pickle.loads(pickle.dumps(call))))  # noqa: S301
        return self.submitted[-1][0]

    def wait(self, futures: list[Future], timeout: float, return_when: str) -> SimpleNamespace:
        self.waits += 1
        if self.waits % 2:
            raise TimeoutError
        future, function, *arguments = self.submitted.pop(0)
        assert future in futures
        self.done += 1
        if self.done % 3:
            future.set_result(function(*arguments))
        else:
            future.set_exception(RuntimeError("the worker is gone"))
        return SimpleNamespace(done=[future])

    def cancel(self, futures: list[Future], force: bool) -> None:
        self.submitted.clear()

    def close(self, timeout: float = 0) -> None:
        self.closed = True


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """Replace Dask by the stand-in."""
    module = StandIn()
    monkeypatch.setitem(sys.modules, "distributed", module)
    return module


def test_jobs_lost_with_a_worker_run_again(
    stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user-defined policy fails at the first loss, a built-in one at the second. Files are sent."""
    monkeypatch.chdir(tmp_path)
    write_policy(tmp_path / "my.py")
    tasks = grid("seed=1..5", policies=("my.py:Hears:n=2", "psm"))
    expected = run(tmp_path / "here.sqlite", tasks)
    (tmp_path / "my.py").rename(tmp_path / "moved.py")
    with pytest.raises(InputError, match=r"my\.py"):
        run(tmp_path / "there.sqlite", tasks)
    (tmp_path / "moved.py").rename(tmp_path / "my.py")
    rows = run(tmp_path / "there.sqlite", tasks, None, "tcp://here:1")
    done = {row.key: row.measures for row in rows if row.state == "done"}
    assert done == {row.key: row.measures for row in expected if row.key in done}
    failed = [row for row in rows if row.state == "failed"]
    assert sum(row.policy == "psm" for row in failed) < len(failed) < len(done)
    assert {row.error for row in failed} == {"each worker that ran it has ended."}
    assert stand_in.closed


def test_a_cluster_without_workers_is_rejected(
    stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stand_in, "nthreads", dict)
    with pytest.raises(InputError, match="the Dask scheduler at 'tcp://here:1' has no workers; start some"):
        run(None, grid(policies=("psm",)), None, "tcp://here:1")


def test_an_address_without_a_scheduler_is_an_error(stand_in: StandIn) -> None:
    with pytest.raises(InputError, match="no Dask scheduler answers at 'tcp://there:1'"):
        run(None, grid(policies=("psm",)), None, "tcp://there:1")


def test_a_worker_with_a_different_version_is_rejected(stand_in: StandIn, tmp_path: Path) -> None:
    """Versions of packages are compared, too, because the key of a task has those of the command."""
    stand_in.other = {"numpy": "0.1"}
    with pytest.raises(
        InputError, match=r"Worker tcp://here:2 has numpy 0\.1, expected .*; install the same"
    ):
        run(None, grid(policies=("psm",)), None, "tcp://here:1")

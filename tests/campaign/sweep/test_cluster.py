"""A Dask cluster of two worker processes on this machine: the same rows, also when one is killed half way."""

from __future__ import annotations

import importlib.util
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from psm_sim.campaign.sweep.run import Means, run_grid
from psm_sim.campaign.sweep.store import Store
from psm_sim.errors import InputError
from tests.campaign.sweep.common import grid, write_policy
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


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Start a scheduler and two workers of one thread each; give the address and the workers."""
    away = tmp_path / "cluster"
    away.mkdir()
    port = "18786"
    address = f"tcp://127.0.0.1:{port}"
    parts = [dask(away, "scheduler", "--host", "127.0.0.1", "--port", port)]
    parts += [dask(away, "worker", address, "--nthreads", "1", "--no-nanny") for _ in range(2)]
    yield address, parts[1:]
    for part in parts:
        part.kill()
        part.wait()


def sweep(folder: Path, words: str) -> subprocess.Popen[str]:
    """Start a sweep."""
    command = [sys.executable, "-m", "psm_sim", "sweep", *shlex.split(words)]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@needs_dask
@pytest.mark.parametrize("killed", [False, True], ids=["both live", "one is killed"])
def test_a_cluster_gives_the_same_rows(cluster, killed: bool, tmp_path: Path) -> None:
    """A user's policy travels to workers that lack its file; a lost worker's tasks are run by the other."""
    address, workers = cluster
    write_policy(tmp_path / "my.py")
    expected, _ = sweep(tmp_path, f"{GRID} --store here.sqlite --workers 1").communicate()
    process = sweep(tmp_path, f"{GRID} --store there.sqlite --cluster {address}")
    if killed:
        while process.poll() is None and done(tmp_path / "there.sqlite") < 30:
            time.sleep(0.01)
        assert process.poll() is None
        workers[0].kill()
    found, told = process.communicate()
    assert process.returncode == 0, told
    assert found == expected
    assert found.count(",done,") == 100


@needs_dask
def test_an_address_where_nobody_answers_is_told(tmp_path: Path) -> None:
    """Before anything is run."""
    process = sweep(tmp_path, "--policy psm --cluster tcp://127.0.0.1:9")
    _, told = process.communicate()
    assert process.returncode == 2
    assert "psm_sim: cluster is 'tcp://127.0.0.1:9', but no Dask scheduler answers there" in told
    assert "Traceback" not in told


@pytest.mark.skipif(INSTALLED, reason="Dask is installed")
def test_without_dask_the_extra_is_named(tmp_path: Path) -> None:
    """In one sentence."""
    with (
        Store(tmp_path / "a.sqlite") as store,
        pytest.raises(InputError, match=r"pip install 'psm_sim\[cluster\]'"),
    ):
        run_grid(grid(policies=("psm",)), store, Means(cluster="tcp://127.0.0.1:9"))

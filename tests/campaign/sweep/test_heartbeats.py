"""Runners of one store: which are alive, and what becomes of the tasks of those that are not."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from psm_sim.campaign.sweep import scheduler as conduct_module
from psm_sim.campaign.sweep.database import connect
from psm_sim.campaign.sweep.heartbeats import LEASE_S, StoreRunner, live_runners
from psm_sim.campaign.sweep.outcome import Outcome
from psm_sim.campaign.sweep.planning import TaskChecker, plan_tasks
from psm_sim.campaign.sweep.store import Store
from tests.campaign.sweep.common import grid, run

SWEEP = grid("seed=1..4", policies=("psm",))


def test_a_runner_is_alive_until_its_process_or_its_lease_is_over(tmp_path: Path) -> None:
    """On another machine only the lease tells."""
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    now_s, here = time.time(), socket.gethostname()
    database = connect(tmp_path / "a.sqlite", new=True)
    rows = [
        ("mine", here, os.getpid(), now_s),
        ("init", here, 1, now_s),
        ("late", here, os.getpid(), now_s - 2 * LEASE_S),
        ("gone", here, gone.pid, now_s),
        ("away", "elsewhere", gone.pid, now_s),
        ("away and late", "elsewhere", gone.pid, now_s - 2 * LEASE_S),
    ]
    database.executemany("INSERT INTO runners VALUES (?, ?, ?, ?)", rows)
    assert sorted(live_runners(database)) == ["away", "init", "mine"]
    assert database.execute("SELECT count(*) FROM runners").fetchone() == (3,)
    database.close()


def test_a_runner_gives_signs_of_life(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And is forgotten when it is closed."""
    monkeypatch.setattr("psm_sim.campaign.sweep.heartbeats.BEAT_S", 0.01)
    path = tmp_path / "a.sqlite"
    runner = StoreRunner(path)
    database = connect(path, new=True)
    database.execute("UPDATE runners SET beat_s = 0")
    while not database.execute("SELECT beat_s FROM runners").fetchone()[0]:
        time.sleep(0.01)
    runner.close()
    assert database.execute("SELECT * FROM runners").fetchall() == []
    database.close()


def test_what_another_runner_claims_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it does is taken from the store; what it leaves undone is run here."""
    path = tmp_path / "a.sqlite"
    tasks = plan_tasks(SWEEP.tasks())
    check, other = TaskChecker(), StoreRunner(path)
    with Store(path) as store:
        store.enrol(tasks, {each.key: check.parameters(each) for each in tasks})
        assert store.claim([each.key for each in tasks[:2]], other) == {each.key for each in tasks[:2]}
    waits: list[float] = []

    def elsewhere(seconds: float) -> None:
        """Do one of the two tasks, as the other process, and then end."""
        waits.append(seconds)
        with Store(path) as store:
            store.record([Outcome(tasks[0].key, {"energy_per_page_j": -1.0, "slowdown.mean": 1.0})])
        if len(waits) == 2:
            other.close()

    monkeypatch.setattr(conduct_module, "sleep", elsewhere)
    rows = run(path, SWEEP)
    assert len(waits) == 2
    assert [row.state for row in rows] == ["done"] * 4
    assert rows[0].measures["energy_per_page_j"] == -1.0
    assert all(row.measures["energy_per_page_j"] > 0 for row in rows[1:])

"""Signals, and the end of worker processes with their parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from psm_sim.common import parallel
from psm_sim.common.errors import CommandTerminated
from psm_sim.common.signal_handling import raise_on_signals

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals as on Unix")

POOL = """
import os, sys, time
from psm_sim.common.signal_handling import raise_on_signals
from psm_sim.common.run_many import run_many

def work(number):
    print("stray")
    with open(os.path.join(sys.argv[1], str(os.getpid())), "w"):
        time.sleep(900 if number else 0)
    return number

def main():
    for number in run_many(work, range(8), 3):
        print(number, flush=True)

if __name__ == "__main__":
    with raise_on_signals():
        try:
            main()
        except BaseException as error:
            print(type(error).__name__, flush=True)
"""


@pytest.fixture(autouse=True)
def default_hangup() -> Iterator[None]:
    """Restore the handler that ``nohup`` sets to ignore, which processes inherit."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_termination_signal_ends_a_command_as_ctrl_c_does(name: str) -> None:
    """The exception is not an ``Exception``, and the status is the one that shells expect."""
    number = getattr(signal, name)
    with pytest.raises(CommandTerminated, match=f"terminated by {name}") as ended, raise_on_signals():  # noqa: PT012
        os.kill(os.getpid(), number)
        time.sleep(5)
    assert ended.value.status == 128 + number
    assert signal.getsignal(number) == signal.SIG_DFL


def test_a_signal_ignored_at_the_start_stays_ignored() -> None:
    """``nohup`` makes a command ignore a signal."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with raise_on_signals():
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_there_are_at_most_as_many_processes_as_tasks_and_at_most_four_per_core(monkeypatch) -> None:
    """Any number can be requested; the default is one per core."""
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert [parallel.process_count(100, wanted) for wanted in (None, 1, 5, 2000)] == [2, 1, 5, 8]
    assert parallel.process_count(3, 2000) == 3


def test_only_the_cores_available_to_the_process_are_counted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    for text, expected in (("max 100000", 8), ("250000 100000", 3), ("1000 100000", 1), ("strange", 8)):
        (tmp_path / "cpu.max").write_text(text)
        monkeypatch.setattr(parallel, "_SHARE", tmp_path / "cpu.max")
        assert parallel.cpu_count() == expected
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert parallel.cpu_count() == 1


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGKILL"])
def test_no_process_outlives_its_parent(tmp_path: Path, name: str) -> None:
    """Workers end soon after the parent has ended in any way, and print only to standard error."""
    (tmp_path / "pool.py").write_text(POOL)
    (tmp_path / "pids").mkdir()
    words = [sys.executable, "pool.py", str(tmp_path / "pids")]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(words, cwd=tmp_path, start_new_session=True, **pipes)  # type: ignore[call-overload]
    with process:
        assert process.stdout.readline() == "0\n"
        while len(list((tmp_path / "pids").iterdir())) < 2:
            time.sleep(0.05)
        if name == "SIGINT":
            os.killpg(process.pid, signal.SIGINT)  # to all processes of the group, as a terminal does
        else:
            process.send_signal(getattr(signal, name))
        process.wait(600)
        workers = [Path("/proc", path.name) for path in (tmp_path / "pids").iterdir()]
        assert len(workers) >= 2
        for _ in range(6000):
            left = [worker for worker in workers if worker.exists()]
            if not left:
                break
            time.sleep(0.1)
        assert left == []
        output, complaint = process.communicate()
    assert "stray" not in output
    assert "Traceback" not in complaint

"""Families of workers: started together, heard one by one, and gone when nobody needs them."""

from __future__ import annotations

import io
import os
import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from psm_sim.campaign.sweep import family as family_module
from psm_sim.campaign.sweep import worker
from psm_sim.campaign.sweep.family import Family, Gone, Ready, started_ahead
from psm_sim.campaign.sweep.outcome import Lost
from psm_sim.campaign.sweep.pool import Processes
from psm_sim.campaign.sweep.user_files import UserFiles
from psm_sim.campaign.sweep.work import Batch
from psm_sim.errors import InputError
from tests.campaign.sweep.common import grid, run, write_policy

EMPTY = Batch((), UserFiles())


def heard(family: Family, count: int) -> list[tuple[int, Any]]:
    """Return the next *count* messages, in the order of the workers."""
    found: list[tuple[int, Any]] = []
    while len(found) < count:
        message = family.message(10)
        assert message, found
        found.append(message)
    return sorted(found, key=lambda each: each[0])


@contextmanager
def started(size: int, **words: Any) -> Iterator[Family]:
    family = Family(size, **words)
    try:
        yield family
    finally:
        family.end(at_once=True)


def exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


@pytest.mark.parametrize("together", [False, pytest.param(True, marks=pytest.mark.skipif(
    sys.platform != "linux", reason="workers are copied on Linux alone"))])  # fmt: skip
def test_a_family_answers_and_ends(together: bool) -> None:
    """Whether its workers are copies of one interpreter, or each is one of its own."""
    with started(3, together=together) as family:
        assert [type(said) for _, said in heard(family, 3)] == [Ready] * 3
        pids = family.pids
        assert len(set(pids)) == 3
        assert os.getpid() not in pids
        family.send(2, EMPTY)
        family.send(0, Batch((), UserFiles(), version="9.9"))
        (first, lost), (second, nothing) = heard(family, 2)
        assert (first, second, nothing) == (0, 2, [])
        assert isinstance(lost, Lost)
        family.keep(2)
        assert [(number, type(said)) for number, said in heard(family, 1)] == [(2, Gone)]
        family.end()
        assert [type(said) for _, said in heard(family, 2)] == [Gone] * 2
    assert not any(map(exists, pids))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for parents in /proc")
def test_on_linux_one_interpreter_is_started() -> None:
    """The others are forked from it while it has one thread."""
    with started(2, together=True) as family:
        heard(family, 2)
        parents = [
            int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]) for pid in family.pids
        ]
    assert parents == [os.getpid(), family.pids[0]]


def test_a_family_ends_with_a_command_that_fails_while_it_makes_ready() -> None:
    """It is not waited for."""
    with pytest.raises(InputError), started_ahead(2, wanted=True) as family:  # noqa: PT012
        assert family
        raise InputError("no such key")
    assert all(process.returncode is not None for process in family._started)


@pytest.mark.parametrize(("workers", "wanted"), [(1, True), (2, False)])
def test_no_family_is_started_where_none_is_needed(workers: int, wanted: bool) -> None:
    """For one worker, or where it is not yet known that there is anything to do."""
    with started_ahead(workers, wanted=wanted) as family:
        assert family is None


def test_a_family_that_cannot_begin_gives_every_batch_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a reason, and not by trying for ever."""
    monkeypatch.setattr(family_module, "_CODE", "raise SystemExit(3)")
    pool = Processes(2)
    for _ in range(3):
        pool.submit(EMPTY)
    found: list[Any] = []
    while not found:
        found = pool.finished()
    pool.close(at_once=True)
    assert [type(outcome) for _, outcome in found] == [Lost] * 3


def test_what_user_code_writes_to_standard_output_spoils_no_answer(tmp_path: Path) -> None:
    """Not even past Python's own streams."""
    write_policy(tmp_path / "my.py", before="import os; print('stray'); os.write(1, b'stray')")
    rows = run(tmp_path / "a.sqlite", grid("seed=1..2", policies=(f"{tmp_path / 'my.py'}:Hears",)), workers=2)
    assert [row.state for row in rows] == ["done", "done"]


def test_a_worker_serves_until_nothing_comes() -> None:
    """An exception is an answer as well."""
    inbox, outbox = io.BytesIO(b"".join(map(pickle.dumps, ["1", "x"]))), io.BytesIO()
    worker.serve(int, inbox, outbox)
    outbox.seek(0)
    said = [pickle.load(outbox) for _ in range(3)]  # noqa: S301
    assert said[:2] == [os.getpid(), 1]
    assert isinstance(said[2], Lost)
    assert "'x'" in said[2]

"""Worker processes: no results are lost if one dies."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from psm_sim.common import parallel, user_code_guards
from psm_sim.common.parallel import Ended, WorkerDiedError, report_progress, unordered_map
from psm_sim.common.run_many import run_many


def square(number: int) -> int:
    """Return the square of a number."""
    return number * number


def dies(folder: Path, times: int, number: int) -> int:
    """Return the square; the third item ends the process *times* times."""
    marks = len(list(folder.iterdir()))
    if number == 2 and marks < times:
        (folder / str(marks)).touch()
        os._exit(3)
    return number * number


def fails(number: int) -> int:
    """Raise an error for each odd number, earlier for larger ones."""
    time.sleep(0.3 if number == 1 else 0)
    if number % 2:
        raise ValueError(number)
    return number


def test_results_are_in_the_order_of_the_items() -> None:
    expected = [number * number for number in range(20)]
    assert [list(run_many(square, range(20), workers)) for workers in (1, 2, 3)] == [expected] * 3


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_counts_finished_tasks(workers: int) -> None:
    reported: list[object] = []
    results = run_many(str, [1, 2, 3], workers, lambda *arguments: reported.append(arguments), "seeds")
    assert list(results) == ["1", "2", "3"]
    assert reported == [(done, 3, "", "seeds") for done in range(4)]


def test_of_several_failures_the_error_of_the_first_item_in_order_is_raised() -> None:
    """The first item is the first in order, as with one worker, although a later item fails earlier."""
    for workers in (1, 2):
        results = run_many(fails, range(6), workers)
        assert next(results) == 0
        with pytest.raises(ValueError, match=r"^1\b"):
            next(results)


def test_no_result_is_lost_if_a_worker_is_killed(tmp_path: Path) -> None:
    expected = [number * number for number in range(6)]
    assert list(run_many(partial(dies, tmp_path, 1), range(6), 2)) == expected


def test_the_error_for_an_item_that_ends_its_worker_twice_names_the_item(tmp_path: Path) -> None:
    results = run_many(partial(dies, tmp_path, 2), range(6), 2)
    assert [next(results), next(results)] == [0, 1]
    sentence = r"^Task 3 of 6 returned no result: its process has ended with exit status 3\.$"
    with pytest.raises(WorkerDiedError, match=sentence):
        next(results)


def parent_and_number(number: int) -> Iterator[tuple[int, int]]:
    """Yield this process and the number."""
    yield os.getpid(), number


@pytest.mark.skipif(os.name == "nt", reason="there are no such signals on Windows")
def leaves_a_process(fifo: Path, number: int) -> int:
    """Start a process with the FIFO open, and return the number."""
    if number == 1:
        os.open(fifo, os.O_WRONLY)
        if os.fork() == 0:
            time.sleep(120)
            os._exit(0)
    return number


def test_processes_started_by_a_worker_end_with_the_worker(tmp_path: Path) -> None:
    """No process has the FIFO open any more."""
    os.mkfifo(tmp_path / "fifo")
    fifo = os.open(tmp_path / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    assert list(run_many(partial(leaves_a_process, tmp_path / "fifo"), range(3), 2)) == [0, 1, 2]
    assert select.select([fifo], [], [], 60)[0] == [fifo]
    assert os.read(fifo, 1) == b""
    os.close(fifo)


def test_an_idle_worker_that_is_killed_is_replaced() -> None:
    """The next item is reported as that of a dead worker, and succeeds at the second attempt."""
    items, processes, numbers = deque([1, 2, 3]), dict[int, int](), list[int]()
    killed = False
    for item, value in unordered_map(parent_and_number, items, 2):
        if not isinstance(value, Ended):
            processes[item] = value[0]
            numbers.append(value[1])
        elif isinstance(value.error, WorkerDiedError):
            items.append(item)
        elif sorted(numbers) == [1, 2, 3] and not killed:
            killed = True
            os.kill(processes[item], signal.SIGKILL)
            time.sleep(0.5)
            items.append(4)
    assert sorted(numbers) == [1, 2, 3, 4]


@pytest.mark.parametrize("here", [True, False])
def test_items_can_be_added_during_the_execution(here: bool) -> None:
    """Each item has its own result."""
    items, results = deque([1, 2]), dict[int, list[Any]]()
    for item, value in unordered_map(powers, items, 2, here):
        results.setdefault(item, []).append(value)
        if item < 3 and value == 0:
            items.append(item + 2)
    assert results == {number: [0, number**2, Ended()] for number in (1, 2, 3, 4)}


def powers(number: int) -> Iterator[int]:
    """Yield zero and the square of the number."""
    yield 0
    yield number**2


def yields_and_dies(number: int) -> Iterator[int]:
    """Yield the number, and end the process."""
    yield number
    os._exit(3)


def test_values_that_a_process_yields_before_it_dies_are_returned() -> None:
    (_, first), (_, ended) = unordered_map(yields_and_dies, deque([1]), 1)
    assert first == 1
    assert isinstance(ended, Ended)
    assert isinstance(ended.error, WorkerDiedError)


def floods(number: int) -> Iterator[int]:
    """Yield the number, and write to descriptor 1 without an end."""
    yield number
    while True:
        os.write(1, b"x" * 65536)


def test_a_call_that_prints_too_much_is_ended(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The values before its end are returned, and the next message begins on a new line."""
    monkeypatch.setattr(parallel, "MAX_PRINTED", 1 << 20)
    (_, first), (_, ended) = unordered_map(floods, deque([1]), 1)
    assert first == 1
    assert isinstance(ended, Ended)
    assert str(ended.error) == "it has printed more than 1 MB."
    printed = capfd.readouterr().err
    assert set(printed) == {"x", "\n"}
    assert printed.endswith("x\n")
    assert printed.count("\n") == 1


def reports(number: int) -> Iterator[int]:
    """Report the progress, and yield the number."""
    report_progress(number, 2, "half")
    yield number


def test_progress_reaches_the_parent_process() -> None:
    reported: list[Any] = []
    values = unordered_map(reports, deque([1]), 1, progress=lambda *arguments: reported.append(arguments))
    assert list(values) == [(1, 1), (1, Ended())]
    assert reported == [(1, 2, "half")]


UNGUARDED = """
import os
from psm_sim.common import user_code_guards
from psm_sim.common.run_many import run_many

class Mine:
    def __init__(self, number):
        self.number = number

def work(number):
    print("stray")
    os.write(1, b"astray\\n")
    return Mine(number)

print("begun")
print([result.number for result in run_many(work, range(3), 2)])
"""


def test_a_script_needs_no_main_guard_and_its_classes_can_be_returned(tmp_path: Path) -> None:
    """Workers do not run the script again. Prints, also directly to the descriptor, go to standard error."""
    (tmp_path / "script.py").write_text(UNGUARDED)
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["begun", "[0, 1, 2]"]
    assert done.stderr.count("stray") == 6


def exhausts_its_memory(number: int) -> Iterator[tuple[int, int]]:
    """Yield the process and the number; the second item reaches the limit of memory."""
    if number == 2:
        user_code_guards.limit_memory()
        with user_code_guards.user_code_call("Item 2"):
            bytearray(1 << 40)
    yield from parent_and_number(number)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits memory")
def test_a_worker_that_reaches_its_memory_limit_is_replaced() -> None:
    """User code may still use the memory."""
    values: list[Any] = [value for _, value in unordered_map(exhausts_its_memory, deque([1, 2, 3]), 1)]
    (first, _), _, ended, (third, _), _ = values
    assert re.fullmatch(r"Item 2: MemoryError.*; fix the code\.", str(ended.error))
    assert first != third

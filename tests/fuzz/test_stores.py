"""Stores of sweeps with damaged rows: shown as damaged, left out elsewhere, run again by --retry."""

from __future__ import annotations

import io
import random
import shlex
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from psm_sim.cli import main

SWEEP = shlex.split("sweep --vary policy=psm,bsd --vary seed=1..2 --pages 2 --workers 1 --format csv --store")
CASES = 25
"""Random corruptions of the file."""

VALUES: dict[str, Any] = {
    "text": "x",
    "null": None,
    "list": "[1, 2]",
    "nothing": "{}",
    "half": '{"energy_per_page_j": 1',
    "other types": '{"energy_per_page_j": "x", "slowdown.mean": [1]}',
    "blob": b"\x80\x04\x95\xff",
    "deep": "[" * 100_000,
    "deep object": '{"a":' * 50_000,
    "long number": '{"energy_per_page_j": ' + "9" * 5_000 + ', "slowdown.mean": 1}',
    "large number": '{"energy_per_page_j": 1' + "0" * 400 + ', "slowdown.mean": 1}',
    "escape": "\x1b[2J",
    "formula": "=1+1",
    "brackets": "((((",
    "negative": -1,
    "number": 10**18,
}
TEXTS = ("text", "null", "blob", "escape", "formula", "number")
"""Values for columns that hold no JSON."""
COLUMNS = {
    "policy": TEXTS, "trace": TEXTS, "topology": TEXTS, "pages": TEXTS, "seed": TEXTS, "state": TEXTS,
    "error": TEXTS, "parameters": VALUES, "measures": VALUES,
}  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose four tasks are done."""
    path = tmp_path_factory.mktemp("stores") / "whole.sqlite"
    assert run(*SWEEP, str(path))[0] == 0
    return path


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a store to change it."""
    database = sqlite3.connect(path, isolation_level=None)
    yield database
    database.close()


def run(*words: str) -> tuple[int, str, str]:
    """Run a command and return its status, output and messages, which have no escape sequence."""
    output, told = io.StringIO(), io.StringIO()
    with redirect_stdout(output), redirect_stderr(told):
        status = main(list(words))
    assert "\x1b" not in output.getvalue() + told.getvalue()
    assert "internal error" not in told.getvalue()
    return status, output.getvalue(), told.getvalue()


def tried(path: Path, *, files: bool = False) -> set[int]:
    """Return the statuses of the actions on a store. A refusal is one sentence that names the file."""
    statuses = set()
    actions: list[tuple[str, ...]] = [("status",), ("best",), ("export",)]
    actions += [("plot", "--to", f"{path}-plot"), ("page", "--to", f"{path}.html")] if files else []
    for words in actions:
        status, _, told = run("sweep", *words, str(path))
        statuses.add(status)
        assert status == 0 or (status == 2 and told.startswith("psm_sim: ")), told
        if status == 2:
            assert path.name in told.splitlines()[-1]
    return statuses


@pytest.mark.parametrize(
    ("column", "name"),
    [
        (column, name)
        for column, names in COLUMNS.items()
        for name in names
        if name != "null" or column in ("measures", "error")
    ],
)
def test_one_damaged_value_costs_one_row(whole: Path, tmp_path: Path, column: str, name: str) -> None:
    """The others are shown; with --retry the store is as it was."""
    path = tmp_path / "damaged.sqlite"
    shutil.copy(whole, path)
    with opened(path) as database:
        database.execute(f"UPDATE tasks SET {column} = ? WHERE number = 1", (VALUES[name],))  # noqa: S608
    assert tried(path, files=name == "escape") == {0}
    shown, (_, exported, _) = run("sweep", "status", str(path))[1], run("sweep", "export", str(path))
    is_damaged = "1 damaged" in shown
    assert exported.count("\n") == (4 if is_damaged else 5)
    assert ("damaged: " in shown) == is_damaged
    if column in ("measures", "state"):
        assert is_damaged
    if is_damaged:
        assert run(*SWEEP, str(path))[0] == 1
        assert run(*SWEEP, str(path), "--retry")[:2] == (0, run("sweep", "export", str(whole))[1])


@pytest.mark.parametrize("statements", ["DROP TABLE tasks", "ALTER TABLE tasks DROP COLUMN measures"])
def test_other_tables_are_refused(whole: Path, tmp_path: Path, statements: str) -> None:
    """In one sentence that names the file, also by the sweep itself."""
    path = tmp_path / "other.sqlite"
    shutil.copy(whole, path)
    with opened(path) as database:
        database.executescript(statements)
    assert tried(path, files=True) == {2}
    status, _, told = run(*SWEEP, str(path))
    assert (status, told.count("\n")) == (2, 1)
    assert "other.sqlite" in told


def test_the_list_of_sweeps_is_shown_whatever_it_holds(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "sweeps.sqlite"
    shutil.copy(whole, path)
    with opened(path) as database:
        for value in VALUES.values():
            database.execute("INSERT INTO sweeps VALUES (NULL, ?, ?, ?, NULL, '')", (value or "",) * 3)
        database.execute("UPDATE tasks SET version = ? WHERE number = 1", ("\x1b[2J",))
    assert tried(path) == {0}


@pytest.mark.parametrize("seed", range(CASES))
def test_a_corrupt_file_gives_rows_or_a_sentence(whole: Path, tmp_path: Path, seed: int) -> None:
    """3 to 400 bytes anywhere in it."""
    path, chance = tmp_path / "corrupt.sqlite", random.Random(seed)  # noqa: S311
    data = bytearray(whole.read_bytes())
    for _ in range(chance.randint(3, 400)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    path.write_bytes(data)
    tried(path)
    status, _, told = run(*SWEEP, str(path), "--retry")
    assert status in (0, 1) or "corrupt.sqlite" in told

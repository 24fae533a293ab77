"""Database of a sweep: an SQLite file, opened, recognised, and its errors told in sentences."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from psm_sim.common.errors import InputError

_APPLICATION = 0x70736D73  # "psms", so that another program's database is not taken for a store
_FORMAT = 1
_BUSY_S = 60.0

_SCHEMA = """
CREATE TABLE tasks (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    label TEXT NOT NULL,
    current INTEGER NOT NULL DEFAULT 1,
    version TEXT NOT NULL,
    policy TEXT NOT NULL,
    trace TEXT NOT NULL,
    topology TEXT NOT NULL,
    pages INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    parameters TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting',
    runner TEXT,
    measures TEXT,
    error TEXT,
    wall_s REAL
);
CREATE INDEX tasks_by_label ON tasks (label);
CREATE TABLE runners (id TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, beat_s REAL NOT NULL);
CREATE TABLE sweeps (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    status TEXT NOT NULL,
    command TEXT NOT NULL,
    begun TEXT NOT NULL,
    ended TEXT,
    provenance TEXT NOT NULL
);
"""


def connect(path: Path, *, new: bool) -> sqlite3.Connection:
    """Open a store; *new*: make it if there is none.

    Raises
    ------
    InputError
        If there is none, or the file is no store, or one that another format of psm_sim has written.
    """
    if not new and not path.is_file():
        raise InputError(f"There is no store {str(path)!r}; expected the file that a sweep writes.")
    with describe_sqlite_errors(path):
        database = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None)
        try:
            _recognise(database, path)
            # Readers and one writer at a time work beside each other, and what is committed outlives a kill.
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            database.close()
            raise
    return database


@contextmanager
def describe_sqlite_errors(path: Path) -> Iterator[None]:
    """Turn an error of the database into a sentence that names the file."""
    try:
        yield
    except sqlite3.Error as error:
        raise InputError(
            f"The store {str(path)!r} cannot be used: {error}; give a store or a new file, in a writable "
            "folder with room left."
        ) from error


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """Write all that is done inside, or nothing, also if an interrupt comes while it begins."""
    try:
        database.execute("BEGIN IMMEDIATE")
        yield
        database.execute("COMMIT")
    except BaseException:
        rollback(database)
        raise


def rollback(database: sqlite3.Connection) -> None:
    """Undo a transaction that is still open, which would keep all others from writing."""
    if database.in_transaction:
        database.execute("ROLLBACK")


def _recognise(database: sqlite3.Connection, path: Path) -> None:
    if _is_empty(database):
        with transaction(database):
            if _is_empty(database):
                for statement in _SCHEMA.split(";\n"):
                    database.execute(statement)
                database.execute(f"PRAGMA application_id = {_APPLICATION}")
                database.execute(f"PRAGMA user_version = {_FORMAT}")
    if _number(database, "application_id") != _APPLICATION:
        raise InputError(f"{str(path)!r} is a database, but no store of a sweep; give another file.")
    found = _number(database, "user_version")
    if found != _FORMAT:
        raise InputError(
            f"The store {str(path)!r} has format {found}; expected {_FORMAT}: use the psm_sim that wrote it."
        )


def _is_empty(database: sqlite3.Connection) -> bool:
    return not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]


def _number(database: sqlite3.Connection, name: str) -> int:
    return int(database.execute(f"PRAGMA {name}").fetchone()[0])

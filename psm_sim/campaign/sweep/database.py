"""SQLite database of a sweep store: schema, connections, transactions, lock and error messages."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path

from psm_sim.common.errors import InputError

_APPLICATION = 0x70736D73  # "psms"; distinguishes a store from databases of other programs
_BUSY_TIMEOUT_S = 60.0

HAS_LOCKS = find_spec("fcntl") is not None
"""Whether the system has the file locks that keep a second sweep from a store."""

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
    measures TEXT,
    error TEXT,
    files TEXT NOT NULL DEFAULT '{}'
);
CREATE INDEX tasks_by_label ON tasks (label);
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
    """Open the database of a store. Create it if *new* is true and the file does not exist.

    Raises
    ------
    InputError
        If the file does not exist, or is not a store.
    """
    if path.exists() and not path.is_file():
        kind = "a directory" if path.is_dir() else "not a regular file"
        raise InputError(f"The store {str(path)!r} is {kind}; choose a file.")
    if not new and not path.exists():
        raise InputError(f"Store not found: {str(path)!r}; expected a file that psm_sim sweep has written.")
    with describe_store_errors(path):
        database = sqlite3.connect(path, timeout=_BUSY_TIMEOUT_S, isolation_level=None)
        try:
            _initialise(database, path)
            # Without a write-ahead log, a commit waits for the disk, which triples the time of short tasks.
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            database.close()
            raise
    return database


@contextmanager
def lock_store(path: Path) -> Iterator[None]:
    """Hold the lock of a store, so that no other sweep runs on it. Readers are not blocked.

    The lock is a lock on a file next to the store. The system releases it when this process ends, even if it
    is killed. Systems without ``fcntl`` have no lock. Two sweeps would run tasks twice there, but lose none.

    Raises
    ------
    InputError
        If another sweep holds the lock, or the file cannot be written.
    """
    if not HAS_LOCKS:
        yield
        return
    import fcntl

    lock_path = _lock_path(path)
    with ExitStack() as stack:
        with describe_store_errors(path):
            while True:
                descriptor = os.open(lock_path, os.O_RDWR | os.O_CREAT, 0o666)
                file = stack.enter_context(os.fdopen(descriptor, "r+", encoding="utf-8"))
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    owner = file.readline().strip() or "another process"
                    raise InputError(
                        f"The store {str(path)!r} is in use by {owner}; wait until its sweep ends or choose "
                        "another file."
                    ) from None
                if os.fstat(file.fileno()).st_nlink:
                    break  # otherwise a sweep that ended meanwhile has removed this file
            stack.callback(lock_path.unlink)
            file.truncate(0)
            file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
            file.flush()
        yield


def is_locked(path: Path) -> bool:
    """Return whether a sweep holds the lock of a store."""
    if not HAS_LOCKS:
        return False
    import fcntl

    try:
        with _lock_path(path).open(encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        pass
    return False


def _lock_path(path: Path) -> Path:
    return Path(f"{path.resolve()}-lock")


@contextmanager
def describe_store_errors(path: Path) -> Iterator[None]:
    """Convert errors of SQLite, of the file system and of JSON to an :class:`InputError` with the file."""
    try:
        yield
    except (sqlite3.Error, OSError, json.JSONDecodeError) as error:
        raise InputError(
            f"The store {str(path)!r} cannot be used: {error}; choose a store or a new file, in a writable "
            "directory with free disk space."
        ) from error


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """Commit the statements of the block, or roll back after any exception, including Ctrl-C."""
    try:
        database.execute("BEGIN IMMEDIATE")
        yield
        database.execute("COMMIT")
    except BaseException:
        rollback(database)
        raise


def rollback(database: sqlite3.Connection) -> None:
    """Roll back an open transaction, because it would block all other writers."""
    if database.in_transaction:
        database.execute("ROLLBACK")


def _initialise(database: sqlite3.Connection, path: Path) -> None:
    """Create the tables of an empty database, or check the type of an existing one.

    A store of an earlier version lacks the column ``files``.
    """
    if _is_empty(database):
        # check again inside the transaction: another process may have created the tables meanwhile
        with transaction(database):
            if _is_empty(database):
                for statement in _SCHEMA.split(";\n"):
                    database.execute(statement)
                database.execute(f"PRAGMA application_id = {_APPLICATION}")
    if database.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
        raise InputError(f"{str(path)!r} is an SQLite database but not a sweep store; choose another file.")
    if "files" not in [column[1] for column in database.execute("PRAGMA table_info(tasks)")]:
        database.execute("ALTER TABLE tasks ADD COLUMN files TEXT NOT NULL DEFAULT '{}'")


def _is_empty(database: sqlite3.Connection) -> bool:
    return not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]

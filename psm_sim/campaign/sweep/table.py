"""Table of a sweep: an SQLite file to which each finished task is appended as a row."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from psm_sim.common.component_spec import name_of
from psm_sim.common.errors import InputError
from psm_sim.version import __version__

LABEL = "policy.label"
"""Parameter of a task whose policy has a label."""

_BUSY_TIMEOUT_S = 60.0  # a full disk or a slow network drive ends in an error after a minute


@dataclass(frozen=True)
class TaskRow:
    """Task and its result.

    Attributes
    ----------
    key : str
        Hash of all inputs, see :meth:`~psm_sim.simulation.scenario.Scenario.key`.
    policy, trace, topology, pages, seed
        Task as the user wrote it.
    parameters : mapping
        Parameters of the policy and the trace, and the topology keys that were set.
    measures : mapping
        Measures by name; with several ``[[stations]]`` tables, a mapping for each, see :meth:`by_station`.
    error : str
        Reason of a failure.
    files : mapping
        Digests of the files that user code has opened, by absolute path, without the files that the task
        names.
    version : str
        Version of psm_sim.
    """

    key: str
    policy: str
    trace: str
    topology: str
    pages: int
    seed: int
    parameters: Mapping[str, Any]
    measures: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    files: Mapping[str, str] = field(default_factory=dict, compare=False)
    version: str = __version__

    @property
    def state(self) -> str:
        """``"done"`` or ``"failed"``."""
        return "failed" if self.error else "done"

    @property
    def name(self) -> str:
        """Label of the policy if it has one, else its name without parameters."""
        return str(self.parameters.get(LABEL) or name_of(self.policy, "policy"))

    @property
    def label(self) -> str:
        """Label of the policy if it has one, else its spec."""
        return str(self.parameters.get(LABEL, self.policy))

    @property
    def scenario(self) -> dict[str, Any]:
        """Trace, topology, number of pages, and the topology keys that were set."""
        own = {
            key: each for key, each in self.parameters.items() if not key.startswith(("policy.", "trace."))
        }
        return {"trace": self.trace, "topology": self.topology, "pages": self.pages, **own}

    @property
    def inputs(self) -> dict[str, Any]:
        """Scenario, with the parameters of the policy and the trace."""
        return {**self.scenario, **{key: each for key, each in self.parameters.items() if key != LABEL}}

    @property
    def task(self) -> str:
        """Policy, scenario and seed. Tasks that differ only in the content of a file are equal."""
        return json.dumps([self.policy, self.scenario, self.seed])

    def by_station(self) -> list[TaskRow]:
        """Return one row, with the parameter ``station``, for each ``[[stations]]`` table.

        Without such tables, return this row only.
        """
        if not any(isinstance(value, dict) for value in self.measures.values()):
            return [self]
        return [
            replace(self, parameters={**self.parameters, "station": station}, measures=measures)
            for station, measures in self.measures.items()
        ]


_COLUMNS = tuple(column.name for column in fields(TaskRow))
_JSON_COLUMNS = ("parameters", "measures", "files")
_INSERT = f"INSERT INTO rows VALUES ({', '.join('?' * len(_COLUMNS))})"  # noqa: S608 (no input of the user)


class SweepTable:
    """Open table of a sweep; see :func:`open_table`.

    Attributes
    ----------
    rows : list of TaskRow
        Rows in the order in which they were appended. If a task has several rows, the last row is valid.
    damage : str
        Reason why some rows could not be read; empty if all rows could be read.
    """

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self.rows: list[TaskRow] = []
        self.damage = ""
        records: dict[int, Sequence[Any]] = {}
        query = "SELECT rowid, * FROM rows ORDER BY rowid"
        for ordered_query in (query, f"{query} DESC"):  # from each end up to a damaged page
            try:
                for number, *values in database.execute(ordered_query):
                    records[number] = values
                break
            except sqlite3.DatabaseError as error:
                # For a text that is not UTF-8, Python raises an error without a code.
                if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) != sqlite3.SQLITE_CORRUPT:
                    raise
                self.damage = str(error)
        for number in sorted(records):
            try:
                self.rows.append(_row(records[number]))
            except json.JSONDecodeError as error:
                self.damage = f"row {number}: {error}"

    def close(self) -> None:
        """Close the connection to the file."""
        self._database.close()

    def append(self, rows: Sequence[TaskRow]) -> None:
        """Add rows, all or none."""
        with self._database:
            self._database.executemany(_INSERT, map(_values, rows))
        self.rows += rows

    @property
    def figure_checksum(self) -> int:
        """Checksum (31 bits) of the last figure that was drawn; 0 if no figure was drawn."""
        return int(self._database.execute("PRAGMA user_version").fetchone()[0])

    @figure_checksum.setter
    def figure_checksum(self, checksum: int) -> None:
        self._database.execute(f"PRAGMA user_version = {checksum}")

    def current_rows(self) -> list[TaskRow]:
        """Return the last row of each task of this psm_sim version, sorted by policy, scenario and seed."""
        rows = {row.task: row for row in self.rows if row.version == __version__}
        return [rows[task] for task in sorted(rows, key=_natural_order)]


def _row(values: Sequence[Any]) -> TaskRow:
    named = dict(zip(_COLUMNS, values, strict=True))
    return TaskRow(**{**named, **{column: json.loads(named[column]) for column in _JSON_COLUMNS}})


def _values(row: TaskRow) -> list[Any]:
    values = {column: getattr(row, column) for column in _COLUMNS}
    return list({**values, **{column: json.dumps(values[column]) for column in _JSON_COLUMNS}}.values())


def _natural_order(text: str) -> list[Any]:
    """Return a sorting key by which 2 comes before 10."""
    parts: list[Any] = re.split(r"(\d+(?:\.\d+)?)", text)
    parts[1::2] = map(float, parts[1::2])
    return parts


@contextmanager
def open_table(path: Path | None, *, new: bool = True) -> Iterator[SweepTable]:
    """Open the table in the file *path*, or a table in memory if *path* is None.

    If *new* is true, the file is locked against other sweeps, so that rows can be appended. If it does not
    exist, it is created, and removed at the end if it has no rows. If it is damaged, it is copied to a file
    with the suffix ``.damaged``, and replaced by a table of its readable rows.

    Raises
    ------
    InputError
        If the file does not exist, is not a table of a sweep, is in use, or cannot be written.
    """
    try:
        with ExitStack() as stack:
            yield _connect(None, True, stack) if path is None else _open(path, new, stack)
    except sqlite3.Error as error:
        raise _cannot_be_used(path, error) from error


def _open(path: Path, new: bool, stack: ExitStack) -> SweepTable:
    if path.exists() and not path.is_file():
        raise InputError(f"The table {str(path)!r} is not a regular file; choose another file.")
    if not (new or path.exists()):
        raise InputError(f"Table not found: {str(path)!r}; expected a file that psm_sim sweep has written.")
    opened = list[SweepTable]()
    try:
        if new:
            is_new = not path.exists()
            _lock(path, stack)
            if is_new:
                stack.callback(_remove_unused, path, opened)
        opened.append(_connect(path, new, stack))
        if new and opened[0].damage:
            opened.append(_replace_damaged(path, opened[0], stack))
    except OSError as error:
        raise _cannot_be_used(path, error) from error
    return opened[-1]


def _remove_unused(path: Path, opened: Sequence[SweepTable]) -> None:
    if not any(table.rows for table in opened):
        path.unlink(missing_ok=True)


def _replace_damaged(path: Path, damaged: SweepTable, stack: ExitStack) -> SweepTable:
    damaged.close()
    if (copy := Path(f"{path}.damaged")).exists():
        raise InputError(f"{path} is damaged, and {copy} exists; rename {copy}.")
    shutil.copyfile(path, copy)
    for suffix in ("-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    path.write_bytes(b"")  # not a new file, because this file is locked
    table = _connect(path, True, stack)
    table.append(damaged.rows)
    table.damage = damaged.damage
    return table


def _cannot_be_used(path: Path | None, error: Exception) -> InputError:
    return InputError(
        f"The table {str(path)!r} cannot be used: {error}; choose a table of a sweep or a new file, in a"
        " writable directory with free disk space."
    )


def _connect(path: Path | None, new: bool, stack: ExitStack) -> SweepTable:
    database = stack.enter_context(closing(sqlite3.connect(path or ":memory:", timeout=_BUSY_TIMEOUT_S)))
    if new and not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        database.execute(f"CREATE TABLE rows ({', '.join(_COLUMNS)})")
    if tuple(column[1] for column in database.execute("PRAGMA table_info(rows)")) != _COLUMNS:
        raise InputError(
            f"{str(path)!r} is not a table of a sweep of psm_sim {__version__}; choose another file."
        )
    table = SweepTable(database)
    if new and not table.damage:
        # Without a write-ahead log, a commit waits for the disk, which triples the time of short tasks.
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
    return table


def _lock(path: Path, stack: ExitStack) -> None:
    """Lock a file until the *stack* or the process ends.

    Systems without ``fcntl`` have no lock. Two sweeps can then run the same task twice, but no row is lost.
    """
    try:
        import fcntl
    except ImportError:
        return
    file = stack.enter_context(path.open("ab"))
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(
            f"The table {str(path)!r} is in use by another sweep; wait until it ends, or choose another file."
        ) from None

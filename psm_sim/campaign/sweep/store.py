"""Store of sweep results, with one row per task, and checks of the rows that are read."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from psm_sim.campaign.sweep.database import (
    HAS_LOCKS,
    SweepProgress,
    connect,
    describe_store_errors,
    rollback,
    running_sweep,
    transaction,
)
from psm_sim.campaign.sweep.job import Outcome
from psm_sim.campaign.sweep.planning import PlannedTask
from psm_sim.common.component_spec import Spec
from psm_sim.common.formatting import escape_unprintable
from psm_sim.common.input_limits import MAX_PAGES, MAX_SEED
from psm_sim.version import __version__

ENERGY, SLOWDOWN = "energy_per_page_j", "slowdown.mean"
"""Measures that every finished task has."""

_MAX_LENGTH = 100_000
"""Maximum number of characters of a value; the measures of a task have about 2,000."""


@dataclass(frozen=True)
class StoredRow:
    """Task in a store.

    ``state`` is ``"waiting"``, ``"done"``, ``"failed"`` or ``"damaged"``. A damaged row has values that
    cannot be read. Its ``error`` names them. With several ``[[stations]]`` tables, ``measures`` has a
    dictionary for each one, see :meth:`by_station`.
    """

    policy: str
    trace: str
    topology: str
    pages: int
    seed: int
    parameters: dict[str, Any]
    state: str
    measures: dict[str, Any]
    error: str

    def by_station(self) -> list[StoredRow]:
        """Return a row for each table of stations, with its name as parameter ``station``, or this row."""
        if not self._has_stations:
            return [self]
        return [
            replace(self, parameters={**self.parameters, "station": station}, measures=measures)
            for station, measures in self.measures.items()
        ]

    def has_main_measures(self) -> bool:
        """Return whether the measures that every finished task has are present."""
        tables = self.measures.values() if self._has_stations else [self.measures]
        return all({ENERGY, SLOWDOWN} <= table.keys() for table in tables)

    @property
    def _has_stations(self) -> bool:
        return any(isinstance(value, dict) for value in self.measures.values())


_DEAD = "killed" if HAS_LOCKS else "running or killed"
"""Status of a sweep that has not ended and does not hold the lock."""


class SweepRecord(NamedTuple):
    """Sweep that has used a store.

    Attributes
    ----------
    status : str
        ``"running"``, ``"finished"``, ``"interrupted"``, ``"failed"``, or ``"killed"`` if its process has
        ended without it.
    begun, ended : str
        Times in ISO format. A sweep that has not ended has no second one.
    command : str
        Command line or function call.
    progress : SweepProgress or None
        Progress of the sweep if it is running.
    """

    status: str
    begun: str
    ended: str
    command: str
    progress: SweepProgress | None

    @property
    def elapsed_s(self) -> float:
        """Seconds from the start to the end or to now; nan if the times cannot be read."""
        try:
            end = _now() if self.progress else self.ended
            return (datetime.fromisoformat(end) - datetime.fromisoformat(self.begun)).total_seconds()
        except (ValueError, TypeError):
            return math.nan


class Store:
    """Open store of sweep results in a SQLite file. Use it as a context manager.

    If *new* is true, a file that does not exist is created.

    Raises
    ------
    InputError
        If the file cannot be read or written. All methods raise this error too.
    """

    def __init__(self, path: Path, *, new: bool = True) -> None:
        self.path = path
        self._database = connect(path, new=new)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def states(self) -> dict[str, str]:
        """Return the state of every task of every version, by key."""
        with describe_store_errors(self.path):
            records = self._database.execute(f"SELECT key, {', '.join(_READERS)} FROM tasks").fetchall()  # noqa: S608
        return {key: _read_row(values).state for key, *values in records}

    def enrol(self, tasks: Sequence[PlannedTask], parameters: Mapping[str, Mapping[str, Any]]) -> None:
        """Add a row for each new task, and reset the rows of tasks that run again.

        If a file that a task names has changed, the task has a new key but the same label. The old row is
        kept but hidden. *tasks* are all tasks of a sweep, in the order of its rows. *parameters* are those of
        :meth:`TaskChecker.parameters` for each task that will run, by key.
        """
        with describe_store_errors(self.path), transaction(self._database):
            self._database.executemany(
                "INSERT INTO tasks (key, label, version, policy, trace, topology, pages, seed, parameters) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET label = excluded.label, "
                "version = excluded.version, policy = excluded.policy, trace = excluded.trace, "
                "topology = excluded.topology, pages = excluded.pages, seed = excluded.seed, "
                "parameters = excluded.parameters, state = 'waiting', measures = NULL, error = NULL",
                (_task_values(task, parameters[task.key]) for task in tasks if task.key in parameters),
            )
            self._database.executemany(
                "UPDATE tasks SET current = (key = :key) WHERE label = :label AND current != (key = :key)",
                ({"key": task.key, "label": task.label} for task in tasks),
            )

    def record(self, outcomes: Iterable[Outcome]) -> None:
        """Store the outcomes of waiting tasks. Existing outcomes stay unchanged."""
        with describe_store_errors(self.path), transaction(self._database):
            self._database.executemany(
                "UPDATE tasks SET state = ?, measures = ?, error = ? WHERE key = ? AND state = 'waiting'",
                (_outcome_values(outcome) for outcome in outcomes),
            )

    def rows(self, version: str = __version__, keys: Iterable[str] | None = None) -> list[StoredRow]:
        """Return the rows of one version, in the order of *keys*, or in which the tasks were added.

        Without *keys*, tasks whose files have changed are left out.
        """
        query = f"SELECT key, current, {', '.join(_READERS)} FROM tasks WHERE version = ? ORDER BY number"  # noqa: S608
        with describe_store_errors(self.path):
            records = self._database.execute(query, (version,)).fetchall()
        if keys is None:
            return [_read_row(values) for _, current, *values in records if current]
        by_key = {key: values for key, _, *values in records}
        return [_read_row(by_key[key]) for key in keys if key in by_key]

    def versions(self) -> Counter[str]:
        """Return the number of tasks per version, except for tasks whose files have changed."""
        query = "SELECT version, count(*) FROM tasks WHERE current GROUP BY version ORDER BY min(number)"
        with describe_store_errors(self.path):
            return Counter({_display(name): count for name, count in self._database.execute(query)})

    def begin(self, command: str, provenance: Mapping[str, Any]) -> int:
        """Record the start of a sweep with its command and provenance, and return its number."""
        values = ("running", command, _now(), json.dumps(provenance))
        insert = "INSERT INTO sweeps (status, command, begun, provenance) VALUES (?, ?, ?, ?)"
        with describe_store_errors(self.path):
            return int(self._database.execute(insert, values).lastrowid or 0)

    def end(self, number: int, status: str) -> None:
        """Record the end of a sweep.

        *status* is ``"finished"``, ``"interrupted"`` or ``"failed"``. A transaction that an interrupt left
        open is rolled back.
        """
        with describe_store_errors(self.path):
            rollback(self._database)
            self._database.execute(
                "UPDATE sweeps SET status = ?, ended = ? WHERE number = ?", (status, _now(), number)
            )

    def sweeps(self) -> list[SweepRecord]:
        """Return the sweeps that have used the store, the first one first."""
        running = running_sweep(self.path)
        query = "SELECT number, status, begun, ended, command FROM sweeps ORDER BY number"
        with describe_store_errors(self.path):
            records = self._database.execute(query).fetchall()
        sweeps = []
        for number, status, begun, ended, command in records:
            progress = running if running and running.sweep == number else None
            shown = _DEAD if status == "running" and progress is None else _display(status)
            sweeps.append(SweepRecord(shown, _display(begun), _display(ended), _display(command), progress))
        return sweeps


def _task_values(planned: PlannedTask, parameters: Mapping[str, Any]) -> tuple[Any, ...]:
    task, scenario = planned.task, planned.task.scenario
    columns = (str(task.policy), scenario.trace_name, scenario.topology_name, scenario.pages, scenario.seed)
    return (planned.key, planned.label, __version__, *columns, json.dumps(parameters))


def _outcome_values(outcome: Outcome) -> tuple[Any, ...]:
    measures = None if outcome.measures is None else json.dumps(outcome.measures)
    state = "done" if outcome.error is None else "failed"
    return (state, measures, outcome.error, outcome.key)


def _read_row(values: Sequence[Any]) -> StoredRow:
    """Return a row. It is damaged if a value is not one that psm_sim writes."""
    fields, unreadable = {}, []
    for (column, (read, default)), value in zip(_READERS.items(), values, strict=True):
        try:
            fields[column] = read(value)
        except (ValueError, TypeError, OverflowError, RecursionError):
            fields[column] = default
            unreadable.append(column)
    row = StoredRow(**fields)
    if row.state == "done" and not row.has_main_measures():
        unreadable.append("measures")
    if not unreadable:
        return row
    error = f"its {', '.join(dict.fromkeys(unreadable))} cannot be read; run the sweep with --retry"
    return replace(row, state="damaged", measures={}, error=error)


def _read_text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > _MAX_LENGTH:
        raise TypeError
    value.encode()  # bytes that are not UTF-8 were read as surrogates
    return escape_unprintable(value)


def _read_spec(kind: str) -> Callable[[Any], str]:
    return lambda value: str(Spec.parse(_read_text(value), kind))


def _read_integer(low: int, high: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if not isinstance(value, int) or not low <= value <= high:
            raise ValueError
        return value

    return read


def _read_parameters(value: Any) -> dict[str, Any]:
    return _read_scalars(json.loads(_read_text(value)))


def _read_scalars(found: Any) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise TypeError
    return {escape_unprintable(key): _read_scalar(item) for key, item in found.items()}


def _read_scalar(value: Any) -> Any:
    if isinstance(value, str):
        return escape_unprintable(value)
    if isinstance(value, (dict, list)):
        raise TypeError
    if value is not None:
        float(value)  # an integer may be too large
    return value


def _read_measures(value: Any) -> dict[str, Any]:
    found = {} if value is None else json.loads(_read_text(value))
    if isinstance(found, dict) and any(isinstance(item, dict) for item in found.values()):
        return {escape_unprintable(station): _read_table(table) for station, table in found.items()}
    return _read_table(found)


def _read_table(found: Any) -> dict[str, Any]:
    measures = _read_scalars(found)
    if not all(isinstance(measures.get(name, 0), (int, float)) for name in (ENERGY, SLOWDOWN)):
        raise TypeError
    return measures


def _read_state(value: Any) -> str:
    if value not in ("waiting", "done", "failed"):
        raise ValueError
    return str(value)


def _display(value: Any) -> str:
    """Return a value of any type as printable text."""
    return escape_unprintable(str(value))


_READERS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "policy": (_read_spec("policy"), "?"),
    "trace": (_read_spec("trace"), "?"),
    "topology": (_read_text, "?"),
    "pages": (_read_integer(1, MAX_PAGES), 0),
    "seed": (_read_integer(0, MAX_SEED), 0),
    "parameters": (_read_parameters, {}),
    "state": (_read_state, ""),
    "measures": (_read_measures, {}),
    "error": (lambda value: "" if value is None else _read_text(value), ""),
}
"""Function that checks the value of each column, and value in its place if it cannot be read."""


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")

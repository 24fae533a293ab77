"""Store of sweep results, with one row per task."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from psm_sim.campaign.sweep.database import (
    HAS_LOCKS,
    connect,
    describe_store_errors,
    is_locked,
    rollback,
    transaction,
)
from psm_sim.campaign.sweep.job import Outcome
from psm_sim.campaign.sweep.planning import PlannedTask
from psm_sim.common.opened_files import are_unchanged
from psm_sim.version import __version__

ENERGY, SLOWDOWN = "energy_per_page_j", "slowdown.mean"
"""Measures that every finished task has."""


@dataclass(frozen=True)
class StoredRow:
    """Task in a store.

    ``state`` is ``"waiting"``, ``"done"`` or ``"failed"``. With several ``[[stations]]`` tables,
    ``measures`` has a dictionary for each one, see :meth:`by_station`. ``files`` are those of
    :class:`~psm_sim.campaign.sweep.job.Outcome`.
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
    files: dict[str, str] = field(default_factory=dict, compare=False)

    def by_station(self) -> list[StoredRow]:
        """Return a row for each table of stations, with its name as parameter ``station``, or this row."""
        if not any(isinstance(value, dict) for value in self.measures.values()):
            return [self]
        return [
            replace(self, parameters={**self.parameters, "station": station}, measures=measures)
            for station, measures in self.measures.items()
        ]


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
        Times in ISO format; *ended* is empty if the sweep has not ended.
    command : str
        Command line or function call.
    """

    status: str
    begun: str
    ended: str
    command: str


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
        """Return the state of every task of every version, by key.

        It is ``"outdated"`` if a file that user code has opened in the task has changed since.
        """
        with describe_store_errors(self.path):
            records = self._database.execute("SELECT key, state, files FROM tasks").fetchall()
            is_current = {text: are_unchanged(json.loads(text)) for text in {files for *_, files in records}}
        return {key: state if is_current[files] else "outdated" for key, state, files in records}

    def enrol(self, tasks: Sequence[PlannedTask], parameters: Mapping[str, Mapping[str, Any]]) -> None:
        """Add a row for each new task, and reset the rows of tasks that run again.

        If a file that a task names has changed, the task has a new key but the same label. The old row is
        kept but hidden. An outdated task loses its outcome. *tasks* are all tasks of a sweep, in the order of
        its rows. *parameters* are those of :meth:`TaskChecker.parameters` for each task that will run, by
        key.
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
                "UPDATE tasks SET state = ?, measures = ?, error = ?, files = ? "
                "WHERE key = ? AND state = 'waiting'",
                (_outcome_values(outcome) for outcome in outcomes),
            )

    def rows(self, version: str = __version__, keys: Iterable[str] | None = None) -> list[StoredRow]:
        """Return the rows of one version, in the order of *keys*, or in which the tasks were added.

        Without *keys*, tasks whose files have changed are left out.
        """
        query = (
            "SELECT key, current, policy, trace, topology, pages, seed, parameters, state, measures, error, "
            "files FROM tasks WHERE version = ? ORDER BY number"
        )
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
            return Counter(dict(self._database.execute(query).fetchall()))

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
        query = "SELECT status, begun, coalesce(ended, ''), command FROM sweeps ORDER BY number"
        with describe_store_errors(self.path):
            records = self._database.execute(query).fetchall()
        sweeps = [SweepRecord(*record) for record in records]
        running = sweeps[-1:] if is_locked(self.path) else []
        return [
            sweep._replace(status=_DEAD) if sweep.status == "running" and sweep not in running else sweep
            for sweep in sweeps
        ]


def _task_values(planned: PlannedTask, parameters: Mapping[str, Any]) -> tuple[Any, ...]:
    task, scenario = planned.task, planned.task.scenario
    columns = (str(task.policy), scenario.trace_name, scenario.topology_name, scenario.pages, scenario.seed)
    return (planned.key, planned.label, __version__, *columns, json.dumps(parameters))


def _outcome_values(outcome: Outcome) -> tuple[Any, ...]:
    measures = None if outcome.measures is None else json.dumps(outcome.measures)
    state = "done" if outcome.error is None else "failed"
    return (state, measures, outcome.error, json.dumps(outcome.files), outcome.key)


def _read_row(values: Sequence[Any]) -> StoredRow:
    policy, trace, topology, pages, seed, parameters, state, measures, error, files = values
    measured = {} if measures is None else json.loads(measures)
    plain = (policy, trace, topology, pages, seed)
    return StoredRow(*plain, json.loads(parameters), state, measured, error or "", json.loads(files))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")

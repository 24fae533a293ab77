"""Store of sweep results, with one row per task."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from psm_sim.campaign.sweep.database import connect, describe_store_errors, rollback, transaction
from psm_sim.campaign.sweep.planning import PlannedTask
from psm_sim.campaign.sweep.task_outcome import Outcome, StoredRow
from psm_sim.version import __version__

_COLUMNS = "policy, trace, topology, pages, seed, parameters, state, measures, error, wall_s"


class Store:
    """Open store of sweep results. Use it as a context manager.

    Parameters
    ----------
    path : Path
        SQLite file.
    new : bool
        Whether to create the file if it does not exist.

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
            return dict(self._database.execute("SELECT key, state FROM tasks"))

    def enrol(self, tasks: Sequence[PlannedTask], parameters: Mapping[str, Mapping[str, Any]]) -> None:
        """Add a row for each new task.

        If a file that a task names has changed, the task has a new key but the same label. The old row is
        kept but hidden.

        Parameters
        ----------
        tasks : sequence of PlannedTask
            All tasks of a sweep, in the order of its rows.
        parameters : mapping
            Parameters of each new task by key, as returned by :meth:`TaskChecker.parameters`.
        """
        with describe_store_errors(self.path), transaction(self._database):
            self._database.executemany(
                "INSERT OR IGNORE INTO tasks (key, label, version, policy, trace, topology, pages, seed, "
                "parameters) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (_task_values(task, parameters[task.key]) for task in tasks if task.key in parameters),
            )
            self._database.executemany(
                "UPDATE tasks SET current = (key = :key) WHERE label = :label AND current != (key = :key)",
                ({"key": task.key, "label": task.label} for task in tasks),
            )

    def retry(self, keys: Iterable[str]) -> None:
        """Reset the failed tasks among *keys* to waiting."""
        with describe_store_errors(self.path), transaction(self._database):
            self._database.executemany(
                "UPDATE tasks SET state = 'waiting', error = NULL WHERE key = ? AND state = 'failed'",
                ((key,) for key in keys),
            )

    def record(self, outcomes: Iterable[Outcome]) -> None:
        """Store the outcomes of waiting tasks. Existing outcomes stay unchanged."""
        with describe_store_errors(self.path), transaction(self._database):
            self._database.executemany(
                "UPDATE tasks SET state = ?, measures = ?, error = ?, wall_s = ? "
                "WHERE key = ? AND state = 'waiting'",
                (_outcome_values(outcome) for outcome in outcomes),
            )

    def rows(self, version: str = __version__, keys: Iterable[str] | None = None) -> list[StoredRow]:
        """Return the rows of one version, in the order in which the tasks were added.

        Parameters
        ----------
        version : str
            Version of psm_sim that ran the tasks.
        keys : iterable of str or None
            Keys of the tasks to return. None returns all tasks except those whose files have changed.
        """
        selected = None if keys is None else set(keys)
        query = f"SELECT key, current, {_COLUMNS} FROM tasks WHERE version = ? ORDER BY number"  # noqa: S608
        with describe_store_errors(self.path):
            records = self._database.execute(query, (version,)).fetchall()
        return [
            _stored_row(values)
            for key, current, *values in records
            if (current if selected is None else key in selected)
        ]

    def versions(self) -> Counter[str]:
        """Return the number of tasks per version, except for tasks whose files have changed."""
        query = "SELECT version, count(*) FROM tasks WHERE current GROUP BY version ORDER BY min(number)"
        with describe_store_errors(self.path):
            return Counter(dict(self._database.execute(query)))

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

    def sweeps(self) -> list[tuple[str, str, str]]:
        """Return status, start time and command of each sweep on the store."""
        with describe_store_errors(self.path):
            return list(self._database.execute("SELECT status, begun, command FROM sweeps ORDER BY number"))


def _task_values(planned: PlannedTask, parameters: Mapping[str, Any]) -> tuple[Any, ...]:
    task, scenario = planned.task, planned.task.scenario
    columns = (str(task.policy), scenario.trace_name, scenario.topology_name, scenario.pages, scenario.seed)
    return (planned.key, planned.label, __version__, *columns, json.dumps(parameters))


def _outcome_values(outcome: Outcome) -> tuple[Any, ...]:
    measures = None if outcome.measures is None else json.dumps(outcome.measures)
    state = "done" if outcome.error is None else "failed"
    return (state, measures, outcome.error, outcome.wall_s, outcome.key)


def _stored_row(values: Sequence[Any]) -> StoredRow:
    policy, trace, topology, pages, seed, parameters, state, measures, error, wall_s = values
    parameters, measures = json.loads(parameters), json.loads(measures or "{}")
    return StoredRow(
        policy, trace, topology, pages, seed, parameters, state, measures, error or "", wall_s or 0.0
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")

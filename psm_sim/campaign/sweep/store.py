"""Store of a sweep: one row per task under its key, written as it finishes, never done twice."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from psm_sim.campaign.sweep.database import connect, describe_sqlite_errors, rollback, transaction
from psm_sim.campaign.sweep.heartbeats import StoreRunner, live_runners
from psm_sim.campaign.sweep.outcome import Outcome, StoredRow
from psm_sim.campaign.sweep.planning import PlannedTask
from psm_sim.version import __version__

_COLUMNS = "policy, trace, topology, pages, seed, parameters, state, measures, error, wall_s"


class Store:
    """A store, open; use it as a context.

    Parameters
    ----------
    path
        The SQLite file.
    new
        Make it if there is none.

    Raises
    ------
    InputError
        From here and from every method, if the file cannot be read or written.
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
        with describe_sqlite_errors(self.path):
            return dict(self._database.execute("SELECT key, state FROM tasks"))

    def enrol(self, tasks: Sequence[PlannedTask], parameters: Mapping[str, Mapping[str, Any]]) -> None:
        """Give each task a row that has none.

        A row with the same words but another key, since a file that it names has changed, is kept but no
        longer shown.

        Parameters
        ----------
        tasks
            All tasks of a sweep, in the order of its rows.
        parameters
            Those of each task that may be new, by key, as :meth:`Check.parameters` returns them.
        """
        with describe_sqlite_errors(self.path), transaction(self._database):
            self._database.executemany(
                "INSERT OR IGNORE INTO tasks (key, label, version, policy, trace, topology, pages, seed, "
                "parameters) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (_row(task, parameters[task.key]) for task in tasks if task.key in parameters),
            )
            self._database.executemany(
                "UPDATE tasks SET current = (key = :key) WHERE label = :label AND current != (key = :key)",
                ({"key": task.key, "label": task.label} for task in tasks),
            )

    def retry(self, keys: Iterable[str]) -> None:
        """Let those of the tasks that have failed wait again."""
        with describe_sqlite_errors(self.path), transaction(self._database):
            self._database.executemany(
                "UPDATE tasks SET state = 'waiting', error = NULL WHERE key = ? AND state = 'failed'",
                ((key,) for key in keys),
            )

    def claim(self, keys: Sequence[str], runner: StoreRunner) -> set[str]:
        """Return those of the waiting tasks that are now this runner's: no other living one has them."""
        with describe_sqlite_errors(self.path), transaction(self._database):
            living = json.dumps(live_runners(self._database))
            self._database.executemany(
                "UPDATE tasks SET runner = ? WHERE key = ? AND state = 'waiting' AND (runner IS NULL OR "
                "runner NOT IN (SELECT value FROM json_each(?)))",
                ((runner.id, key, living) for key in keys),
            )
            marks = ",".join("?" * len(keys))
            mine = f"SELECT key FROM tasks WHERE runner = ? AND state = 'waiting' AND key IN ({marks})"  # noqa: S608
            return {key for (key,) in self._database.execute(mine, (runner.id, *keys))}

    def record(self, outcomes: Iterable[Outcome]) -> None:
        """Write what came of tasks; what is there already stays."""
        with describe_sqlite_errors(self.path), transaction(self._database):
            self._database.executemany(
                "UPDATE tasks SET state = ?, measures = ?, error = ?, wall_s = ?, runner = NULL "
                "WHERE key = ? AND state = 'waiting'",
                (_written(outcome) for outcome in outcomes),
            )

    def rows(self, version: str = __version__, keys: Iterable[str] | None = None) -> list[StoredRow]:
        """Return the rows of one version, in the order in which the tasks were first planned.

        Parameters
        ----------
        version
            The version of psm_sim that ran them: others are never among them.
        keys
            The tasks wanted; None: all but those whose files have changed.
        """
        wanted = None if keys is None else set(keys)
        query = f"SELECT key, current, {_COLUMNS} FROM tasks WHERE version = ? ORDER BY number"  # noqa: S608
        with describe_sqlite_errors(self.path):
            found = self._database.execute(query, (version,)).fetchall()
        return [_read(row) for key, current, *row in found if (current if wanted is None else key in wanted)]

    def versions(self) -> Counter[str]:
        """Return how many tasks there are of each version, those whose files have changed left out."""
        query = "SELECT version, count(*) FROM tasks WHERE current GROUP BY version ORDER BY min(number)"
        with describe_sqlite_errors(self.path):
            return Counter(dict(self._database.execute(query)))

    def begin(self, command: str, provenance: Mapping[str, Any]) -> int:
        """Note that a sweep begins, with its command and what made it; return its number."""
        values = ("running", command, _now(), json.dumps(provenance))
        insert = "INSERT INTO sweeps (status, command, begun, provenance) VALUES (?, ?, ?, ?)"
        with describe_sqlite_errors(self.path):
            return int(self._database.execute(insert, values).lastrowid or 0)

    def undo(self) -> None:
        """Undo what an interrupt may have left half written, so that others can write."""
        with describe_sqlite_errors(self.path):
            rollback(self._database)

    def end(self, number: int, status: str) -> None:
        """Note how a sweep ended: ``"finished"``, ``"interrupted"`` or ``"failed"``."""
        with describe_sqlite_errors(self.path):
            self._database.execute(
                "UPDATE sweeps SET status = ?, ended = ? WHERE number = ?", (status, _now(), number)
            )

    def sweeps(self) -> list[tuple[str, str, str]]:
        """Return status, beginning and command of each sweep that used the store."""
        with describe_sqlite_errors(self.path):
            return list(self._database.execute("SELECT status, begun, command FROM sweeps ORDER BY number"))


def _row(each: PlannedTask, parameters: Mapping[str, Any]) -> tuple[Any, ...]:
    task, scenario = each.task, each.task.scenario
    words = (str(task.policy), scenario.trace_name, scenario.topology_name, scenario.pages, scenario.seed)
    return (each.key, each.label, __version__, *words, json.dumps(parameters))


def _written(outcome: Outcome) -> tuple[Any, ...]:
    measures = None if outcome.measures is None else json.dumps(outcome.measures)
    state = "done" if outcome.error is None else "failed"
    return (state, measures, outcome.error, outcome.wall_s, outcome.key)


def _read(values: Sequence[Any]) -> StoredRow:
    policy, trace, topology, pages, seed, parameters, state, measures, error, wall_s = values
    given, found = json.loads(parameters), json.loads(measures or "{}")
    return StoredRow(policy, trace, topology, pages, seed, given, state, found, error or "", wall_s or 0.0)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")

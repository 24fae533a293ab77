"""Processes that run tasks of a store (runners) and their heartbeats."""

from __future__ import annotations

import os
import socket
import sqlite3
import threading
import time
import uuid
from contextlib import closing, suppress
from pathlib import Path

from psm_sim.campaign.sweep.database import connect, describe_sqlite_errors
from psm_sim.common.errors import InputError

BEAT_S, LEASE_S = 2.0, 20.0
"""Heartbeat interval, and time after the last heartbeat at which a runner counts as dead, in seconds."""


class StoreRunner:
    """Entry of this process in a store, with a heartbeat until it is closed.

    Other runners may claim its tasks when it is dead. On the same machine it is dead as soon as its process
    has ended. On another machine it is dead when the lease of :data:`LEASE_S` seconds has expired.
    """

    def __init__(self, path: Path) -> None:
        self.id = uuid.uuid4().hex
        self._path, self._closed = path, threading.Event()
        row = (self.id, socket.gethostname(), os.getpid(), time.time())
        database = connect(path, new=True)
        with describe_sqlite_errors(path), closing(database):
            database.execute("INSERT INTO runners VALUES (?, ?, ?, ?)", row)
        self._thread = threading.Thread(target=self._beat, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the heartbeat, release all claims and remove the entry."""
        self._closed.set()
        self._thread.join()
        with suppress(sqlite3.Error, InputError), closing(connect(self._path, new=True)) as database:
            database.execute("UPDATE tasks SET runner = NULL WHERE runner = ?", (self.id,))
            database.execute("DELETE FROM runners WHERE id = ?", (self.id,))

    def _beat(self) -> None:
        while not self._closed.wait(BEAT_S):
            # Ignore errors. The next heartbeat tries again, and the sweep reports problems of the store.
            with suppress(sqlite3.Error, InputError), closing(connect(self._path, new=True)) as database:
                database.execute("UPDATE runners SET beat_s = ? WHERE id = ?", (time.time(), self.id))


def live_runners(database: sqlite3.Connection) -> list[str]:
    """Return the ids of the live runners, and delete the entries of dead ones."""
    runners = database.execute("SELECT id, host, pid, beat_s FROM runners").fetchall()
    live = [runner for runner, host, pid, beat_s in runners if _is_alive(host, pid, beat_s)]
    for runner in {row[0] for row in runners} - set(live):
        database.execute("DELETE FROM runners WHERE id = ?", (runner,))
    return live


def _is_alive(host: str, pid: int, beat_s: float) -> bool:
    if time.time() - beat_s > LEASE_S:
        return False
    if host != socket.gethostname() or os.name == "nt":  # os.kill() would terminate the process on Windows
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True

"""Runners: the processes that run tasks of one store, and which of them are alive."""

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
"""Seconds between two signs of life, and after the last of which a runner counts as dead."""


class StoreRunner:
    """Runner of a store, this process: it gives signs of life until it is closed.

    Tasks that it has claimed are another's to claim as soon as it is dead: at once if its process is gone
    from this machine, else when its lease is over.
    """

    def __init__(self, path: Path) -> None:
        self.id = uuid.uuid4().hex
        self._path, self._over = path, threading.Event()
        row = (self.id, socket.gethostname(), os.getpid(), time.time())
        database = connect(path, new=True)
        with describe_sqlite_errors(path), closing(database):
            database.execute("INSERT INTO runners VALUES (?, ?, ?, ?)", row)
        self._thread = threading.Thread(target=self._beat, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Give up every claim."""
        self._over.set()
        self._thread.join()
        with suppress(sqlite3.Error, InputError), closing(connect(self._path, new=True)) as database:
            database.execute("UPDATE tasks SET runner = NULL WHERE runner = ?", (self.id,))
            database.execute("DELETE FROM runners WHERE id = ?", (self.id,))

    def _beat(self) -> None:
        while not self._over.wait(BEAT_S):
            # What fails is done again 2 s later; the sweep itself says what is wrong with the store.
            with suppress(sqlite3.Error, InputError), closing(connect(self._path, new=True)) as database:
                database.execute("UPDATE runners SET beat_s = ? WHERE id = ?", (time.time(), self.id))


def live_runners(database: sqlite3.Connection) -> list[str]:
    """Return the runners that are alive, and forget the others."""
    found = database.execute("SELECT id, host, pid, beat_s FROM runners").fetchall()
    living = [name for name, host, pid, beat_s in found if _is_alive(host, pid, beat_s)]
    for name in {each[0] for each in found} - set(living):
        database.execute("DELETE FROM runners WHERE id = ?", (name,))
    return living


def _is_alive(host: str, pid: int, beat_s: float) -> bool:
    if time.time() - beat_s > LEASE_S:
        return False
    if host != socket.gethostname() or os.name == "nt":  # on Windows os.kill() would end the process
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True

"""Waiting frames: those told and not yet written, since an earlier one may still be told."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psm_sim.network.on_air import OnAir

DATA, GROUP, NULL_FRAME, PS_POLL, ACK = range(5)
_CODES = {"data": DATA, "group": GROUP, "null": NULL_FRAME, "ps-poll": PS_POLL, "ack": ACK}
DERIVED = 2
"""More Data bit that follows from what is queued."""

ROW = np.dtype(
    [
        ("sort_s", "<f8"), ("heard_s", "<f8"), ("air_s", "<f8"), ("starts_s", "<f8"), ("queued_s", "<f8"),
        ("kind", "u1"), ("up", "?"), ("sleeps", "?"), ("retry", "?"), ("more", "u1"), ("number", "<i8"),
        ("seq", "<i8"), ("payload", "<i8"), ("ack", "<i8"), ("syn", "?"), ("ends", "u1"), ("wire", "<i8"),
        ("aid", "<i8"),
    ]
)  # fmt: skip
"""One frame: ``sort_s`` is its place in the file, ``number`` that of its connection, -1 for a datagram.

``ends`` has the bits of FIN and RST as TCP's flags have them; ``aid`` is the station's association.
"""

pack = Struct("<5dB3?B4q?Bqq").pack
"""Packs the fields of a row."""

_NOTHING = (-1, 0, 0, 0, 0, 0, 0)


class Signal(NamedTuple):
    """Frame of a station that takes no time: when it is sent in seconds, its kind, and whose it is.

    ``aid`` and ``sleeps`` as in a row: a null frame's power-management bit, or a PS-Poll's.
    """

    time_s: float
    kind: int
    aid: int
    sleeps: bool


class Waiting:
    """Waiting frames, in the order in which they were told: ``rows`` has them packed, one behind another.

    ``signals`` has the frames of stations that take no time.
    """

    def __init__(self) -> None:
        self.rows = bytearray()
        self.signals: list[Signal] = []

    def __len__(self) -> int:
        return len(self.rows) // ROW.itemsize

    def add(self, frame: OnAir, aid: int, sleeps: bool) -> None:
        """Add a frame, which takes its place in the file when it is heard.

        Parameters
        ----------
        frame
            What was told.
        aid
            The number of the station's association.
        sleeps
            Its power-management bit.
        """
        kind, up, queued_s, starts_s, air_s, heard_s, each, retry, _, more = frame
        data: tuple[int, ...] = _NOTHING
        if each is not None:
            ends = each.fin | 4 if each.rst else each.fin
            data = each.connection.number, each.seq, each.payload, each.ack, each.syn, ends, each.wire_bytes
        self.rows += pack(
            heard_s, heard_s, air_s, starts_s, queued_s, _CODES[kind], up, sleeps, retry,
            DERIVED if more is None else more, *data, aid,
        )  # fmt: skip

    def take(self, until_s: float) -> NDArray[np.void]:
        """Return the frames before a time in seconds, in order, as rows of :data:`ROW`; others wait on."""
        rows = np.frombuffer(bytes(self.rows) + _rows_of(self.signals).tobytes(), ROW)
        self.signals.clear()
        order = np.argsort(rows["sort_s"], kind="stable")
        ready = int(np.searchsorted(rows["sort_s"][order], until_s, side="left"))
        taken, more = rows[order[:ready]], _more(rows)[order[:ready]]
        taken["more"] = more
        self.rows[:] = rows[order[ready:]].tobytes()
        return np.asarray(taken)


def _rows_of(signals: Sequence[Signal]) -> NDArray[np.void]:
    """Return signals as rows, each one bit after what it follows: a beacon, or a frame."""
    rows = np.zeros(len(signals), ROW)
    if signals:
        time_s, rows["kind"], rows["aid"], rows["sleeps"] = np.array(signals).T
        rows["sort_s"] = np.nextafter(time_s, np.inf)
        rows["heard_s"] = rows["starts_s"] = rows["queued_s"] = time_s
        rows["up"], rows["more"], rows["number"] = True, DERIVED, -1
    return rows


def _more(rows: NDArray[np.void]) -> NDArray[np.uint8]:
    """Return the More Data bit of each frame; it is set if another one is queued behind when it starts."""
    down = np.flatnonzero(~rows["up"] & (rows["kind"] == DATA))
    behind = np.zeros(rows.size, np.uint8)
    behind[down[:-1]] = rows["queued_s"][down[1:]] <= rows["starts_s"][down[:-1]]
    return np.where(rows["more"] == DERIVED, behind, rows["more"])

"""Waiting frames: those told and not yet written, since an earlier one may still be told."""

from __future__ import annotations

from math import inf, nextafter
from struct import Struct

import numpy as np
from numpy.typing import NDArray

from psm_sim.network.air_frame import AirFrame

DATA, GROUP, NULL_FRAME, PS_POLL, ACK = range(5)
_CODES = {"data": DATA, "group": GROUP, "null": NULL_FRAME, "ps-poll": PS_POLL, "ack": ACK}
DERIVED = 2
"""More Data bit that follows from what is queued."""

ROW = np.dtype(
    [
        ("sort_s", "<f8"), ("heard_s", "<f8"), ("air_s", "<f8"), ("starts_s", "<f8"), ("queued_s", "<f8"),
        ("number", "<i8"), ("seq", "<i8"), ("payload", "<i8"), ("ack", "<i8"), ("wire", "<i8"),
        ("aid", "<i8"), ("kind", "u1"), ("up", "?"), ("sleeps", "?"), ("retry", "?"), ("more", "u1"),
        ("syn", "?"), ("ends", "u1"), ("_", "u1"),
    ]
)  # fmt: skip
"""One frame: ``sort_s`` is its place in the file, ``number`` that of its connection, -1 for a datagram.

``ends`` has the bits of FIN and RST as TCP's flags have them; ``aid`` is the station's association. Columns
lie at multiples of their size, which NumPy reads at once.
"""

_WORDS = ROW.itemsize // 8

pack = Struct("<5d6qB3?B?Bx").pack
"""Packs the fields of a row."""

_NOTHING, _NO_FLAGS = (-1, 0, 0, 0, 0), (0, 0)


class PendingFrames:
    """Waiting frames, in the order in which they were told: ``rows`` has them packed, one behind another."""

    def __init__(self) -> None:
        self.rows = bytearray()

    def __len__(self) -> int:
        return len(self.rows) // ROW.itemsize

    def add(self, frame: AirFrame, aid: int, sleeps: bool) -> None:
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
        data, flags = _NOTHING, _NO_FLAGS
        if each is not None:
            data = each.connection.number, each.seq, each.payload, each.ack, each.wire_bytes
            flags = each.syn, each.fin | 4 if each.rst else each.fin
        self.rows += pack(
            heard_s, heard_s, air_s, starts_s, queued_s, *data, aid, _CODES[kind], up, sleeps, retry,
            DERIVED if more is None else more, *flags,
        )  # fmt: skip

    def signal(self, time_s: float, kind: int, aid: int, sleeps: bool) -> None:
        """Add a frame of a station that takes no time: its place is one bit after a beacon's or a frame's.

        Parameters
        ----------
        time_s
            When it is sent, in seconds.
        kind
            A null frame or a PS-Poll.
        aid, sleeps
            As for :meth:`add`.
        """
        self.rows += pack(
            nextafter(time_s, inf), time_s, 0.0, time_s, time_s, *_NOTHING, aid, kind, True, sleeps, False,
            DERIVED, *_NO_FLAGS,
        )  # fmt: skip

    def take(self, until_s: float) -> NDArray[np.void]:
        """Return the frames before a time in seconds, in order, as rows of :data:`ROW`; others wait on."""
        rows = np.frombuffer(bytes(self.rows), ROW)
        order = np.argsort(rows["sort_s"], kind="stable")
        ready = int(np.searchsorted(rows["sort_s"][order], until_s, side="left"))
        taken = take_rows(rows, order[:ready])
        taken["more"] = _more(rows)[order[:ready]]
        self.rows[:] = take_rows(rows, order[ready:]).tobytes()
        return taken


def take_rows(rows: NDArray[np.void], chosen: NDArray[np.intp]) -> NDArray[np.void]:
    """Return some rows, by their places (n,): whole numbers are copied in a twentieth of the time."""
    return np.asarray(rows.view(np.int64).reshape(-1, _WORDS).take(chosen, axis=0).view(ROW)[:, 0])


def _more(rows: NDArray[np.void]) -> NDArray[np.uint8]:
    """Return the More Data bit of each frame; it is set if another one is queued behind when it starts."""
    down = np.flatnonzero(~rows["up"] & (rows["kind"] == DATA))
    behind = np.zeros(rows.size, np.uint8)
    behind[down[:-1]] = rows["queued_s"][down[1:]] <= rows["starts_s"][down[:-1]]
    return np.where(rows["more"] == DERIVED, behind, rows["more"])

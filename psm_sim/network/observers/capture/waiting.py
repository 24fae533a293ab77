"""Waiting frames: those told and not yet written, since an earlier one may still be told."""

from __future__ import annotations

from struct import Struct

import numpy as np
from numpy.typing import NDArray

from psm_sim.network.on_air import OnAir
from psm_sim.network.segment import NULL, Segment

DATA, GROUP, NULL_FRAME, PS_POLL, ACK = range(5)
_CODES = {"data": DATA, "group": GROUP, "null": NULL_FRAME, "ps-poll": PS_POLL, "ack": ACK}
_DERIVED = 2

ROW = np.dtype(
    [
        ("sort_s", "<f8"), ("heard_s", "<f8"), ("air_s", "<f8"), ("starts_s", "<f8"), ("queued_s", "<f8"),
        ("kind", "u1"), ("up", "?"), ("sleeps", "?"), ("retry", "?"), ("more", "u1"), ("number", "<i8"),
        ("seq", "<i8"), ("payload", "<i8"), ("ack", "<i8"), ("syn", "?"), ("ends", "u1"), ("wire", "<i8"),
    ]
)  # fmt: skip
"""One frame: ``sort_s`` is its place in the file, ``number`` that of its connection, -1 for a datagram.

``ends`` has the bits of FIN and RST as TCP's flags have them.
"""

_pack = Struct("<5dB3?B4q?Bq").pack

_EMPTY = Segment(NULL, 0, 0, 0, False, False, 0)


class Waiting:
    """Waiting frames, in the order in which they were told."""

    def __init__(self) -> None:
        self._rows = bytearray()

    def __len__(self) -> int:
        return len(self._rows) // ROW.itemsize

    def add(self, frame: OnAir, sort_s: float, sleeps: bool) -> None:
        """Add a frame.

        Parameters
        ----------
        frame
            What was told.
        sort_s
            Its place in the file, in seconds: as a rule when it is heard.
        sleeps
            Its power-management bit.
        """
        kind, up, queued_s, starts_s, air_s, heard_s, segment, retry, _, more = frame
        each = segment or _EMPTY
        self._rows += _pack(
            sort_s, heard_s, air_s, starts_s, queued_s, _CODES[kind], up, sleeps, retry,
            _DERIVED if more is None else more, each.connection.number, each.seq, each.payload, each.ack,
            each.syn, each.fin | 4 * each.rst, each.wire_bytes,
        )  # fmt: skip

    def take(self, until_s: float) -> NDArray[np.void]:
        """Return the frames before a time in seconds, in order, as rows of :data:`ROW`; others wait on."""
        rows = np.frombuffer(self._rows, ROW)
        order = np.argsort(rows["sort_s"], kind="stable")
        ready = int(np.searchsorted(rows["sort_s"][order], until_s, side="left"))
        taken, more = rows[order[:ready]], _more(rows)[order[:ready]]
        taken["more"] = more
        self._rows = bytearray(rows[order[ready:]].tobytes())
        return np.asarray(taken)


def _more(rows: NDArray[np.void]) -> NDArray[np.uint8]:
    """Return the More Data bit of each frame; it is set if another one is queued behind when it starts."""
    down = np.flatnonzero(~rows["up"] & (rows["kind"] == DATA))
    behind = np.zeros(rows.size, np.uint8)
    behind[down[:-1]] = rows["queued_s"][down[1:]] <= rows["starts_s"][down[:-1]]
    return np.where(rows["more"] == _DERIVED, behind, rows["more"])

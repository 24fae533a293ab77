"""Background messages between the station and the network, stored in columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_MESSAGES

DATAGRAM = -1
"""Connection number of a datagram, which belongs to no connection."""

DIRECTIONS = ("down", "round_trip_down", "up", "round_trip_up")
"""Names of the directions. The index is 2 if the station sends first, else 0, plus 1 if there is a reply."""

_ROW = np.dtype(
    [
        ("at_s", np.float64),
        ("bytes", np.uint32),
        ("uplink", np.bool_),
        ("reply_bytes", np.uint32),
        ("reply_delay_s", np.float64),
        ("connection", np.int16),
        ("flow", np.int32),
        ("payload", np.uint16),
        ("syn", np.bool_),
        ("fin", np.bool_),
        ("mss", np.uint16),
    ]
)
_ROWS_PER_SLICE = 4096  # a slice takes 1.4 MB as Python objects


class Message(NamedTuple):
    """Datagram, or message on a persistent TCP connection.

    Attributes
    ----------
    at_s
        Time of transmission, in seconds since the start of the run.
    bytes
        Size in bytes, with headers for a datagram and without headers for a TCP message.
    uplink
        Whether the station sends the message.
    reply_bytes
        Size of the receiver's reply, in bytes, with or without headers like ``bytes``. 0 disables the reply.
    reply_delay_s
        Seconds between the arrival of the message and its reply.
    connection
        Index of the persistent TCP connection; :data:`DATAGRAM` for a datagram.
    flow
        If this datagram replays a packet of a recorded TCP connection, the index of that connection, else
        :data:`DATAGRAM`.
    payload, syn, fin, mss
        TCP fields of the recorded packet, as in :class:`~psm_sim.policies.Frame`.
    """

    at_s: float
    bytes: int
    uplink: bool = False
    reply_bytes: int = 0
    reply_delay_s: float = 0.0
    connection: int = DATAGRAM
    flow: int = DATAGRAM
    payload: int = 0
    syn: bool = False
    fin: bool = False
    mss: int = 0

    @property
    def direction(self) -> str:
        """Name of the direction in results, one of :data:`DIRECTIONS`."""
        return DIRECTIONS[2 * self.uplink + (self.reply_bytes > 0)]


class Messages(Sequence[Message]):
    """Immutable sequence of messages, ordered by time. Sequences with equal content are equal.

    Parameters
    ----------
    rows
        Messages, or an array made by :meth:`columns`, in any order. The rows are sorted by ``at_s``.
    at_access_point
        Whether downlink datagrams start at the access point, as in a recording made there. If False, they
        start at the server and cross the wired link.

    Raises
    ------
    InputError
        If there are more than :data:`~psm_sim.common.input_limits.MAX_MESSAGES`.
    """

    def __init__(
        self, rows: Iterable[Message] | NDArray[np.void] = (), at_access_point: bool = False
    ) -> None:
        table = rows if isinstance(rows, np.ndarray) else np.array(list(rows), _ROW)
        check_messages(table.size, "traffic")
        steps = np.diff(table["at_s"])
        self._rows = table if (steps >= 0).all() else table[np.argsort(table["at_s"], kind="stable")]
        self.at_access_point = at_access_point

    @staticmethod
    def columns(size: int, **values: Any) -> NDArray[np.void]:
        """Return a structured array of *size* messages with the fields of :class:`Message`.

        Each of the *values* is an array of shape (size,), or a number that all messages share.
        """
        rows = np.zeros(size, _ROW)
        rows["connection"] = rows["flow"] = DATAGRAM
        for name, value in values.items():
            rows[name] = value
        return rows

    @property
    def at_s(self) -> NDArray[np.float64]:
        """Times of transmission in seconds, shape (n,)."""
        return np.asarray(self._rows["at_s"])

    @property
    def uplink(self) -> NDArray[np.bool_]:
        """Whether the station sends each message, shape (n,)."""
        return np.asarray(self._rows["uplink"])

    @property
    def directions(self) -> list[str]:
        """Distinct directions of the messages."""
        return [DIRECTIONS[code] for code in np.unique(2 * self.uplink + (self._rows["reply_bytes"] > 0))]

    @property
    def connections(self) -> list[int]:
        """Numbers of the persistent connections, in ascending order."""
        numbers: list[int] = np.unique(self._rows["connection"]).tolist()
        return [number for number in numbers if number != DATAGRAM]

    def __len__(self) -> int:
        return self._rows.size

    def frames(self, segment_bytes: int) -> float:
        """Return the number of frames without ACKs. A TCP segment carries at most *segment_bytes*."""
        replies = self._rows["reply_bytes"]
        is_tcp = self._rows["connection"] != DATAGRAM
        segments = self._rows["bytes"] // segment_bytes + replies // segment_bytes
        return float(self._rows.size + (replies > 0).sum() + segments[is_tcp].sum(dtype=np.float64))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Messages(self._rows[index], self.at_access_point)
        return Message(*self._rows[index].item())

    def __iter__(self) -> Iterator[Message]:
        # Convert a slice at a time, because all rows as Python objects would need ten times the memory.
        for first in range(0, self._rows.size, _ROWS_PER_SLICE):
            yield from map(Message._make, self._rows[first : first + _ROWS_PER_SLICE].tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Messages) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        digest = sha256(self._rows.tobytes()).hexdigest()
        return f"Messages({len(self)}, {digest}, at_access_point={self.at_access_point})"


def check_messages(count: float, owner: str) -> None:
    """Raise InputError if *count* is too large. The text begins with *owner*, e.g. ``"trace ping"``."""
    if count > MAX_MESSAGES:
        raise InputError(
            f"{owner}: expected at most {MAX_MESSAGES:,} messages, got {count:,.0f}; use fewer pages, a "
            "shorter time or a longer period."
        )


NO_MESSAGES = Messages()
"""Messages of a run that has only pages."""

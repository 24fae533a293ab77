"""Messages: what the station and the network send each other beside pages, in columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psm_sim.errors import InputError
from psm_sim.limits import MAX_MESSAGES

DATAGRAM = -1
"""Number of the connection of a message that has none."""

_ROW = np.dtype(
    [
        ("at_s", np.float64),
        ("bytes", np.uint32),
        ("uplink", np.bool_),
        ("reply_bytes", np.uint32),
        ("reply_delay_s", np.float64),
        ("connection", np.int16),
    ]
)
_SLICE = 4096


class Message(NamedTuple):
    """Message: one datagram, or one piece of a standing TCP connection's stream.

    ``at_s`` is when it is sent, in seconds since the start; ``uplink`` says that the station sends it. The
    other side answers with ``reply_bytes`` after ``reply_delay_s`` seconds; 0 bytes: it does not answer.
    ``connection`` numbers the standing TCP connections from 0; :data:`DATAGRAM` is none. The bytes of a
    datagram include its headers, those of a connection's message do not.
    """

    at_s: float
    bytes: int
    uplink: bool = False
    reply_bytes: int = 0
    reply_delay_s: float = 0.0
    connection: int = DATAGRAM


class Messages(Sequence[Message]):
    """Messages in the order in which they are sent; two with the same content are equal.

    Parameters
    ----------
    rows
        Messages, or an array made by :meth:`columns`, in any order; sorted here by ``at_s``.
    at_access_point
        Whether a datagram to the station begins its way at the access point, as one that was recorded there;
        else the server sends it over the wired link.

    Raises
    ------
    InputError
        If there are more than :data:`~psm_sim.limits.MAX_MESSAGES`.
    """

    def __init__(
        self, rows: Iterable[Message] | NDArray[np.void] = (), at_access_point: bool = False
    ) -> None:
        found = rows if isinstance(rows, np.ndarray) else np.array(list(rows), _ROW)
        check_messages(found.size, "traffic")
        steps = np.diff(found["at_s"])
        self._rows = found if (steps >= 0).all() else found[np.argsort(found["at_s"], kind="stable")]
        self.at_access_point = at_access_point

    @staticmethod
    def columns(size: int, **values: Any) -> NDArray[np.void]:
        """Return *size* rows; *values* are (size,) arrays or constants, by the fields of :class:`Message`."""
        rows = np.zeros(size, _ROW)
        rows["connection"] = DATAGRAM
        for name, value in values.items():
            rows[name] = value
        return rows

    @property
    def at_s(self) -> NDArray[np.float64]:
        """The times at which they are sent, (n,), in seconds."""
        return np.asarray(self._rows["at_s"])

    @property
    def uplink(self) -> NDArray[np.bool_]:
        """Which of them the station sends, (n,)."""
        return np.asarray(self._rows["uplink"])

    @property
    def ways(self) -> list[tuple[bool, bool]]:
        """The kinds of way that there are: whether the station begins, and whether there is an answer."""
        answered = self._rows["reply_bytes"] > 0
        found = np.unique(2 * self.uplink + answered).tolist()
        return [(each >= 2, bool(each % 2)) for each in found]

    @property
    def connections(self) -> list[int]:
        """The numbers of the standing connections, ascending."""
        numbers: list[int] = np.unique(self._rows["connection"]).tolist()
        return [number for number in numbers if number != DATAGRAM]

    def __len__(self) -> int:
        return self._rows.size

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Messages(self._rows[index], self.at_access_point)
        return Message(*self._rows[index].item())

    def __iter__(self) -> Iterator[Message]:
        # A slice at a time: as Python objects all of them would take ten times the memory.
        for first in range(0, self._rows.size, _SLICE):
            yield from map(Message._make, self._rows[first : first + _SLICE].tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Messages) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        digest = sha256(self._rows.tobytes()).hexdigest()
        return f"Messages({len(self)}, {digest}, at_access_point={self.at_access_point})"


def check_messages(count: float, owner: str) -> None:
    """Refuse more messages than memory is meant for; *owner* is what they are of, as ``"trace ping"``."""
    if count > MAX_MESSAGES:
        raise InputError(
            f"{owner}: {count:,.0f} messages are to be sent; expected at most {MAX_MESSAGES:,}, so give "
            "fewer pages, a shorter time or a longer period."
        )


NO_MESSAGES = Messages()
"""What a run is given that has pages alone."""

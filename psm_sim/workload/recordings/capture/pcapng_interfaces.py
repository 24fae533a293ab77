"""Interfaces of a pcapng section, with the link type and the unit and offset of times."""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

import numpy as np

from psm_sim.workload.recordings.capture.frame_batch import IntArray

_UNIT, _OFFSET = 9, 14
_MICROSECOND = 6
_EXACT = 9_000_000_000  # units per second up to which a product with 1e9 fits 64 bits
_MAX_S = 1 << 33


class Interface(NamedTuple):
    """Interface of a pcapng section.

    Attributes
    ----------
    link
        Link type, LINKTYPE_ of tcpdump.org.
    units
        Time units per second.
    offset_s
        Seconds to add to all times.
    """

    link: int
    units: int
    offset_s: int

    def time_ns(self, high: IntArray, low: IntArray) -> IntArray:
        """Convert times to nanoseconds since 1970, shape (n,).

        *high* and *low* are the upper and lower 32 bits of the times in units. Times after the year 2242 are
        invalid. They are clipped to it, and a later check of the time span rejects them.
        """
        ticks = (high.astype(np.uint64) << np.uint64(32)) | low.astype(np.uint64)
        units = np.uint64(self.units)
        remainder = ticks % units
        if self.units <= _EXACT:
            part_ns = (remainder * np.uint64(1_000_000_000) // units).astype(np.int64)
        else:
            part_ns = (remainder.astype(np.float64) / self.units * 1e9).astype(np.int64)
        seconds = np.minimum(ticks // units, np.uint64(_MAX_S)).astype(np.int64) + self.offset_s
        return np.asarray(np.clip(seconds, -_MAX_S, _MAX_S) * 1_000_000_000 + part_ns)


def interface_of(block: bytes, order: str) -> Interface:
    """Parse an interface description block. *order* is ``"<"`` or ``">"``."""
    link = Struct(f"{order}H").unpack_from(block, 8)[0]
    units, offset_s = 10**_MICROSECOND, 0
    for code, value in _options(block[16:-4], order):
        if code == _UNIT and value:
            units = _units(value[0])
        elif code == _OFFSET and len(value) == 8:
            offset_s = Struct(f"{order}q").unpack(value)[0]
    return Interface(link, units, max(-_MAX_S, min(offset_s, _MAX_S)))


def _units(code: int) -> int:
    """Return the units per second, a power of 2 if the highest bit of *code* is set, else of 10.

    The exponent is limited so that the result fits 64 bits.
    """
    power = code & 0x7F
    return 1 << min(power, 63) if code & 0x80 else int(10 ** min(power, 19))


def _options(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    head, at = Struct(f"{order}HH"), 0
    while at + 4 <= len(data):
        code, length = head.unpack_from(data, at)
        if code == 0:
            return
        yield code, data[at + 4 : at + 4 + length]
        at += 4 + ((length + 3) & ~3)

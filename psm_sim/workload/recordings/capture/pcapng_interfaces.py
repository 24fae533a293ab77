"""Interfaces of a pcapng section: link type, and the unit and offset of their times."""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

import numpy as np

from psm_sim.workload.recordings.capture.frame_batch import Wholes

_UNIT, _OFFSET = 9, 14
_MICROSECOND = 6
_EXACT = 9_000_000_000  # of a second; the product with 1e9 still fits 64 bits
_MAX_S = 1 << 33


class Interface(NamedTuple):
    """Interface: its link type, how many units of its times make a second, and seconds to add to them."""

    link: int
    units: int
    offset_s: int

    def time_ns(self, high: Wholes, low: Wholes) -> Wholes:
        """Return times in nanoseconds since 1970, (n,), from the upper and lower 32 bits in units.

        Those that are beyond the year 2242 are set to it: they are nonsense, and the span shows it.
        """
        ticks = (high.astype(np.uint64) << np.uint64(32)) | low.astype(np.uint64)
        units = np.uint64(self.units)
        rest = ticks % units
        if self.units <= _EXACT:
            part_ns = (rest * np.uint64(1_000_000_000) // units).astype(np.int64)
        else:
            part_ns = (rest.astype(np.float64) / self.units * 1e9).astype(np.int64)
        seconds = np.minimum(ticks // units, np.uint64(_MAX_S)).astype(np.int64) + self.offset_s
        return np.asarray(np.clip(seconds, -_MAX_S, _MAX_S) * 1_000_000_000 + part_ns)


def interface_of(block: bytes, order: str) -> Interface:
    """Return what an interface description block says; *order* is ``"<"`` or ``">"``."""
    link = Struct(f"{order}H").unpack_from(block, 8)[0]
    units, offset_s = 10**_MICROSECOND, 0
    for code, value in _options(block[16:-4], order):
        if code == _UNIT and value:
            units = _units(value[0])
        elif code == _OFFSET and len(value) == 8:
            offset_s = Struct(f"{order}q").unpack(value)[0]
    return Interface(link, units, max(-_MAX_S, min(offset_s, _MAX_S)))


def _units(code: int) -> int:
    """Return units per second: a power of 2 if the highest bit is set, else of 10; at most 64 bits."""
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

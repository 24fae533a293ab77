"""pcapng files: sections in either byte order, several interfaces, and a unit of time for each.

Layout: blocks of type, length, content and the length again. A section header begins a section and tells its
byte order; interface descriptions tell link type, unit and offset of times; the other kinds have a packet, or
nothing that is needed here. Source: draft-ietf-opsawg-pcapng.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

import numpy as np

from psm_sim.errors import InputError
from psm_sim.workload.recordings.capture.byte_window import Window
from psm_sim.workload.recordings.capture.frame_batch import MAX_FRAMES, Frames, Wholes, words
from psm_sim.workload.recordings.capture.pcapng_interfaces import Interface, interface_of

SECTION = 0x0A0D0D0A
MAGIC = SECTION.to_bytes(4, "big")
_INTERFACE, _PACKET, _SIMPLE, _ENHANCED = 1, 2, 3, 6
_HEADS = {order: Struct(f"{order}II") for order in "<>"}
_ORDERS = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}
_MAX_BLOCK = 16 << 20
_MIN_BLOCK, _MIN_INTERFACE, _PACKET_HEADER = 12, 20, 28


class Pcapng:
    """Reader of one pcapng file, with the section and the interfaces that it has come to."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._interfaces: list[Interface] = []
        self._order, self._head = "<", _HEADS["<"]
        self._timeless = 0

    def frames(self) -> Iterator[Frames]:
        """Yield the frames, a batch for each piece of the file, section and link type.

        A last block that is cut short is left out, with a warning of the source; so are packets without a
        time (simple packet blocks).

        Raises
        ------
        InputError
            If a block's length cannot be, or a packet is of an interface that is not described.
        """
        window = self._window
        while window.fill(_MIN_BLOCK):
            found, used = self._walk(window.data)
            if found:
                yield from self._batches(window.data, np.array(found, np.int64))
            if not window.move(used) and not used:
                break
        if window.data:
            window.source.warnings.append(f"the last block is cut short at byte {window.base:,} and left out")
        if self._timeless:
            window.source.warnings.append(f"{self._timeless:,} packets have no time and are left out")

    def _walk(self, data: bytes) -> tuple[list[int], int]:
        """Go over the complete blocks up to the next section; return where packets are, and what was used."""
        found, at, size = list[int](), 0, len(data)
        while at + _MIN_BLOCK <= size and len(found) < MAX_FRAMES:
            kind, length = self._head.unpack_from(data, at)
            if kind == SECTION:
                if found:
                    break
                length = self._begin_section(data, at)
            if length < _MIN_BLOCK or length > _MAX_BLOCK or length & 3:
                expected = f"a multiple of 4 from {_MIN_BLOCK} to {_MAX_BLOCK:,}"
                self._refuse(at, f"a block claims {length:,} bytes; expected {expected}")
            if at + length > size:
                break
            if kind in (_ENHANCED, _PACKET):
                found.append(at)
            else:
                self._note(kind, data[at : at + length])
            at += length
        return found, at

    def _begin_section(self, data: bytes, at: int) -> int:
        """Note the section's byte order, and return the length of its header."""
        order = _ORDERS.get(data[at + 8 : at + 12])
        if order is None:
            self._refuse(at, f"a section begins with {data[at + 8 : at + 12]!r}; expected its byte order")
        self._order, self._head, self._interfaces = str(order), _HEADS[str(order)], []
        return int(self._head.unpack_from(data, at)[1])

    def _note(self, kind: int, block: bytes) -> None:
        if kind == _INTERFACE and len(block) >= _MIN_INTERFACE:
            self._interfaces.append(interface_of(block, self._order))
        elif kind == _SIMPLE:
            self._timeless += 1

    def _batches(self, data: bytes, at: Wholes) -> Iterator[Frames]:
        array = np.frombuffer(data, np.uint8)
        short = words(array, at, 2, self._order)[:, 1] < _PACKET_HEADER + 4
        if short.any():
            self._refuse(int(at[short][0]), "a packet's block is shorter than its header")
        kind, length, of, high, low, kept, original = words(array, at, 7, self._order).T
        # An obsolete packet block has the interface in 16 bits, and a count of drops in the other 16.
        half = of & 0xFFFF if self._order == "<" else of >> 16
        of = np.where(kind == _PACKET, half, of)
        if (kept > length - _PACKET_HEADER - 4).any() or (of >= len(self._interfaces)).any():
            wrong = (kept > length - _PACKET_HEADER - 4) | (of >= len(self._interfaces))
            what = "a packet is larger than its block, or of an interface that is not described"
            self._refuse(int(at[wrong][0]), what)
        start = at + _PACKET_HEADER
        for number in np.unique(of).tolist():
            mine, interface = of == number, self._interfaces[number]
            time_ns = interface.time_ns(high[mine], low[mine])
            begin = start[mine]
            yield Frames(interface.link, array, begin, begin + kept[mine], original[mine], time_ns)

    def _refuse(self, at: int, what: str) -> None:
        path, place = self._window.source.path, self._window.base + at
        raise InputError(f"{path}: {what}, at byte {place:,}; the file is damaged there.")

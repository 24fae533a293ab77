"""Reader of pcapng files, with sections in either byte order and several interfaces.

A file consists of blocks with type, length, content and the repeated length. A section header block starts a
section and encodes its byte order. An interface description block contains the link type and the unit and
offset of times. Other blocks contain a packet or are ignored. See draft-ietf-opsawg-pcapng.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

import numpy as np

from psm_sim.common.errors import InputError
from psm_sim.workload.recordings.capture.byte_window import Window
from psm_sim.workload.recordings.capture.frame_batch import MAX_FRAMES, Frames, IntArray, u32_rows
from psm_sim.workload.recordings.capture.pcapng_interfaces import Interface, interface_of

SECTION = 0x0A0D0D0A
MAGIC = SECTION.to_bytes(4, "big")
_INTERFACE, _PACKET, _SIMPLE, _ENHANCED = 1, 2, 3, 6
_HEADS = {order: Struct(f"{order}II") for order in "<>"}
_ORDERS = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}
_MAX_BLOCK = 16 << 20
_MIN_BLOCK, _MIN_INTERFACE, _PACKET_HEADER = 12, 20, 28


class Pcapng:
    """Reader of a pcapng file, with the state of the current section."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._interfaces: list[Interface] = []
        self._order, self._head = "<", _HEADS["<"]
        self._timeless = 0

    def frames(self) -> Iterator[Frames]:
        """Yield the frames in batches of one section and link type.

        A truncated last block and packets without a time (simple packet blocks) are omitted, with warnings in
        the source.

        Raises
        ------
        InputError
            If a block has an impossible length or a packet an unknown interface.
        """
        window = self._window
        while window.fill(_MIN_BLOCK):
            packet_starts, used = self._scan_blocks(window.data)
            if packet_starts:
                yield from self._batches(window.data, np.array(packet_starts, np.int64))
            if not window.move(used) and not used:
                break
        if window.data:
            window.source.warnings.append(
                f"the last block, at byte {window.base:,}, is truncated and was omitted"
            )
        if self._timeless:
            window.source.warnings.append(f"{self._timeless:,} packets without a time were omitted")

    def _scan_blocks(self, data: bytes) -> tuple[list[int], int]:
        """Process the complete blocks up to the next section.

        Return the offsets of the packet blocks, and the number of bytes processed.
        """
        packet_starts, at, size = list[int](), 0, len(data)
        while at + _MIN_BLOCK <= size and len(packet_starts) < MAX_FRAMES:
            kind, length = self._head.unpack_from(data, at)
            if kind == SECTION:
                if packet_starts:
                    break
                length = self._begin_section(data, at)
            if length < _MIN_BLOCK or length > _MAX_BLOCK or length & 3:
                expected = f"a multiple of 4 from {_MIN_BLOCK} to {_MAX_BLOCK:,}"
                self._raise_damaged(at, f"a block length must be {expected}, got {length:,}")
            if at + length > size:
                break
            if kind in (_ENHANCED, _PACKET):
                packet_starts.append(at)
            else:
                self._handle_block(kind, data[at : at + length])
            at += length
        return packet_starts, at

    def _begin_section(self, data: bytes, at: int) -> int:
        """Set the byte order of a new section and return the length of its header."""
        order = _ORDERS.get(data[at + 8 : at + 12])
        if order is None:
            self._raise_damaged(at, f"invalid byte-order magic {data[at + 8 : at + 12]!r} of a section")
        self._order, self._head, self._interfaces = str(order), _HEADS[str(order)], []
        return int(self._head.unpack_from(data, at)[1])

    def _handle_block(self, kind: int, block: bytes) -> None:
        if kind == _INTERFACE and len(block) >= _MIN_INTERFACE:
            self._interfaces.append(interface_of(block, self._order))
        elif kind == _SIMPLE:
            self._timeless += 1

    def _batches(self, data: bytes, at: IntArray) -> Iterator[Frames]:
        array = np.frombuffer(data, np.uint8)
        short = u32_rows(array, at, 2, self._order)[:, 1] < _PACKET_HEADER + 4
        if short.any():
            self._raise_damaged(int(at[short][0]), "a packet block is shorter than its header")
        kind, length, interface_ids, high, low, captured, original = u32_rows(array, at, 7, self._order).T
        # The obsolete packet block has a 16-bit interface ID, followed by a 16-bit count of dropped packets.
        obsolete_ids = interface_ids & 0xFFFF if self._order == "<" else interface_ids >> 16
        interface_ids = np.where(kind == _PACKET, obsolete_ids, interface_ids)
        if (captured > length - _PACKET_HEADER - 4).any() or (interface_ids >= len(self._interfaces)).any():
            wrong = (captured > length - _PACKET_HEADER - 4) | (interface_ids >= len(self._interfaces))
            problem = "a packet is larger than its block or has an unknown interface"
            self._raise_damaged(int(at[wrong][0]), problem)
        start = at + _PACKET_HEADER
        for number in np.unique(interface_ids).tolist():
            selected, interface = interface_ids == number, self._interfaces[number]
            time_ns = interface.time_ns(high[selected], low[selected])
            selected_start = start[selected]
            yield Frames(
                interface.link,
                array,
                selected_start,
                selected_start + captured[selected],
                original[selected],
                time_ns,
            )

    def _raise_damaged(self, at: int, problem: str) -> None:
        path, offset = self._window.source.path, self._window.base + at
        raise InputError(f"{path}: {problem}, at byte {offset:,}; the file is damaged there.")

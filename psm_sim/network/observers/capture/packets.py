"""Packets of a capture, filled in column by column: IPv4, TCP and UDP, with their checksums."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from psm_sim.network.observers.capture.capture_settings import DATAGRAM_PORT, SERVER_PORT, CaptureSettings
from psm_sim.network.observers.capture.layout import checksum, words_of
from psm_sim.network.observers.capture.pending_frames import GROUP
from psm_sim.network.observers.capture.station_addresses import GROUP_IP, SERVER_IP, addresses_of, ends_of

Rows = NDArray[np.void]
IntArray = NDArray[np.int64]


_TCP, _UDP = 6, 17
_IP_WORDS = 0x4500 + 0x4000 + 0x4000
"""Sum of the words of an IPv4 header that are the same in all of ours: version, flags and time to live."""


def _raw(rows: Rows, frames: Rows, scene: CaptureSettings) -> None:
    """Fill in what is too small for an IP header, by IEEE's ethertype for experiments."""
    rows["ethertype"] = 0x88B5


def _udp(rows: Rows, frames: Rows, scene: CaptureSettings) -> None:
    """Fill in a datagram."""
    up, group, length = frames["up"], frames["kind"] == GROUP, frames["wire"].astype(np.int64)
    station = addresses_of(scene.stations)[frames["aid"]]
    target = np.where(group, GROUP_IP, np.where(up, SERVER_IP, station))
    ends = _ip(rows, length, _UDP, np.where(up, station, SERVER_IP), target)
    rows["source_port"] = rows["target_port"] = DATAGRAM_PORT
    rows["udp_length"] = length - 20
    found = checksum(ends + _UDP + 2 * (DATAGRAM_PORT + length - 20))
    rows["sum"] = np.where(found == 0, 0xFFFF, found)


def _tcp(rows: Rows, frames: Rows, scene: CaptureSettings, options: IntArray | int = 0) -> None:
    """Fill in a TCP segment; its payload is zeros, which add nothing to the checksum.

    Parameters
    ----------
    rows, frames, scene
        As for all of :data:`PACKETS`.
    options
        (n,) the sum of the 16-bit words of its options.
    """
    up, syn, ack = frames["up"], frames["syn"], frames["ack"] > 0
    server, port, own, other = ends_of(frames["number"])
    station = addresses_of(scene.stations)[frames["aid"]]
    length = frames["wire"] + syn * scene.more_in_syn
    ends = _ip(rows, length, _TCP, np.where(up, station, server), np.where(up, server, station))
    rows["source_port"], rows["target_port"] = (
        np.where(up, port, SERVER_PORT), np.where(up, SERVER_PORT, port)
    )  # fmt: skip
    rows["sequence"] = sequence = (np.where(up, own, other) + frames["seq"]) & 0xFFFFFFFF
    rows["acknowledges"] = acknowledges = ((np.where(up, other, own) + frames["ack"]) & 0xFFFFFFFF) * ack
    words = (scene.header - 20 + syn * scene.more_in_syn) // 4 << 4
    pushed = (frames["payload"] > 0) & (frames["payload"] < scene.segment)
    flags = frames["ends"] | 2 * syn | 8 * pushed | 16 * ack
    whole = min(scene.window << scene.scale, 65_535)
    rows["window"] = window = np.where(syn, whole, scene.window)
    rows["tcp_words"], rows["tcp_flags"] = words, flags
    total = ends + _TCP + length - 20 + port + SERVER_PORT + (words << 8) + flags + window + options
    rows["sum"] = checksum(total + words_of(sequence) + words_of(acknowledges))


def _syn(rows: Rows, frames: Rows, scene: CaptureSettings) -> None:
    """Fill in a segment with the options of a SYN."""
    scale = 0x01030300 | scene.scale
    rows["mss"], rows["scale_kind"] = scene.segment, scale
    _tcp(rows, frames, scene, 0x0204 + scene.segment + (scale >> 16) + (scale & 0xFFFF))


def _ip(rows: Rows, length: IntArray, protocol: int, source: IntArray, target: IntArray) -> IntArray:
    """Fill in an IPv4 header, and return the sum of the words of both addresses, (n,)."""
    rows["ip_length"], rows["protocol"] = length, protocol
    rows["source"], rows["target"] = source, target
    ends = words_of(source) + words_of(target)
    rows["ip_sum"] = checksum(ends + length + (_IP_WORDS + protocol))
    return ends


PACKETS: dict[str, Callable[[Rows, Rows, CaptureSettings], None]] = {
    "tcp": _tcp,
    "syn": _syn,
    "udp": _udp,
    "raw": _raw,
}
"""Fills in what a row of each kind carries; the frames are rows of the waiting ones."""

"""IP packets of a capture in columns: when, from whom to whom, how long, and what TCP says."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from psm_sim.workload.recordings.capture.addresses import Addresses
from psm_sim.workload.recordings.capture.frame_batch import Bytes, Frames, Wholes, u8, u16, u32

ROW = np.dtype(
    [
        ("time_ns", np.int64),
        ("source", np.int64),
        ("target", np.int64),
        ("length", np.uint32),
        ("protocol", np.uint8),
        ("flags", np.uint8),
        ("source_port", np.uint16),
        ("target_port", np.uint16),
        ("sequence", np.uint32),
        ("payload", np.uint32),
    ]
)
"""One packet: ``length`` is that of the IP packet with its headers, as sent; ``flags``, ``sequence`` and
``payload`` (bytes) are TCP's; ports are 0 where there are none."""

TCP, UDP = 6, 17
_EXTENSIONS = (0, 43, 44, 51, 60)
_FRAGMENT, _AUTHENTICATION = 44, 51
_MAX_EXTENSIONS = 6


def packets_of(frames: Frames, begin: Wholes, addresses: Addresses) -> NDArray[np.void]:
    """Return the IP packets of frames, as rows of :data:`ROW`; frames that hold no whole header are left out.

    Parameters
    ----------
    frames
        A batch of n frames.
    begin
        (n,) where the IP packet begins in each, or -1.
    addresses
        Gives addresses their numbers.
    """
    version = np.where(begin >= 0, u8(frames.data, begin) >> 4, 0)
    places, rows = _version_4(frames, begin, version == 4)
    if not (version == 6).any():
        return rows
    places_6, rows_6 = _version_6(frames, begin, version == 6, addresses)
    order = np.argsort(np.concatenate([places, places_6]), kind="stable")
    return np.concatenate([rows, rows_6])[order]


def _version_4(frames: Frames, begin: Wholes, asked: NDArray[np.bool_]) -> tuple[Wholes, NDArray[np.void]]:
    data = frames.data
    mine = np.flatnonzero(asked & (begin + 20 <= frames.end))
    at, rows = begin[mine], np.zeros(mine.size, ROW)
    header = (u8(data, at) & 15) * 4
    size = _size(frames, mine, at, u16(data, at + 2))
    rows["source"], rows["target"] = u32(data, at + 12), u32(data, at + 16)
    protocol = u8(data, at + 9)
    whole = u16(data, at + 6) & 0x1FFF == 0  # a later fragment has no ports
    _transport(frames, mine, rows, (at, at + header, size, np.where(whole, protocol, 0)))
    rows["protocol"] = protocol
    good = (header >= 20) & (size >= header)
    return mine[good], rows[good]


def _version_6(
    frames: Frames, begin: Wholes, asked: NDArray[np.bool_], addresses: Addresses
) -> tuple[Wholes, NDArray[np.void]]:
    data = frames.data
    mine = np.flatnonzero(asked & (begin + 40 <= frames.end))
    at, rows = begin[mine], np.zeros(mine.size, ROW)
    payload = u16(data, at + 4)
    size = _size(frames, mine, at, np.where(payload > 0, payload + 40, 0))
    hosts = data[at[:, None] + np.arange(8, 40)]
    rows["source"], rows["target"] = addresses.numbers(hosts[:, :16]), addresses.numbers(hosts[:, 16:])
    behind, protocol, whole = _extensions(data, at)
    _transport(frames, mine, rows, (at, behind, size, np.where(whole, protocol, 0)))
    rows["protocol"] = protocol
    return mine, rows


def _size(frames: Frames, mine: Wholes, at: Wholes, told: Wholes) -> Wholes:
    """Return the sizes of packets; one that tells none was still to be cut up: it fills the frame."""
    rest = frames.length[mine] - (at - frames.start[mine])
    return np.where(told > 0, told, np.maximum(rest, 0))


def _extensions(data: Bytes, at: Wholes) -> tuple[Wholes, Wholes, NDArray[np.bool_]]:
    """Return where the transport header is, its protocol, and whether it is there (no later fragment)."""
    protocol, behind, whole = u8(data, at + 6), at + 40, np.ones(at.size, bool)
    for _ in range(_MAX_EXTENSIONS):
        more = np.isin(protocol, _EXTENSIONS)
        if not more.any():
            break
        length = np.where(protocol == _FRAGMENT, 8, (u8(data, behind + 1) + 1) * 8)
        length = np.where(protocol == _AUTHENTICATION, (u8(data, behind + 1) + 2) * 4, length)
        whole &= ~((protocol == _FRAGMENT) & (u16(data, behind + 2) >> 3 > 0))
        protocol, behind = np.where(more, u8(data, behind), protocol), behind + np.where(more, length, 0)
    return behind, protocol, whole


def _transport(
    frames: Frames, mine: Wholes, rows: NDArray[np.void], places: tuple[Wholes, Wholes, Wholes, Wholes]
) -> None:
    """Fill in ports, and what TCP says, where enough of the header was kept."""
    data, end = frames.data, frames.end[mine]
    at, behind, size, protocol = places
    has_ports = ((protocol == TCP) | (protocol == UDP)) & (behind + 4 <= end)
    is_tcp = (protocol == TCP) & (behind + 14 <= end)
    rows["time_ns"], rows["length"] = frames.time_ns[mine], size
    rows["source_port"] = np.where(has_ports, u16(data, behind), 0)
    rows["target_port"] = np.where(has_ports, u16(data, behind + 2), 0)
    rows["sequence"] = np.where(is_tcp, u32(data, behind + 4), 0)
    rows["flags"] = np.where(is_tcp, u8(data, behind + 13), 0)
    content = at + size - behind - (u8(data, behind + 12) >> 4) * 4
    rows["payload"] = np.where(is_tcp, np.maximum(content, 0), 0)

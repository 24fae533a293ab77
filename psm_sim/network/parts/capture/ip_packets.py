"""IPv4, TCP and UDP packets of a capture, filled in by columns, with checksums."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from psm_sim.network.parts.capture.capture_settings import DATAGRAM_PORT, SERVER_PORT, CaptureSettings
from psm_sim.network.parts.capture.pending_frames import GROUP
from psm_sim.network.parts.capture.record_layouts import checksum, words_of
from psm_sim.network.parts.capture.station_addresses import GROUP_IP, SERVER_IP, addresses_of, ends_of

Rows = NDArray[np.void]
IntArray = NDArray[np.int64]


_TCP, _UDP = 6, 17
_IP_WORDS = 0x4500 + 0x4000 + 0x4000
"""Sum of the constant 16-bit words of the IPv4 headers: version, flags and time to live."""


def _raw(rows: Rows, frames: Rows, settings: CaptureSettings) -> None:
    """Fill in packets that are too small for an IP header, with the ethertype for experiments."""
    rows["ethertype"] = 0x88B5


def _udp(rows: Rows, frames: Rows, settings: CaptureSettings) -> None:
    """Fill in UDP datagrams."""
    up, group, length = frames["up"], frames["kind"] == GROUP, frames["wire"].astype(np.int64)
    station = addresses_of(settings.stations)[frames["aid"]]
    target = np.where(group, GROUP_IP, np.where(up, SERVER_IP, station))
    ends = _ip(rows, length, _UDP, np.where(up, station, SERVER_IP), target)
    rows["source_port"] = rows["target_port"] = DATAGRAM_PORT
    rows["udp_length"] = length - 20
    total = checksum(ends + _UDP + 2 * (DATAGRAM_PORT + length - 20))
    rows["sum"] = np.where(total == 0, 0xFFFF, total)  # 0 would mean that there is no checksum (RFC 768)


def _tcp(rows: Rows, frames: Rows, settings: CaptureSettings, options: IntArray | int = 0) -> None:
    """Fill in TCP segments. Their payload is zeros, which do not change the checksum.

    Parameters
    ----------
    rows, frames, settings
        As for all functions of :data:`PACKETS`.
    options
        Sum of the 16-bit words of the options, shape (n,).
    """
    up, syn, ack = frames["up"], frames["syn"], frames["ack"] > 0
    server, port, own, other = ends_of(frames["number"])
    station = addresses_of(settings.stations)[frames["aid"]]
    length = frames["wire"] + syn * settings.more_in_syn
    ends = _ip(rows, length, _TCP, np.where(up, station, server), np.where(up, server, station))
    rows["source_port"], rows["target_port"] = (
        np.where(up, port, SERVER_PORT), np.where(up, SERVER_PORT, port)
    )  # fmt: skip
    rows["sequence"] = sequence = (np.where(up, own, other) + frames["seq"]) & 0xFFFFFFFF
    rows["acknowledgment"] = acknowledges = ((np.where(up, other, own) + frames["ack"]) & 0xFFFFFFFF) * ack
    words = (settings.header - 20 + syn * settings.more_in_syn) // 4 << 4
    pushed = (frames["payload"] > 0) & (frames["payload"] < settings.segment)
    flags = frames["ends"] | 2 * syn | 8 * pushed | 16 * ack
    unscaled = min(
        settings.window << settings.scale, 65_535
    )  # the window of a SYN is never scaled (RFC 7323)
    rows["window"] = window = np.where(syn, unscaled, settings.window)
    rows["data_offset"], rows["tcp_flags"] = words, flags
    total = ends + _TCP + length - 20 + port + SERVER_PORT + (words << 8) + flags + window + options
    rows["sum"] = checksum(total + words_of(sequence) + words_of(acknowledges))


def _syn(rows: Rows, frames: Rows, settings: CaptureSettings) -> None:
    """Fill in TCP segments with the options of a SYN."""
    scale = 0x01030300 | settings.scale
    rows["mss"], rows["scale_kind"] = settings.segment, scale
    _tcp(rows, frames, settings, 0x0204 + settings.segment + (scale >> 16) + (scale & 0xFFFF))


def _ip(rows: Rows, length: IntArray, protocol: int, source: IntArray, target: IntArray) -> IntArray:
    """Fill in IPv4 headers. Return the sum of the words of both addresses, shape (n,)."""
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
"""Function for each kind of row, which fills in the packets of pending frames."""

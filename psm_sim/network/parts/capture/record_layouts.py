"""Record layouts of a capture, as NumPy structured types of fixed size.

A payload, if any, follows its row as zeros.

Sources: draft-ietf-opsawg-pcap (pcap), radiotap.org, IEEE 802.11-2020 (sections 9.2 to 9.4), RFC 791, 9293
and 768. Frame check sequences are left out, as most drivers leave them out.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from struct import pack
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Fields = list[Any]

FILE_HEADER = pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, 127)
"""Header of a pcap file with nanosecond timestamps and radiotap headers."""

_RECORD: _Fields = [
    ("seconds", "<u4"),
    ("nanoseconds", "<u4"),
    ("captured_length", "<u4"),
    ("original_length", "<u4"),
]
_RADIOTAP: _Fields = [
    ("version", "<u2"), ("tap_length", "<u2"), ("present", "<u4"), ("tsft_us", "<u8"), ("tap_flags", "u1"),
    ("rate", "u1"), ("mhz", "<u2"), ("channel", "<u2"),
]  # fmt: skip
_MAC: _Fields = [
    ("control", "u1"), ("bits", "u1"), ("duration", "<u2"), ("address1", "u1", 6), ("address2", "u1", 6),
    ("address3", "u1", 6), ("sequence_control", "<u2"),
]  # fmt: skip
_LLC: _Fields = [("snap", ">u4"), ("organisation", "u1", 2), ("ethertype", ">u2")]
_IP: _Fields = [
    ("version_ip", "u1"), ("service", "u1"), ("ip_length", ">u2"), ("identity", ">u2"), ("fragment", ">u2"),
    ("ttl", "u1"), ("protocol", "u1"), ("ip_sum", ">u2"), ("source", ">u4"), ("target", ">u4"),
]  # fmt: skip
_PORTS: _Fields = [("source_port", ">u2"), ("target_port", ">u2")]
_TCP: _Fields = [
    ("sequence", ">u4"), ("acknowledgment", ">u4"), ("data_offset", "u1"), ("tcp_flags", "u1"),
    ("window", ">u2"), ("sum", ">u2"), ("urgent", ">u2"),
]  # fmt: skip
_OPTIONS: _Fields = [("mss_kind", ">u2"), ("mss", ">u2"), ("scale_kind", ">u4")]
_UDP: _Fields = [("udp_length", ">u2"), ("sum", ">u2")]
_BEACON: _Fields = [
    ("timestamp_us", "<u8"), ("interval", "<u2"), ("capability", "<u2"), ("ssid", "u1", 9),
    ("rates", "u1", 6), ("channel_set", "u1", 3), ("tim", "u1", 2), ("dtim_count", "u1"),
    ("dtim_period", "u1"), ("group", "u1"),
]  # fmt: skip
_HEAD = _RECORD + _RADIOTAP

LAYOUTS = {
    name: np.dtype(_HEAD + more)
    for name, more in {
        "tcp": _MAC + _LLC + _IP + _PORTS + _TCP,
        "syn": _MAC + _LLC + _IP + _PORTS + _TCP + _OPTIONS,
        "udp": _MAC + _LLC + _IP + _PORTS + _UDP,
        "raw": _MAC + _LLC,
        "null": _MAC,
        "ps-poll": _MAC[:5],
        "ack": _MAC[:4],
    }.items()
}
"""Row of each kind of record; ``raw`` is a packet that is too small for an IP header."""


@cache
def beacon_layout(stations: int) -> np.dtype[np.void]:
    """Return the row of a beacon whose bitmap has a bit for each station; bit 0 is unused."""
    return np.dtype(_HEAD + _MAC + _BEACON + [("bitmap", "u1", (1 + stations // 8,))])


RECORD = 16
"""Size of the pcap record header, in bytes."""

_TAP = np.dtype(_RADIOTAP).itemsize
_FIXED: Mapping[str, Any] = {
    "tap_length": _TAP,
    "present": 0xF,
    "mhz": 2412,
    "channel": 0x0480,
    "snap": 0xAAAA0300,
    "ethertype": 0x0800,
    "version_ip": 0x45,
    "fragment": 0x4000,
    "ttl": 64,
    "mss_kind": 0x0204,
    "scale_kind": 0x01030300,
    "ssid": [0, 7, *b"psm_sim"],
    "rates": [1, 4, 0x82, 0x84, 0x8B, 0x96],
    "channel_set": [3, 1, 1],
    "tim": [5, 4],
    "capability": 1,
}


def rows_of(kind: str, count: int, fixed: Mapping[str, Any]) -> NDArray[np.void]:
    """Return rows of one kind with their constant fields set.

    Parameters
    ----------
    kind
        A key of :data:`LAYOUTS`.
    count
        Number of rows, n.
    fixed
        Values of fields that are the same in all rows.
    """
    return np.repeat(_template(kind, tuple(fixed.items())), count)


@cache
def _template(kind: str, fixed: tuple[tuple[str, Any], ...]) -> NDArray[np.void]:
    return template_of(LAYOUTS[kind], dict(fixed))


def template_of(layout: np.dtype[np.void], fixed: Mapping[str, Any]) -> NDArray[np.void]:
    """Return one row of a layout, shape (1,), with the constants of all files and the values of *fixed*."""
    template = np.zeros(1, layout)
    for name, value in {**_FIXED, **fixed}.items():
        if name in (layout.names or ()):
            template[name] = value
    return template


def words_of(number: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sum of the two 16-bit words of each 32-bit number, shape (n,)."""
    return np.asarray((number >> 16) + (number & 0xFFFF))


def checksum(total: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the Internet checksum (RFC 1071) of sums of 16-bit words, shape (n,)."""
    folded = (total & 0xFFFF) + (total >> 16)
    return np.asarray(0xFFFF - ((folded & 0xFFFF) + (folded >> 16)))

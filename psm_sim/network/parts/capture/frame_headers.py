"""Headers of the captured frames (pcap, radiotap, 802.11, IPv4, TCP and UDP), filled in by columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from ipaddress import IPv4Address

import numpy as np
from numpy.typing import NDArray

from psm_sim.network.parts.capture.capture_header_values import (
    DATAGRAM_PORT,
    SERVER_PORT,
    SYN_OPTIONS,
    CaptureHeaderValues,
)
from psm_sim.network.parts.capture.pending_frames import ACK, DATA, GROUP, NULL_FRAME, PS_POLL, take_rows
from psm_sim.network.parts.capture.record_layouts import (
    LAYOUTS,
    RECORD,
    beacon_layout,
    checksum,
    rows_of,
    template_of,
    words_of,
)

Rows = NDArray[np.void]
IntArray = NDArray[np.int64]

STATION_IP, SERVER_IP, GROUP_IP = (
    int(IPv4Address(address)) for address in ("10.0.0.2", "198.18.0.1", "10.0.0.255")
)
"""IPv4 addresses of the first station, the first server and the group.

Stations have private addresses, so that a capture is read back as theirs. Servers are in the
benchmarking network of RFC 2544.
"""

ACCESS_POINT, ROUTER = (2, 0, 0, 0, 0, 1), (2, 0, 0, 0, 0, 3)
"""Locally administered MAC addresses. The router is between the access point and the servers."""

BROADCAST_MAC = (255,) * 6

_STATIONS_PER_NETWORK = 250
_FIRST_PORT, _PORTS = 1024, 64_512


@cache
def macs_of(stations: int) -> NDArray[np.uint8]:
    """Return the MAC addresses of the access point and of associations 1, 2, ..., shape (1 + stations, 6).

    The first station is 02:00:00:00:00:02. The addresses of the others end with 256 plus the number of
    their association.
    """
    macs = np.tile(np.array(ACCESS_POINT, np.uint8), (1 + stations, 1))
    last = 256 + np.arange(1 + stations)
    last[:2] = 1, 2
    macs[:, 4], macs[:, 5] = last >> 8, last & 0xFF
    return macs


@cache
def addresses_of(stations: int) -> IntArray:
    """Return the IP addresses of the stations by association, shape (1 + stations,). Index 0 is unused.

    They are 10.0.0.2 to 10.0.0.251, then 10.0.1.2 and so on.
    """
    index = np.arange(-1, stations)
    return np.asarray(STATION_IP + 256 * (index // _STATIONS_PER_NETWORK) + index % _STATIONS_PER_NETWORK)


def ends_of(number: IntArray) -> tuple[IntArray, ...]:
    """Return server address, station port, and initial sequence numbers of both ends, each of shape (n,).

    They follow from the *number* of each connection among those of its station, shape (n,). A station
    never uses a port twice with the same server.
    """
    server = SERVER_IP + number // _PORTS
    port = _FIRST_PORT + number % _PORTS
    return server, port, _initial_sequence(number, 1), _initial_sequence(number, 2)


def _initial_sequence(number: IntArray, side: int) -> IntArray:
    return ((2 * number + side) * 2_654_435_761) & 0xFFFFFFFF


_TCP, _UDP = 6, 17
_IP_WORDS = 0x4500 + 0x4000 + 0x4000
"""Sum of the constant 16-bit words of the IPv4 headers: version, flags and time to live."""


def _raw(rows: Rows, frames: Rows, settings: CaptureHeaderValues) -> None:
    """Fill in packets that are too small for an IP header, with the ethertype for experiments."""
    rows["ethertype"] = 0x88B5


def _udp(rows: Rows, frames: Rows, settings: CaptureHeaderValues) -> None:
    """Fill in UDP datagrams."""
    up, group, length = frames["up"], frames["kind"] == GROUP, frames["wire"].astype(np.int64)
    station = addresses_of(settings.stations)[frames["aid"]]
    target = np.where(group, GROUP_IP, np.where(up, SERVER_IP, station))
    ends = _ip(rows, length, _UDP, np.where(up, station, SERVER_IP), target)
    rows["source_port"] = rows["target_port"] = DATAGRAM_PORT
    rows["udp_length"] = length - 20
    total = checksum(ends + _UDP + 2 * (DATAGRAM_PORT + length - 20))
    rows["sum"] = np.where(total == 0, 0xFFFF, total)  # 0 would mean that there is no checksum (RFC 768)


def _tcp(rows: Rows, frames: Rows, settings: CaptureHeaderValues, options: IntArray | int = 0) -> None:
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


def _syn(rows: Rows, frames: Rows, settings: CaptureHeaderValues) -> None:
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


PACKETS: dict[str, Callable[[Rows, Rows, CaptureHeaderValues], None]] = {
    "tcp": _tcp,
    "syn": _syn,
    "udp": _udp,
    "raw": _raw,
}
"""Function for each kind of row, which fills in the packets of pending frames."""


_UDP_MIN = 28
_TO_AP, _FROM_AP, _RETRY, _SLEEPS, _MORE = 0x01, 0x02, 0x08, 0x10, 0x20
_HEADER_ONLY = {NULL_FRAME: "null", PS_POLL: "ps-poll", ACK: "ack"}
_CONTROL = {DATA: 0x08, GROUP: 0x08, NULL_FRAME: 0x48, PS_POLL: 0xA4, ACK: 0xD4}


def sizes_of(frames: Rows, settings: CaptureHeaderValues) -> IntArray:
    """Return the record size of each frame in bytes, with its record header, shape (n,)."""
    fixed = np.array(
        [LAYOUTS["raw"].itemsize] * 2 + [LAYOUTS[name].itemsize for name in _HEADER_ONLY.values()]
    )
    packet = frames["kind"] <= GROUP
    return np.asarray(
        fixed[frames["kind"]] + packet * frames["wire"] + _has_syn(frames) * settings.more_in_syn
    )


def frame_rows(
    frames: Rows, sizes: IntArray, orders: IntArray, settings: CaptureHeaderValues
) -> Iterator[tuple[Rows, NDArray[np.intp]]]:
    """Yield the rows of each kind of frame, with the indices of the frames.

    Parameters
    ----------
    frames
        The pending frames, shape (n,).
    sizes, orders
        Record sizes in bytes and sequence numbers, shape (n,).
    settings
        Values of header fields.
    """
    options = settings.header - 40 + settings.more_in_syn >= SYN_OPTIONS
    packet, flow = frames["kind"] <= GROUP, frames["number"] >= 0
    has_options, small = _has_syn(frames) & options, ~flow & (frames["wire"] < _UDP_MIN)
    masks = {
        "tcp": packet & flow & ~has_options,
        "syn": has_options,
        "udp": packet & ~flow & ~small,
        "raw": packet & small,
        **{name: frames["kind"] == kind for kind, name in _HEADER_ONLY.items()},
    }
    for name, mask in masks.items():
        chosen = np.flatnonzero(mask)
        if chosen.size:
            group = take_rows(frames, chosen)
            rows = _rows_with_record(name, group, sizes[chosen], settings)
            if name in ("ps-poll", "ack"):
                _fill_short_header(rows, group, settings)
            else:
                _fill_long_header(rows, group, orders[chosen], settings)
            if name in PACKETS:
                PACKETS[name](rows, group, settings)
            yield rows, chosen


def ack_rows(frames: Rows, settings: CaptureHeaderValues) -> Rows:
    """Return the rows of the ACKs that follow *frames*, which take no time without the DCF."""
    rows = _rows_with_record("ack", frames, np.full(frames.size, LAYOUTS["ack"].itemsize), settings)
    rows["tsft_us"] = np.maximum(np.rint(frames["heard_s"] * 1e6), 0)
    rows["control"] = _CONTROL[ACK]
    rows["address1"] = macs_of(settings.stations)[frames["aid"] * frames["up"]]
    return rows


def beacon_template(count: int, settings: CaptureHeaderValues) -> Rows:
    """Return *count* rows of beacons with all constant fields set."""
    layout = beacon_layout(settings.stations)
    fixed = {
        **_rate_fields("beacon", settings), "control": 0x80,
        "address1": BROADCAST_MAC, "address2": ACCESS_POINT, "address3": ACCESS_POINT,
        "interval": settings.beacon_tu, "dtim_period": settings.dtim_period,
        "tim": (5, 3 + layout["bitmap"].itemsize),
    }  # fmt: skip
    rows = np.repeat(template_of(layout, fixed), count)
    rows["captured_length"] = rows["original_length"] = rows.itemsize - RECORD
    return rows


def fill_beacons(
    rows: Rows,
    numbers: IntArray,
    starts_s: NDArray[np.floating],
    orders: IntArray,
    tims: tuple[NDArray[np.uint8], NDArray[np.bool_]],
    settings: CaptureHeaderValues,
) -> None:
    """Fill in the fields that change from one beacon to the next.

    Parameters
    ----------
    rows
        Rows of the template, shape (m,).
    numbers, starts_s, orders
        Beacon numbers, starts of transmission in seconds, and sequence numbers, shape (m,).
    tims
        TIM bitmaps, shape (m, octets), and whether group frames follow each beacon, shape (m,).
    settings
        Values of header fields.
    """
    _stamp(rows, starts_s + settings.beacon_air_s, starts_s)
    rows["timestamp_us"] = rows["tsft_us"]
    rows["sequence_control"] = orders << 4
    if settings.dtim_period > 1:
        rows["dtim_count"] = -numbers % settings.dtim_period
    rows["bitmap"], rows["group"] = tims


def _rows_with_record(name: str, frames: Rows, sizes: IntArray, settings: CaptureHeaderValues) -> Rows:
    rows = rows_of(name, frames.size, _rate_fields(name, settings))
    rows["captured_length"] = rows["original_length"] = sizes - RECORD
    _stamp(rows, frames["heard_s"], frames["heard_s"] - frames["air_s"])
    return rows


def _rate_fields(name: str, settings: CaptureHeaderValues) -> dict[str, int]:
    """Return the radiotap fields of the rate. The field is absent if the rate cannot be expressed."""
    rate = settings.rates.get(name, settings.rate)
    return {"rate": rate, "present": 0xF if rate else 0xB}


def _stamp(rows: Rows, heard_s: NDArray[np.floating], starts_s: NDArray[np.floating]) -> None:
    seconds = np.floor(heard_s)
    nanoseconds = np.minimum(np.rint((heard_s - seconds) * 1e9), 999_999_999)
    rows["seconds"], rows["nanoseconds"] = seconds, nanoseconds
    rows["tsft_us"] = np.maximum(np.rint(starts_s * 1e6), 0)


def _fill_long_header(rows: Rows, frames: Rows, orders: IntArray, settings: CaptureHeaderValues) -> None:
    """Fill in the MAC header of data and null data frames; *orders* are sequence numbers."""
    up, group = frames["up"], frames["kind"] == GROUP
    rows["control"] = _control(frames)
    rows["bits"] = np.where(up, _TO_AP, _FROM_AP) | _bits(frames)
    rows["duration"] = settings.ack_us * ~group
    macs, aid = macs_of(settings.stations), frames["aid"]
    rows["address1"] = macs[aid * ~up]
    rows["address1"][group] = BROADCAST_MAC
    rows["address2"] = macs[aid * up]
    rows["address3"] = ROUTER
    rows["address3"][frames["kind"] == NULL_FRAME] = ACCESS_POINT
    rows["sequence_control"] = orders << 4


def _fill_short_header(rows: Rows, frames: Rows, settings: CaptureHeaderValues) -> None:
    """Fill in the MAC header of PS-Polls, or of ACKs that the MAC has reported."""
    rows["control"], rows["bits"] = _control(frames), _bits(frames)
    macs, aid = macs_of(settings.stations), frames["aid"]
    rows["address1"] = macs[aid * ~frames["up"]]
    if "address2" in (rows.dtype.names or ()):
        rows["duration"], rows["address2"] = 0xC000 | aid, macs[aid]


def _control(frames: Rows) -> NDArray[np.uint8]:
    codes = np.array([_CONTROL[kind] for kind in range(len(_CONTROL))], np.uint8)
    return np.asarray(codes[frames["kind"]])


def _bits(frames: Rows) -> IntArray:
    return np.asarray(_RETRY * frames["retry"] + _SLEEPS * frames["sleeps"] + _MORE * frames["more"])


def _has_syn(frames: Rows) -> NDArray[np.bool_]:
    return np.asarray(frames["syn"] & (frames["number"] >= 0))

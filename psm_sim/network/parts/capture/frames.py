"""Bytes of the captured frames: pcap records, radiotap, 802.11, IPv4, TCP and UDP.

Sources: draft-ietf-opsawg-pcap (pcap), radiotap.org, IEEE 802.11-2020 (sections 9.2 to 9.4), RFC 768, 791,
1071 and 9293. Frame check sequences are left out, as most drivers leave them out. Payloads are zeros.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address
from math import floor
from struct import Struct, pack, unpack
from typing import cast

from psm_sim.network.parts.capture.capture_header_values import (
    DATAGRAM_PORT,
    SERVER_PORT,
    SYN_OPTIONS,
    CaptureHeaderValues,
)
from psm_sim.network.segment import Segment

FILE_HEADER = pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, 127)
"""Header of a pcap file with nanosecond timestamps and radiotap headers."""

STATION_IP, SERVER_IP, GROUP_IP = (
    int(IPv4Address(address)) for address in ("10.0.0.2", "198.18.0.1", "10.0.0.255")
)
"""IPv4 addresses of the first station, the first server and the group.

Stations have private addresses, so that a reader of the capture recognises them as the clients. Servers are
in the benchmarking network of RFC 2544.
"""

BROADCAST, ROUTER = b"\xff" * 6, bytes((2, 0, 0, 0, 0, 3))
"""Addresses of the group, and of the router between the access point and the servers."""

_RECORD, _RADIOTAP, _MAC = Struct("<4I"), Struct("<HHIQBBHH"), Struct("<BBH6s6s6sH")
_IP, _TCP, _UDP = Struct(">BBHHHBBHII"), Struct(">HHIIBBHHH"), Struct(">HHHH")
_BEACON = Struct("<QHH9s6s3sBBBBB")
_TO_AP, _FROM_AP, _RETRY, _SLEEPS, _MORE = 0x01, 0x02, 0x08, 0x10, 0x20  # 802.11-2020, 9.2.4.1: flags
# 802.11-2020, 9.2.4.1.3: type and subtype.
_CONTROL = {"data": 0x08, "group": 0x08, "null": 0x48, "ps-poll": 0xA4, "ack": 0xD4}
_UDP_MIN = 28  # IPv4 and UDP headers
_PORTS = 64_512  # number of ports from 1024 to 65,535


@dataclass(slots=True)
class PendingFrame:
    """Frame of one station.

    Frames are written in the order of ``sort_s``. ``more`` is the More Data bit; None until the next downlink
    frame determines it. The other attributes are those of :class:`~psm_sim.network.sniffed_link.AirFrame`.
    """

    sort_s: float
    heard_s: float
    air_s: float
    kind: str
    aid: int
    uplink: bool
    sleeps: bool
    segment: Segment | None = None
    retry: bool = False
    more: bool | None = None

    @property
    def is_numbered(self) -> bool:
        """Whether the frame has a sequence number."""
        return self.kind not in ("ps-poll", "ack")


def mac_of(aid: int) -> bytes:
    """Return the MAC address of a station by its association, or of the access point (0)."""
    return pack(">HI", 0x0200, (1, 2)[aid] if aid < 2 else 256 + aid)


def ip_of(aid: int) -> int:
    """Return the IP address of a station: 10.0.0.2 to 10.0.0.251, then 10.0.1.2 and so on."""
    return STATION_IP + 256 * ((aid - 1) // 250) + (aid - 1) % 250


def record(kind: str, heard_s: float, starts_s: float, body: bytes, values: CaptureHeaderValues) -> bytes:
    """Return the pcap record of a frame, from its *kind*, its times, and its bytes after radiotap."""
    rate = values.rates.get(kind, values.rate)
    radiotap = _RADIOTAP.pack(0, 22, 0xF if rate else 0xB, _us(starts_s), 0, rate, 2412, 0x0480)
    seconds, size = floor(heard_s), len(radiotap) + len(body)
    nanoseconds = min(round((heard_s - seconds) * 1e9), 999_999_999)
    return _RECORD.pack(seconds, nanoseconds, size, size) + radiotap + body


def _us(time_s: float) -> int:
    return max(round(time_s * 1e6), 0)


def frame_record(frame: PendingFrame, number: int, values: CaptureHeaderValues) -> bytes:
    """Return the record of a frame. *number* is its sequence number."""
    station, access_point = mac_of(frame.aid), mac_of(0)
    receiver, sender = (access_point, station) if frame.uplink else (station, access_point)
    bits = _RETRY * frame.retry | _SLEEPS * frame.sleeps | _MORE * bool(frame.more)
    head = bytes((_CONTROL[frame.kind], bits))
    if frame.kind == "ack":
        body = head + b"\0\0" + receiver
    elif frame.kind == "ps-poll":
        body = head + pack("<H", 0xC000 | frame.aid) + receiver + station
    else:
        group, null = frame.kind == "group", frame.kind == "null"
        body = _MAC.pack(
            head[0], bits | (_TO_AP if frame.uplink else _FROM_AP), 0 if group else values.ack_us,
            BROADCAST if group else receiver, sender, access_point if null else ROUTER, number << 4,
        ) + (b"" if null else _packet(frame, values))  # fmt: skip
    kind = frame.kind if frame.kind in values.rates else "data"
    return record(kind, frame.heard_s, frame.heard_s - frame.air_s, body, values)


def ack_record(frame: PendingFrame, values: CaptureHeaderValues) -> bytes:
    """Return the record of the ACK of a frame. Without the DCF, the ACK takes no time."""
    body = bytes((_CONTROL["ack"], 0, 0, 0)) + mac_of(frame.aid if frame.uplink else 0)
    return record("ack", frame.heard_s, frame.heard_s, body, values)


def beacon_record(
    number: int, starts_s: float, sequence: int, bitmap: bytes, group: bool, values: CaptureHeaderValues
) -> bytes:
    """Return the record of beacon *number*. *group* is true if group addressed frames follow the beacon."""
    mac = _MAC.pack(0x80, 0, 0, BROADCAST, mac_of(0), mac_of(0), sequence << 4)
    body = _BEACON.pack(
        _us(starts_s), values.beacon_tu, 1, b"\0\x07psm_sim", b"\x01\x04\x82\x84\x8b\x96", b"\x03\x01\x01",
        5, 3 + len(bitmap), -number % values.dtim_period, values.dtim_period, group,
    )  # fmt: skip
    return record("beacon", starts_s + values.beacon_air_s, starts_s, mac + body + bitmap, values)


def _packet(frame: PendingFrame, values: CaptureHeaderValues) -> bytes:
    """Return LLC header and packet of a data frame."""
    segment = cast(Segment, frame.segment)
    if segment.connection.number >= 0:
        return _llc(0x0800) + _tcp(frame, segment, values)
    if segment.wire_bytes < _UDP_MIN:  # too small for IP, so use the ethertype for experiments
        return _llc(0x88B5) + bytes(segment.wire_bytes)
    return _llc(0x0800) + _udp(frame, segment.wire_bytes)


def _llc(ethertype: int) -> bytes:
    return pack(">IHH", 0xAAAA0300, 0, ethertype)


def _udp(frame: PendingFrame, length: int) -> bytes:
    station = ip_of(frame.aid)
    target = GROUP_IP if frame.kind == "group" else SERVER_IP if frame.uplink else station
    source = station if frame.uplink else SERVER_IP
    header = _UDP.pack(DATAGRAM_PORT, DATAGRAM_PORT, length - 20, 0)
    checksum = _transport_checksum(source, target, 17, length - 20, header)
    header = header[:6] + pack(">H", checksum or 0xFFFF)  # 0 would mean no checksum (RFC 768)
    return _ip(length, 17, source, target) + header + bytes(length - _UDP_MIN)


def _tcp(frame: PendingFrame, segment: Segment, values: CaptureHeaderValues) -> bytes:
    up, syn, number = frame.uplink, segment.syn, segment.connection.number
    # Addresses and initial sequence numbers follow from the number of the connection, so that a station never
    # uses a port twice with the same server.
    server, port = SERVER_IP + number // _PORTS, 1024 + number % _PORTS
    own, other = (((2 * number + side) * 2_654_435_761) & 0xFFFFFFFF for side in ((1, 2) if up else (2, 1)))
    source, target = (ip_of(frame.aid), server) if up else (server, ip_of(frame.aid))
    length = segment.wire_bytes + syn * values.more_in_syn
    header_bytes = values.header - 20 + syn * values.more_in_syn
    pushed = 0 < segment.payload < values.segment
    has_ack = segment.ack > 0
    flags = segment.fin | 2 * syn | 4 * segment.rst | 8 * pushed | 16 * has_ack
    window = min(values.window << values.scale, 65_535) if syn else values.window  # unscaled (RFC 7323)
    options = b""
    if syn and values.header - 40 + values.more_in_syn >= SYN_OPTIONS:
        options = pack(">HHI", 0x0204, values.segment, 0x01030300 | values.scale)
    fields = (
        *((port, SERVER_PORT) if up else (SERVER_PORT, port)),
        (own + segment.seq) & 0xFFFFFFFF, has_ack * ((other + segment.ack) & 0xFFFFFFFF),
        header_bytes // 4 << 4, flags, window,
    )  # fmt: skip
    bare = _TCP.pack(*fields, 0, 0) + options
    checksum = _transport_checksum(source, target, 6, length - 20, bare)
    header = _TCP.pack(*fields, checksum, 0) + options
    return _ip(length, 6, source, target) + header + bytes(length - 20 - len(header))


def _ip(length: int, protocol: int, source: int, target: int) -> bytes:
    fields = (0x45, 0, length, 0, 0x4000, 64, protocol)
    checksum = _checksum(_IP.pack(*fields, 0, source, target))
    return _IP.pack(*fields, checksum, source, target)


def _transport_checksum(source: int, target: int, protocol: int, length: int, header: bytes) -> int:
    return _checksum(pack(">IIHH", source, target, protocol, length) + header)


def _checksum(data: bytes) -> int:
    """Return the Internet checksum (RFC 1071)."""
    total: int = sum(unpack(f">{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    return 0xFFFF - ((total & 0xFFFF) + (total >> 16))

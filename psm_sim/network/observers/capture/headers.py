"""Headers of a capture, filled in column by column: pcap, radiotap, 802.11, LLC, IPv4, TCP and UDP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psm_sim.network.observers.capture.layout import (
    IP_FIRST,
    IP_LAST,
    LAYOUTS,
    LLC_FIRST,
    RADIOTAP,
    RECORD,
    bytes_of,
    checksum,
    rows_of,
    words_sum,
)
from psm_sim.network.observers.capture.scene import (
    ACCESS_POINT,
    DATAGRAM_PORT,
    EVERYBODY,
    GROUP_IP,
    ROUTER,
    SERVER_IP,
    SERVER_PORT,
    STATION,
    STATION_IP,
    SYN_OPTIONS,
    Scene,
    ends_of,
)
from psm_sim.network.observers.capture.waiting import ACK, DATA, GROUP, NULL_FRAME, PS_POLL

Rows = NDArray[np.void]
Wholes = NDArray[np.int64]

_UDP_LEAST = 28
_TO_AP, _FROM_AP, _RETRY, _SLEEPS, _MORE = 0x01, 0x02, 0x08, 0x10, 0x20
_CONTROL = {DATA: 0x08, GROUP: 0x08, NULL_FRAME: 0x48, PS_POLL: 0xA4, ACK: 0xD4}


def sizes_of(frames: Rows, scene: Scene) -> Wholes:
    """Return the bytes of each frame's record, its own header included, (n,)."""
    fixed = np.array([LAYOUTS["raw"].itemsize] * 2 + [LAYOUTS[name].itemsize for name in _BARE.values()])
    packet = frames["kind"] <= GROUP
    return np.asarray(fixed[frames["kind"]] + packet * frames["wire"] + _has_syn(frames) * scene.more_in_syn)


def frame_rows(
    frames: Rows, sizes: Wholes, orders: Wholes, scene: Scene
) -> Iterator[tuple[Rows, NDArray[np.intp]]]:
    """Yield the rows of each kind of frame, and which frames they are of.

    Parameters
    ----------
    frames
        (n,) rows of the waiting frames.
    sizes, orders
        (n,) bytes of their records, and their sequence numbers.
    scene
        What stands in the headers.
    """
    options = scene.header - 40 + scene.more_in_syn >= SYN_OPTIONS
    packet, flow = frames["kind"] <= GROUP, frames["number"] >= 0
    begins, small = _has_syn(frames) & options, ~flow & (frames["wire"] < _UDP_LEAST)
    masks = {
        "tcp": packet & flow & ~begins,
        "syn": begins,
        "udp": packet & ~flow & ~small,
        "raw": packet & small,
        **{name: frames["kind"] == kind for kind, name in _BARE.items()},
    }
    for name, mask in masks.items():
        chosen = np.flatnonzero(mask)
        if chosen.size:
            some = frames[chosen]
            rows = _headed(name, some, sizes[chosen], scene)
            _FILLERS[name](rows, some, orders[chosen], scene)
            yield rows, chosen


def ack_rows(frames: Rows, scene: Scene) -> Rows:
    """Return the rows of the ACKs that follow frames at once: they take no time in the plain MAC."""
    rows = _headed("ack", frames, np.full(frames.size, LAYOUTS["ack"].itemsize), scene)
    rows["begun_us"] = np.maximum(np.rint(frames["heard_s"] * 1e6), 0)
    rows["control"] = _CONTROL[ACK]
    rows["to"] = _either(frames["up"], STATION, ACCESS_POINT)
    return rows


def beacon_rows(
    numbers: Wholes, orders: Wholes, bits: tuple[NDArray[np.bool_], NDArray[np.bool_]], scene: Scene
) -> Rows:
    """Return the rows of beacons.

    Parameters
    ----------
    numbers, orders
        (m,) the beacons' numbers, and their sequence numbers as frames.
    bits
        (m,) whether each names the station, and whether group frames follow it.
    scene
        What stands in the headers.
    """
    fixed = {
        "rate": scene.rate, "control": 0x80, "to": EVERYBODY, "by": ACCESS_POINT, "third": ACCESS_POINT,
        "interval": scene.beacon_tu, "dtim_period": scene.dtim_period,
    }  # fmt: skip
    rows = rows_of("beacon", numbers.size, fixed)
    rows["kept"] = rows["length"] = rows.itemsize - RECORD
    times_s = numbers * scene.beacon_s
    _stamp(rows, times_s, times_s)
    rows["stamp_us"] = rows["begun_us"]
    rows["order"] = orders << 4
    rows["dtim_count"] = -numbers % scene.dtim_period
    rows["bitmap"], rows["group"] = 2 * bits[0], bits[1]
    return rows


def _headed(name: str, frames: Rows, sizes: Wholes, scene: Scene) -> Rows:
    rows = rows_of(name, frames.size, {"rate": scene.rate, "present": 0xF if scene.rate else 0xB})
    rows["kept"] = rows["length"] = sizes - RECORD
    _stamp(rows, frames["heard_s"], frames["heard_s"] - frames["air_s"])
    return rows


def _stamp(rows: Rows, heard_s: NDArray[np.float64], begun_s: NDArray[np.float64]) -> None:
    whole = np.floor(heard_s)
    nanoseconds = np.minimum(np.rint((heard_s - whole) * 1e9), 999_999_999)
    rows["seconds"], rows["nanoseconds"] = whole, nanoseconds
    rows["begun_us"] = np.maximum(np.rint(begun_s * 1e6), 0)


def _null(rows: Rows, frames: Rows, orders: Wholes, scene: Scene) -> None:
    """Fill in the MAC header of a null frame or of data; *orders* are sequence numbers."""
    up = frames["up"]
    control = np.array([_CONTROL[kind] for kind in range(5)], np.uint8)
    rows["control"] = control[frames["kind"]]
    direction = np.where(up, _TO_AP, _FROM_AP)
    rows["bits"] = direction | _bits(frames)
    rows["duration"] = scene.ack_us * (frames["kind"] != GROUP)
    rows["to"] = _either(up, ACCESS_POINT, STATION)
    rows["to"][frames["kind"] == GROUP] = EVERYBODY
    rows["by"] = _either(up, STATION, ACCESS_POINT)
    rows["third"] = ROUTER
    rows["third"][frames["kind"] == NULL_FRAME] = ACCESS_POINT
    rows["order"] = orders << 4


def _poll(rows: Rows, frames: Rows, orders: Wholes, scene: Scene) -> None:
    """Fill in a PS-Poll of association 1."""
    rows["control"], rows["bits"] = _CONTROL[PS_POLL], _bits(frames)
    rows["duration"] = 0xC001
    rows["to"], rows["by"] = ACCESS_POINT, STATION


def _ack(rows: Rows, frames: Rows, orders: Wholes, scene: Scene) -> None:
    """Fill in an ACK that a MAC has told of."""
    rows["control"], rows["bits"] = _CONTROL[ACK], _bits(frames)
    rows["to"] = _either(frames["up"], ACCESS_POINT, STATION)


def _raw(rows: Rows, frames: Rows, orders: Wholes, scene: Scene) -> None:
    """Fill in what is too small for an IP header, by IEEE's ethertype for experiments."""
    _null(rows, frames, orders, scene)
    rows["ethertype"] = 0x88B5


def _udp(rows: Rows, frames: Rows, orders: Wholes, scene: Scene) -> None:
    """Fill in a datagram."""
    _null(rows, frames, orders, scene)
    up, group = frames["up"], frames["kind"] == GROUP
    target = np.where(group, GROUP_IP, np.where(up, SERVER_IP, STATION_IP))
    _ip(rows, frames["wire"], 17, np.where(up, STATION_IP, SERVER_IP), target)
    rows["source_port"] = rows["target_port"] = DATAGRAM_PORT
    rows["udp_length"] = frames["wire"] - 20
    _transport_sum(rows, frames["wire"] - 20)


def _tcp(rows: Rows, frames: Rows, orders: Wholes, scene: Scene) -> None:
    """Fill in a TCP segment; its payload is zeros, which add nothing to the checksum."""
    _null(rows, frames, orders, scene)
    up, syn = frames["up"], frames["syn"]
    server, port, own, other = ends_of(frames["number"])
    length = frames["wire"] + syn * scene.more_in_syn
    _ip(rows, length, 6, np.where(up, STATION_IP, server), np.where(up, server, STATION_IP))
    rows["source_port"], rows["target_port"] = (
        np.where(up, port, SERVER_PORT), np.where(up, SERVER_PORT, port)
    )  # fmt: skip
    rows["sequence"] = (np.where(up, own, other) + frames["seq"]) & 0xFFFFFFFF
    acknowledges = (np.where(up, other, own) + frames["ack"]) & 0xFFFFFFFF
    rows["acknowledges"] = np.where(frames["ack"] > 0, acknowledges, 0)
    rows["tcp_words"] = (scene.header - 20 + syn * scene.more_in_syn) // 4 << 4
    pushed = (frames["payload"] > 0) & (frames["payload"] < scene.segment)
    rows["tcp_flags"] = frames["fin"] | 2 * syn | 8 * pushed | 16 * (frames["ack"] > 0)
    whole = np.minimum(scene.window << scene.scale, 65_535)
    rows["window"] = np.where(syn, whole, scene.window)
    _transport_sum(rows, length - 20)


def _syn(rows: Rows, frames: Rows, orders: Wholes, scene: Scene) -> None:
    """Fill in a segment with the options of a SYN."""
    rows["mss"] = scene.segment
    rows["scale_kind"] = 0x01030300 | scene.scale
    _tcp(rows, frames, orders, scene)


def _ip(rows: Rows, length: Wholes, protocol: int, source: Wholes, target: Wholes) -> None:
    rows["ip_length"], rows["protocol"] = length, protocol
    rows["source"], rows["target"] = source, target
    rows["ip_sum"] = checksum(words_sum(bytes_of(rows)[:, IP_FIRST:IP_LAST]))


def _transport_sum(rows: Rows, length: Wholes) -> None:
    """Fill in the checksum of TCP or UDP, over addresses, protocol and length too."""
    data = bytes_of(rows)
    total = words_sum(data[:, IP_LAST:]) + words_sum(data[:, IP_LAST - 8 : IP_LAST])
    found = checksum(total + rows["protocol"] + length)
    rows["sum"] = np.where((found == 0) & (rows["protocol"] == 17), 0xFFFF, found)


def _bits(frames: Rows) -> Wholes:
    return np.asarray(_RETRY * frames["retry"] + _SLEEPS * frames["sleeps"] + _MORE * frames["more"])


def _has_syn(frames: Rows) -> NDArray[np.bool_]:
    return np.asarray(frames["syn"] & (frames["number"] >= 0))


def _either(first: NDArray[np.bool_], one: tuple[int, ...], other: tuple[int, ...]) -> NDArray[np.uint8]:
    return np.array([other, one], np.uint8)[first.astype(np.intp)]


_BARE = {NULL_FRAME: "null", PS_POLL: "ps-poll", ACK: "ack"}
_FILLERS: dict[str, Any] = {
    "tcp": _tcp, "syn": _syn, "udp": _udp, "raw": _raw, "null": _null, "ps-poll": _poll, "ack": _ack,
}  # fmt: skip

"""Packets of a capture, filled in column by column: IPv4, TCP and UDP, with their checksums."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from psm_sim.network.observers.capture.hosts import GROUP_IP, SERVER_IP, addresses_of, ends_of
from psm_sim.network.observers.capture.layout import IP_FIRST, IP_LAST, bytes_of, checksum, words_sum
from psm_sim.network.observers.capture.scene import DATAGRAM_PORT, SERVER_PORT, Scene
from psm_sim.network.observers.capture.waiting import GROUP

Rows = NDArray[np.void]
Wholes = NDArray[np.int64]


def _raw(rows: Rows, frames: Rows, scene: Scene) -> None:
    """Fill in what is too small for an IP header, by IEEE's ethertype for experiments."""
    rows["ethertype"] = 0x88B5


def _udp(rows: Rows, frames: Rows, scene: Scene) -> None:
    """Fill in a datagram."""
    up, group = frames["up"], frames["kind"] == GROUP
    station = addresses_of(scene.stations)[frames["aid"]]
    target = np.where(group, GROUP_IP, np.where(up, SERVER_IP, station))
    _ip(rows, frames["wire"], 17, np.where(up, station, SERVER_IP), target)
    rows["source_port"] = rows["target_port"] = DATAGRAM_PORT
    rows["udp_length"] = frames["wire"] - 20
    _transport_sum(rows, frames["wire"] - 20)


def _tcp(rows: Rows, frames: Rows, scene: Scene) -> None:
    """Fill in a TCP segment; its payload is zeros, which add nothing to the checksum."""
    up, syn = frames["up"], frames["syn"]
    server, port, own, other = ends_of(frames["number"])
    length = frames["wire"] + syn * scene.more_in_syn
    station = addresses_of(scene.stations)[frames["aid"]]
    _ip(rows, length, 6, np.where(up, station, server), np.where(up, server, station))
    rows["source_port"], rows["target_port"] = (
        np.where(up, port, SERVER_PORT), np.where(up, SERVER_PORT, port)
    )  # fmt: skip
    rows["sequence"] = (np.where(up, own, other) + frames["seq"]) & 0xFFFFFFFF
    acknowledges = (np.where(up, other, own) + frames["ack"]) & 0xFFFFFFFF
    rows["acknowledges"] = np.where(frames["ack"] > 0, acknowledges, 0)
    rows["tcp_words"] = (scene.header - 20 + syn * scene.more_in_syn) // 4 << 4
    pushed = (frames["payload"] > 0) & (frames["payload"] < scene.segment)
    rows["tcp_flags"] = frames["ends"] | 2 * syn | 8 * pushed | 16 * (frames["ack"] > 0)
    whole = np.minimum(scene.window << scene.scale, 65_535)
    rows["window"] = np.where(syn, whole, scene.window)
    _transport_sum(rows, length - 20)


def _syn(rows: Rows, frames: Rows, scene: Scene) -> None:
    """Fill in a segment with the options of a SYN."""
    rows["mss"] = scene.segment
    rows["scale_kind"] = 0x01030300 | scene.scale
    _tcp(rows, frames, scene)


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


PACKETS: dict[str, Callable[[Rows, Rows, Scene], None]] = {"tcp": _tcp, "syn": _syn, "udp": _udp, "raw": _raw}
"""Fills in what a row of each kind carries; the frames are rows of the waiting ones."""

"""TCP connections of a capture."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from psm_sim.workload.recordings.capture.frame_batch import IntArray
from psm_sim.workload.recordings.capture.ip_packets import ACK, SYN, TCP
from psm_sim.workload.recordings.capture.packet_capture import PacketCapture


def connection_numbers(capture: PacketCapture) -> IntArray:
    """Return the number of the TCP connection of each packet, from 0 in the order of opening, shape (n,).

    Packets that are not TCP or have no ports get -1. A connection begins with the first packet between two
    ports of two hosts, and again with each SYN of another initial sequence number.
    """
    rows = capture.rows
    numbers = np.full(rows.size, -1, np.int64)
    (tcp,) = np.nonzero((rows["protocol"] == TCP) & (rows["source_port"] > 0))
    if not tcp.size:
        return numbers
    keys = _keys(rows[tcp], capture.uplink[tcp])
    order = np.lexsort(keys)
    rows = rows[tcp[order]]
    begins = np.append(True, np.any([np.diff(key[order]) != 0 for key in keys], axis=0))
    hosts = np.cumsum(begins)
    (syns,) = np.nonzero(rows["flags"] & (SYN | ACK) == SYN)
    repeated = (np.diff(rows["sequence"][syns]) == 0) & (np.diff(hosts[syns]) == 0)
    begins[syns[np.append(True, ~repeated)[: syns.size]]] = True
    opened = tcp[order[begins]]
    rank = np.empty(opened.size, np.int64)
    rank[np.argsort(opened)] = np.arange(opened.size)
    numbers[tcp[order]] = rank[np.cumsum(begins) - 1]
    return numbers


def _keys(rows: NDArray[np.void], up: NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
    """Return both ports of packets in one number, the client's first, and the peers, shape (n,) each."""
    ports = rows["source_port"].astype(np.int64), rows["target_port"].astype(np.int64)
    own, other = np.where(up, ports, ports[::-1])
    return (own << 16) | other, np.where(up, rows["target"], rows["source"])

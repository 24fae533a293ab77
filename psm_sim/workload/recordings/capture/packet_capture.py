"""Reader of the IP packets of one client in a capture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_RECORDS, MAX_TIME_S
from psm_sim.common.progress import Progress
from psm_sim.common.registry import unknown_name_error
from psm_sim.workload.recordings.capture.capture_files import capture_format, frames_of
from psm_sim.workload.recordings.capture.ip_packets import LINKS, packet_of
from psm_sim.workload.recordings.chunk_reader import ChunkReader

AUTO = "auto"

PACKET_DTYPE = np.dtype(
    [
        ("time_ns", np.int64),
        ("source", np.uint32),
        ("target", np.uint32),
        ("length", np.uint32),
        ("protocol", np.uint8),
        ("source_port", np.uint16),
        ("target_port", np.uint16),
        ("sequence", np.uint32),
        ("payload", np.uint32),
        ("flags", np.uint8),
        ("mss", np.uint16),
    ]
)
"""Packet, with the fields of :class:`~psm_sim.workload.recordings.capture.ip_packets.Packet`.

Addresses are numbers in the order of appearance, so that a packet takes 36 bytes of memory.
"""


@dataclass(frozen=True, eq=False)
class PacketCapture:
    """Packets of one client in a capture.

    Attributes
    ----------
    format
        Description of the file format.
    client
        Address of the client.
    rows
        Packets ordered by time, shape (n,), of type :data:`PACKET_DTYPE`.
    uplink
        Whether the client sent each packet, shape (n,).
    others
        The five busiest addresses of the capture, each with its number of packets.
    frames, packets
        Numbers of frames and of IP packets in the file.
    warnings
        Problems in the file that are not fatal.
    """

    format: str
    client: str
    rows: NDArray[np.void]
    uplink: NDArray[np.bool_]
    others: tuple[tuple[str, int], ...]
    frames: int
    packets: int
    warnings: tuple[str, ...]

    @property
    def at_s(self) -> NDArray[np.float64]:
        """Time of each packet since the first one, in seconds, shape (n,)."""
        time_ns = self.rows["time_ns"]
        return np.asarray((time_ns - time_ns[0]) / 1e9)


def read_capture(path: Path, client: str = AUTO, progress: Progress | None = None) -> PacketCapture:
    """Read the packets of one client.

    Parameters
    ----------
    path
        File in pcap or pcapng format, plain or gzipped.
    client
        Address of the client. ``"auto"`` selects the private address with the most packets. Without private
        addresses, it selects the address with the most packets. Of addresses with equal counts, it selects
        the one that sends first.
    progress
        Called with the bytes read, the size of the file and its name.

    Raises
    ------
    InputError
        If the file cannot be read, is damaged, or has no packet of the client.
    """
    wanted, source = _address_of(client, path), ChunkReader(path, progress)
    numbers = dict[bytes, int]()  # numbers of the addresses, in the order of appearance
    frames, unsupported = 0, Counter[int]()

    def packets() -> Iterator[tuple[int, ...]]:
        nonlocal frames
        for frames, frame in enumerate(frames_of(source), 1):
            if frames > MAX_RECORDS:
                raise InputError(f"{path} has over {MAX_RECORDS:,} packets; split it into parts.")
            if frame.link not in LINKS:
                unsupported[frame.link] += 1
            elif packet := packet_of(frame):
                ends = (numbers.setdefault(end, len(numbers)) for end in packet[:2])
                yield (frame.time_ns, *ends, *packet[2:])

    rows = np.fromiter(packets(), PACKET_DTYPE)
    warnings = [
        *source.warnings,
        *(
            f"frames of the unsupported link type {link} were omitted: {count:,}"
            for link, count in unsupported.items()
        ),
    ]
    if unreadable := frames - rows.size - unsupported.total():
        warnings.append(f"{unreadable:,} of {frames:,} frames have no readable IP packet")
    if not rows.size:
        warnings_text = "".join(f" ({warning})" for warning in warnings)
        raise InputError(f"{path} has no IP packet{warnings_text}; use a capture of IP traffic.")
    counts = _count_packets(rows, [ip_address(end) for end in numbers])
    address = wanted or _select_client(list(counts), path)
    busiest = tuple((str(each), count) for each, count in list(counts.items())[:5])
    if address not in counts:
        raise unknown_name_error(f"client of trace {path.name}", client, [each for each, _ in busiest])
    number = numbers[address.packed]
    own = rows[(rows["source"] == number) | (rows["target"] == number)]
    own = own[np.argsort(own["time_ns"], kind="stable")]
    span_s = (int(own["time_ns"][-1]) - int(own["time_ns"][0])) / 1e9
    if span_s > MAX_TIME_S:
        raise InputError(
            f"{path}: packet times must span at most {MAX_TIME_S:g} s, got {span_s:g} s; some are invalid."
        )
    file_format, uplink = f"{capture_format(source.head(4))} capture", own["source"] == number
    return PacketCapture(file_format, str(address), own, uplink, busiest, frames, rows.size, tuple(warnings))


Address = IPv4Address | IPv6Address

_PRIVATE = [
    *map(ip_network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10")),
    *map(ip_network, ("fc00::/7", "fe80::/10")),
]
"""Private networks (RFC 1918, 3927, 6598 and 4193), and link-local IPv6 addresses."""

_RESERVED = ip_network("240.0.0.0/4")


def _address_of(client: str, path: Path) -> Address | None:
    """Return the address of a client, or None for ``"auto"``."""
    try:
        return None if client == AUTO else ip_address(client)
    except ValueError:
        raise InputError(f"trace {path.name}: client must be an IP address, got {client!r}.") from None


def _count_packets(rows: NDArray[np.void], addresses: list[Address]) -> dict[Address, int]:
    """Return the number of packets of each address, the busiest first; ties keep the order of appearance."""
    ends = np.concatenate([rows["source"], rows["target"]])
    numbers, first, counts = np.unique(ends, return_index=True, return_counts=True)
    order = np.lexsort((first, -counts))
    return {addresses[number]: count for number, count in np.c_[numbers, counts][order].tolist()}


def _select_client(busiest: list[Address], path: Path) -> Address:
    hosts = [host for host in busiest if not (host.is_multicast or host.is_unspecified or host in _RESERVED)]
    if not hosts:
        raise InputError(f"{path} has only group addressed packets; expected those of a client.")
    return next((host for host in hosts if any(host in network for network in _PRIVATE)), hosts[0])

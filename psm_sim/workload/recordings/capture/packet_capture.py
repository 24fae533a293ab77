"""Reader of the IP packets of one client in a capture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_RECORDS, MAX_S
from psm_sim.common.progress import Progress
from psm_sim.common.registry import unknown_name_error
from psm_sim.workload.recordings.capture.capture_files import MAGIC, MAGICS, Pcapng, Window, pcap_frames
from psm_sim.workload.recordings.capture.frame_batch import Frames, IntArray
from psm_sim.workload.recordings.capture.ip_packets import (
    LINKS,
    ROW,
    AddressCodes,
    ip_starts,
    is_host,
    is_private,
    packets_of,
)
from psm_sim.workload.recordings.chunk_reader import ChunkReader

AUTO = "auto"


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
        Packets ordered by time, shape (n,), of type
        :data:`~psm_sim.workload.recordings.capture.ip_packets.ROW`.
    uplink
        Whether the client sent each packet, shape (n,).
    others
        Busiest addresses, which can include the client, each with its number of packets.
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


def is_capture(head: bytes) -> bool:
    """Return whether data that start with *head* are a capture."""
    return head[:4] in MAGICS or head[:4] == MAGIC


def frames_of(source: ChunkReader) -> Iterator[Frames]:
    """Yield the frames of a pcap or pcapng capture in batches.

    Raises
    ------
    InputError
        If the file is damaged. The message contains the byte offset.
    """
    window = Window(source)
    window.fill(4)
    yield from Pcapng(window).frames() if window.data[:4] == MAGIC else pcap_frames(window)


def read_capture(path: Path, client: str = AUTO, progress: Progress | None = None) -> PacketCapture:
    """Read the packets of one client.

    Parameters
    ----------
    path
        File in pcap or pcapng format, plain or gzipped.
    client
        Address of the client. ``"auto"`` selects the private address with most packets, or if there is none,
        the address with most packets. Of equally busy addresses, it selects the one that sends first.
    progress
        Called with the bytes read, the size of the file and its name.

    Raises
    ------
    InputError
        If the file cannot be read, is damaged, or has no packet of the client.
    """
    scan = _CaptureScan(ChunkReader(path, progress), client)
    for frames in frames_of(scan.source):
        scan.add(frames)
    return scan.result()


class _CaptureScan:
    """State of one pass over a file, with the packets selected so far and counters."""

    def __init__(self, source: ChunkReader, client: str) -> None:
        self.source, self._addresses = source, AddressCodes()
        self._counts = Counter[int]()  # in the order of the first packet of an address
        self._name, self._selected = client, list[NDArray[np.void]]()
        self._frames = self._packets = 0
        self._unsupported: dict[int, int] = {}
        self._client = None if client == AUTO else self._addresses.number(client)
        if client != AUTO and self._client is None:
            raise InputError(f"trace {source.path.name}: client must be an IP address, got {client!r}.")

    def add(self, frames: Frames) -> None:
        """Add the client's packets of a batch, or all packets if the client is still unknown."""
        self._frames += frames.start.size
        if self._frames > MAX_RECORDS:
            raise InputError(f"{self.source.path} has over {MAX_RECORDS:,} packets; split it into parts.")
        if frames.link not in LINKS:
            self._unsupported[frames.link] = self._unsupported.get(frames.link, 0) + frames.start.size
            return
        rows = packets_of(frames, ip_starts(frames), self._addresses)
        self._packets += rows.size
        self._count(np.concatenate([rows["source"], rows["target"]]))
        self._selected.append(rows if self._client is None else rows[_is_client_packet(rows, self._client)])

    def result(self) -> PacketCapture:
        """Return the client's packets, ordered by time."""
        client = self._select_client()
        selected = [rows[_is_client_packet(rows, client)] for rows in self._selected]
        self._selected.clear()
        rows = np.concatenate([np.empty(0, ROW), *selected])
        if not rows.size:
            addresses = [address for address, _ in self._busiest()]
            raise unknown_name_error(f"client of trace {self.source.path.name}", self._name, addresses)
        if (np.diff(rows["time_ns"]) < 0).any():
            rows = rows[np.argsort(rows["time_ns"], kind="stable")]
        self._check_span(rows)
        return PacketCapture(
            f"{_format(self.source.path)} capture", str(self._addresses.address(client)), rows,
            rows["source"] == client, self._busiest(), self._frames, self._packets, self._warnings(),
        )  # fmt: skip

    def _count(self, numbers: IntArray) -> None:
        """Count the packets of each address of a batch, whose sources precede the targets."""
        known = numbers[numbers >= 0]  # -1: not in the bounded table of IPv6 addresses
        distinct, first, counts = np.unique(known, return_index=True, return_counts=True)
        order = np.argsort(first)
        for number, count in zip(distinct[order].tolist(), counts[order].tolist(), strict=True):
            self._counts[number] += count

    def _busiest(self) -> tuple[tuple[str, int], ...]:
        """Return the five addresses with most packets, each with their number."""
        busiest = self._counts.most_common(5)
        return tuple((str(self._addresses.address(number)), count) for number, count in busiest)

    def _select_client(self) -> int:
        if not self._packets:
            warnings = "".join(f" ({warning})" for warning in self._warnings())
            raise InputError(f"{self.source.path} has no IP packet{warnings}; use a capture of IP traffic.")
        if self._client is not None:
            return self._client
        counted = {number: self._addresses.address(number) for number, _ in self._counts.most_common()}
        hosts = [number for number, address in counted.items() if is_host(address)]
        if not hosts:
            raise InputError(
                f"{self.source.path} has only group addressed packets; expected those of a client."
            )
        return next((number for number in hosts if is_private(counted[number])), hosts[0])

    def _check_span(self, rows: NDArray[np.void]) -> None:
        span_s = (int(rows["time_ns"][-1]) - int(rows["time_ns"][0])) / 1e9
        if span_s > MAX_S:
            raise InputError(
                f"{self.source.path}: packet times must span at most {MAX_S:g} s, got {span_s:g} s; some are "
                "invalid."
            )

    def _warnings(self) -> tuple[str, ...]:
        unsupported = tuple(
            f"{count:,} frames of the unsupported link type {link} were omitted"
            for link, count in self._unsupported.items()
        )
        unreadable = self._frames - self._packets - sum(self._unsupported.values())
        unreadable_note = (
            (f"{unreadable:,} of {self._frames:,} frames have no readable IP packet",) if unreadable else ()
        )
        return (*self.source.warnings, *unsupported, *unreadable_note)


def _is_client_packet(rows: NDArray[np.void], client: int) -> NDArray[np.bool_]:
    return np.asarray((rows["source"] == client) | (rows["target"] == client))


def _format(path: Path) -> str:
    return "pcapng" if ChunkReader(path).head(4) == MAGIC else "pcap"

"""Reader of captures: a file's IP packets, and the client whose packets they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from psm_sim.errors import InputError
from psm_sim.limits import MAX_RECORDS, MAX_S
from psm_sim.progress import Progress
from psm_sim.registry import unknown_name_error
from psm_sim.workload.recordings.capture.addresses import Addresses
from psm_sim.workload.recordings.capture.busiest_addresses import Busiest
from psm_sim.workload.recordings.capture.byte_window import Window
from psm_sim.workload.recordings.capture.frame_batch import Frames
from psm_sim.workload.recordings.capture.ip_packets import ROW, packets_of
from psm_sim.workload.recordings.capture.link_layers import LINKS, ip_begins
from psm_sim.workload.recordings.capture.pcap import MAGICS, pcap_frames
from psm_sim.workload.recordings.capture.pcapng import MAGIC, Pcapng
from psm_sim.workload.recordings.chunk_reader import ChunkReader

AUTO = "auto"


@dataclass(frozen=True, eq=False)
class PacketCapture:
    """Capture: the packets of one client.

    Attributes
    ----------
    format
        The kind of file, in words.
    client
        The client's address.
    rows
        (n,) its packets by time, as rows of :data:`~psm_sim.workload.recordings.capture.ip_packets.ROW`.
    uplink
        (n,) whether the client sent each.
    others
        The addresses with most packets, the client's among them, and the number of packets of each.
    frames, packets
        The number of frames in the file, and of IP packets.
    warnings
        What was odd in the file, one sentence each.
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
        """Seconds from the client's first packet to each, (n,)."""
        time_ns = self.rows["time_ns"]
        return np.asarray((time_ns - time_ns[0]) / 1e9)


def is_capture(head: bytes) -> bool:
    """Say whether data that begin with *head* are a capture."""
    return head[:4] in MAGICS or head[:4] == MAGIC


def frames_of(source: ChunkReader) -> Iterator[Frames]:
    """Yield the frames of a capture, pcap or pcapng, a batch at a time.

    Raises
    ------
    InputError
        If the file is damaged; the message names the byte.
    """
    window = Window(source)
    window.fill(4)
    yield from Pcapng(window).frames() if window.data[:4] == MAGIC else pcap_frames(window)


def read_capture(path: Path, client: str = AUTO, progress: Progress | None = None) -> PacketCapture:
    """Read the packets of one client.

    Parameters
    ----------
    path
        The file, pcap or pcapng, plain or gzipped.
    client
        The client's address; ``"auto"``: the private address with most packets, of several the one that is
        first seen to send; if there is none, the one with most packets of all.
    progress
        Called with the bytes read, the file's size and its name.

    Raises
    ------
    InputError
        If the file cannot be read or is damaged, or has no packet of the client.
    """
    reading = _Reading(ChunkReader(path, progress), client)
    for frames in frames_of(reading.source):
        reading.take(frames)
    return reading.done()


class _Reading:
    """Pass over one file: what was kept so far, and what is counted."""

    def __init__(self, source: ChunkReader, client: str) -> None:
        self.source, self._addresses, self._busiest = source, Addresses(), Busiest()
        self._name, self._kept = client, list[NDArray[np.void]]()
        self._frames = self._packets = 0
        self._unread: dict[int, int] = {}
        self._client = None if client == AUTO else self._addresses.number(client)
        if client != AUTO and self._client is None:
            raise InputError(f"trace {source.path.name}: client is {client!r}; expected an IP address.")

    def take(self, frames: Frames) -> None:
        """Keep the client's packets of a batch, or all while the client is not known."""
        self._frames += frames.start.size
        if self._frames > MAX_RECORDS:
            raise InputError(f"{self.source.path} has over {MAX_RECORDS:,} packets; cut it into parts.")
        if frames.link not in LINKS:
            self._unread[frames.link] = self._unread.get(frames.link, 0) + frames.start.size
            return
        rows = packets_of(frames, ip_begins(frames), self._addresses)
        self._packets += rows.size
        self._busiest.add(rows["source"], rows["target"])
        self._kept.append(rows if self._client is None else rows[_of(rows, self._client)])

    def done(self) -> PacketCapture:
        """Return the client's packets, by time."""
        client = self._chosen()
        mine = [rows[_of(rows, client)] for rows in self._kept]
        self._kept.clear()
        rows = np.concatenate([np.empty(0, ROW), *mine])
        if not rows.size:
            addresses = [self._addresses.text(number) for number, _ in self._busiest.most(5)]
            raise unknown_name_error(f"client of trace {self.source.path.name}", self._name, addresses)
        if (np.diff(rows["time_ns"]) < 0).any():
            rows = rows[np.argsort(rows["time_ns"], kind="stable")]
        self._check_span(rows)
        others = tuple((self._addresses.text(number), count) for number, count in self._busiest.most(5))
        return PacketCapture(
            f"{_kind(self.source.path)} capture", self._addresses.text(client), rows,
            rows["source"] == client, others, self._frames, self._packets, self._warnings(),
        )  # fmt: skip

    def _chosen(self) -> int:
        if not self._packets:
            odd = "".join(f" ({warning})" for warning in self._warnings())
            raise InputError(f"{self.source.path} has no IP packet{odd}; expected a capture of IP traffic.")
        if self._client is not None:
            return self._client
        counted = [number for number, _ in self._busiest.most(None)]
        hosts = np.array(counted, np.int64)
        hosts = hosts[self._addresses.stations(hosts)]
        own = hosts[self._addresses.private(hosts)]
        for found in (own, hosts):
            if found.size:
                return int(found[0])
        raise InputError(f"{self.source.path} has only packets to groups; expected those of a client.")

    def _check_span(self, rows: NDArray[np.void]) -> None:
        span_s = (int(rows["time_ns"][-1]) - int(rows["time_ns"][0])) / 1e9
        if span_s > MAX_S:
            raise InputError(
                f"{self.source.path}: its times span {span_s:g} s; expected at most {MAX_S:g} s, so some "
                "are wrong."
            )

    def _warnings(self) -> tuple[str, ...]:
        unread = tuple(
            f"{count:,} frames of link type {link} are left out, which is not read here"
            for link, count in self._unread.items()
        )
        rest = self._frames - self._packets - sum(self._unread.values())
        other = (f"{rest:,} of {self._frames:,} frames hold no readable IP packet",) if rest else ()
        return (*self.source.warnings, *unread, *other)


def _of(rows: NDArray[np.void], client: int) -> NDArray[np.bool_]:
    return np.asarray((rows["source"] == client) | (rows["target"] == client))


def _kind(path: Path) -> str:
    return "pcapng" if ChunkReader(path).head(4) == MAGIC else "pcap"

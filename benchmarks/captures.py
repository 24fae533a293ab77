"""How fast captures are read, and in how much memory.

Run ``python benchmarks/captures.py``. It writes files of 1,000,000 packets, all of 60 bytes or half of them
of 1,514, to and from twenty stations; each is read in a process of its own, so that peak memory is its own.
"""

from __future__ import annotations

import argparse
import gzip
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from psm_sim.workload.recordings.capture.packet_capture import read_capture

FORMS = ("small.pcap", "mixed.pcap", "mixed.pcapng", "small.pcap.gz")


def main() -> None:
    """Write the files and measure each, or measure one that is given."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--packets", type=int, default=1_000_000, metavar="N")
    parser.add_argument("--file", type=Path, help="an existing file instead")
    args = parser.parse_args()
    if args.file:
        measure(args.file)
        return
    with tempfile.TemporaryDirectory() as folder:
        for name in FORMS:
            path = Path(folder) / name
            write(path, args.packets)
            command = [sys.executable, __file__, "--file", str(path)]
            print(subprocess.run(command, check=True, capture_output=True, text=True).stdout, end="")
            path.unlink()


def write(path: Path, packets: int) -> None:
    """Write a capture, its packets in the form that the name tells."""
    sizes = [60] if "small" in path.name else [60, 1514]
    with gzip.open(path, "wb", 1) if path.suffix == ".gz" else path.open("wb") as file:
        if "pcapng" in path.name:
            file.write(np.array([0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 2**32 - 1, 2**32 - 1, 28], "<u4").tobytes())
            file.write(np.array([1, 20, 1, 0, 20], "<u4").tobytes())
        else:
            file.write(np.array([0xA1B2C3D4, 0x00040002, 0, 0, 262144, 1], "<u4").tobytes())
        for first in range(0, packets, 20_000):
            count = min(20_000, packets - first)
            parts = [record(first + k, sizes[k % len(sizes)], "pcapng" in path.name) for k in range(count)]
            file.write(b"".join(parts))


def record(number: int, size: int, ng: bool) -> bytes:
    """Return one packet's record."""
    station, up = number % 20, number % 3 == 0
    hosts = bytes([10, 0, 0, station + 1]) + bytes([93, 184, 216, 34])
    ip = bytes([0x45, 0, *(size - 14).to_bytes(2, "big"), 0, 0, 0, 0, 64, 17, 0, 0])
    packet = bytes(12) + b"\x08\x00" + ip + (hosts if up else hosts[4:] + hosts[:4]) + bytes(size - 34)
    seconds, part = divmod(1_700_000_000_000_000 + 100 * number, 1_000_000)
    if not ng:
        return np.array([seconds, part, size, size], "<u4").tobytes() + packet
    padded = -size % 4
    ticks = 1_700_000_000_000_000 + 100 * number
    head = [6, 32 + size + padded, 0, ticks >> 32, ticks & 0xFFFFFFFF, size, size]
    return np.array(head, "<u4").tobytes() + packet + bytes(padded) + np.array(head[1:2], "<u4").tobytes()


def measure(path: Path) -> None:
    """Time one file."""
    before = peak_mib()
    begin = time.process_time()
    capture = read_capture(path)
    seconds = time.process_time() - begin
    peak = peak_mib() - before
    rate, size = capture.frames / seconds / 1e6, path.stat().st_size / 2**20
    print(
        f"{path.name:<15}{size:>5.0f} MiB {capture.frames:,} packets {seconds:>5.2f} s of CPU {rate:.2f} M/s,"
        f" {peak:.0f} MiB more than before, {capture.rows.size:,} packets of {capture.client}"
    )


def peak_mib() -> float:
    """Return the largest memory of this process so far (Linux), not of the one that started it."""
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line]
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main()

"""Captures beside another program: tshark reads the same packets, times and lengths."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from psm_sim.workload.recordings.capture.ip_packets import AddressCodes, ip_starts, packets_of
from psm_sim.workload.recordings.capture.packet_capture import frames_of
from psm_sim.workload.recordings.chunk_reader import ChunkReader
from tests.workload.recordings.captures import FRAMES, enhanced, interface, packet, section

NAMES = (
    "mqtt", "mqtt_big", "bro.org", "pipelined-requests", "http2-nghttp2", "80211http", "ieee802.11_exthdr"
)  # fmt: skip
FIELDS = ("frame.time_epoch", "frame.len", "frame.cap_len", "ip.src", "ip.dst", "ip.len", "tcp.len")


def ours(path: Path) -> tuple[list[tuple[int, int, int]], list[tuple[int, str, str, int]]]:
    """Return time in ns, length and bytes kept of each frame; and time, ends and length of IP packets."""
    addresses = AddressCodes()
    frames: list[tuple[int, int, int]] = []
    packets: list[tuple[int, str, str, int]] = []
    for batch in frames_of(ChunkReader(path)):
        kept = batch.end - batch.start
        frames += zip(batch.time_ns.tolist(), batch.length.tolist(), kept.tolist(), strict=True)
        for row in packets_of(batch, ip_starts(batch), addresses):
            source, target = (str(addresses.address(int(row[end]))) for end in ("source", "target"))
            packets.append((int(row["time_ns"]), source, target, int(row["length"])))
    return frames, packets


def every_link_layer() -> bytes:
    """Return a capture of all link layers, with an interface's unit and offset of time and two sections."""
    whole = section() + interface(1, offset_s=7) + interface(101, resolution=9)
    whole += enhanced(FRAMES["one VLAN"][1](packet()), 8_000_000) + enhanced(packet(), 5_000_000_001, 1)
    for number, (link, frame) in enumerate(FRAMES.values()):
        frames = [frame(packet(payload=50 + k)) for k in range(3)]
        whole += interface(link) + b"".join(enhanced(each, 10**6 + number, 2 + number) for each in frames)
    return whole + section(">") + interface(101, ">") + enhanced(packet(), 9, 0, ">")


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
@pytest.mark.parametrize("name", [*NAMES, "made"])
def test_tshark_reads_the_same(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Every frame's time, length and bytes kept; every IPv4 packet's ends and length."""
    if name == "made":
        path = tmp_path / "all.pcapng"
        path.write_bytes(every_link_layer())
    else:
        path = request.getfixturevalue("shared") / "data" / "captures" / f"{name}.pcap"
    columns = [word for field in FIELDS for word in ("-e", field)]
    command = ["tshark", "-n", "-r", str(path), "-T", "fields", *columns]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = [line.split("\t") for line in out.splitlines()]
    times = [int(row[0].replace(".", "")) for row in rows]
    frames, packets = ours(path)
    assert frames == [(at, int(row[1]), int(row[2])) for at, row in zip(times, rows, strict=True)]
    beside = [(at, row[3], row[4], int(row[5])) for at, row in zip(times, rows, strict=True) if row[3]]
    assert packets == beside

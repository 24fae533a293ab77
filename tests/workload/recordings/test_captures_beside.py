"""Captures beside other programs: tshark and scapy read the same packets, times and lengths."""

from __future__ import annotations

import shutil
import subprocess
from ipaddress import ip_address
from pathlib import Path

import numpy as np
import pytest

from psm_sim.workload.recordings.capture.ip_packets import AddressCodes, packets_of
from psm_sim.workload.recordings.capture.link_layers import ip_starts
from psm_sim.workload.recordings.capture.reader import frames_of
from psm_sim.workload.recordings.chunk_reader import ChunkReader
from tests.workload.recordings.captures import FRAMES, enhanced, interface, packet, pcap, section

NAMES = (
    "mqtt", "mqtt_big", "bro.org", "pipelined-requests", "http2-nghttp2", "80211http", "ieee802.11_exthdr"
)  # fmt: skip
FIELDS = ("frame.time_epoch", "frame.len", "frame.cap_len", "ip.src", "ip.dst", "ip.len", "tcp.len")

NOT_BY_SCAPY = ("12.pcap", "14.pcap", "all.pcapng")
"""It knows no HT control and no padded 802.11 header, and adds no offset of an interface to times."""


def ours(path: Path) -> tuple[list[tuple[int, int, int]], list[tuple[int, str, str, int]]]:
    """Return time in ns, length and bytes kept of each frame; and time, ends and length of IP packets."""
    addresses = AddressCodes()
    frames: list[tuple[int, int, int]] = []
    packets: list[tuple[int, str, str, int]] = []
    for batch in frames_of(ChunkReader(path)):
        kept = batch.end - batch.start
        frames += zip(batch.time_ns.tolist(), batch.length.tolist(), kept.tolist(), strict=True)
        for row in packets_of(batch, ip_starts(batch), addresses):
            ends = addresses.text(int(row["source"])), addresses.text(int(row["target"]))
            packets.append((int(row["time_ns"]), *ends, int(row["length"])))
    return frames, packets


def made(folder: Path) -> list[Path]:
    """Write a capture of each link layer, the last with all of them and two sections; return their paths."""
    paths, whole = [], section() + interface(1, offset_s=7) + interface(101, resolution=9)
    whole += enhanced(FRAMES["one VLAN"][1](packet()), 8_000_000) + enhanced(packet(), 5_000_000_001, 1)
    for number, (link, frame) in enumerate(FRAMES.values()):
        paths.append(folder / f"{number}.pcap")
        frames = [(1000 + k, frame(packet(payload=50 + k))) for k in range(3)]
        paths[-1].write_bytes(pcap(frames, link, "<>"[number % 2], nano=number % 3 == 0, snap=90))
        whole += interface(link) + b"".join(enhanced(each, 10**6 + number, 2 + number) for _, each in frames)
    whole += section(">") + interface(101, ">") + enhanced(packet(), 9, 0, ">")
    (folder / "all.pcapng").write_bytes(whole)
    return [*paths, folder / "all.pcapng"]


@pytest.fixture(params=[*NAMES, "made"])
def captures(request: pytest.FixtureRequest, tmp_path: Path) -> list[Path]:
    """Captures of others, and those made here."""
    if request.param == "made":
        return made(tmp_path)
    shared: Path = request.getfixturevalue("shared")
    folder = shared / "data" / "captures"
    if not folder.is_dir():
        pytest.skip("the captures of others are not beside the project")
    return [folder / f"{request.param}.pcap"]


def test_tshark_reads_the_same(captures: list[Path]) -> None:
    """Every frame's time, length and bytes kept; every IPv4 packet's ends and length."""
    program = shutil.which("tshark")
    if program is None:
        pytest.skip("tshark is not installed")
    # Of those made here the last has all the others' link layers: the program takes a second to start.
    for path in captures[-1:]:
        columns = [word for field in FIELDS for word in ("-e", field)]
        command = [program, "-n", "-r", str(path), "-T", "fields", *columns]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        rows = [line.split("\t") for line in out.splitlines()]
        times = [int(row[0].replace(".", "")) for row in rows]
        frames, packets = ours(path)
        assert frames == [(at, int(row[1]), int(row[2])) for at, row in zip(times, rows, strict=True)]
        beside = [(at, row[3], row[4], int(row[5])) for at, row in zip(times, rows, strict=True) if row[3]]
        assert packets == beside


def test_scapy_reads_the_same(captures: list[Path]) -> None:
    """Every frame's time to a microsecond, and length; every IPv4 packet's ends and length."""
    scapy = pytest.importorskip("scapy.all", reason="scapy is not installed")
    for path in captures:
        if path.name in NOT_BY_SCAPY:
            continue
        with scapy.PcapReader(str(path)) as reader:
            beside = list(reader)
        frames, packets = ours(path)
        times = np.array([float(each.time) for each in beside])
        assert times == pytest.approx(np.array([at for at, _, _ in frames]) / 1e9, abs=1e-6)
        assert [length for _, length, _ in frames] == [each.wirelen for each in beside]
        found = [each[scapy.IP] for each in beside if scapy.IP in each]
        told = [(str(ip_address(each.src)), str(ip_address(each.dst)), each.len) for each in found]
        assert [(source, target, size) for _, source, target, size in packets] == told

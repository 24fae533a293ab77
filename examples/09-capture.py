"""Capture: packets that tcpdump or Wireshark has kept, replayed under a power-save policy.

A capture of your own is taken at the access point, or at a station that does not doze, as in
``tcpdump -i eth0 -w my.pcap host 10.0.0.2``. This script writes a small one itself: a device that reports to
a server over TCP about every 20 s, and is sent a datagram now and then. Open loop replays each packet at its
time; closed loop makes requests and replies of them and runs these through TCP.

From the command line: python -m psm_sim --policy psm --trace my.pcap
Run it:                python examples/09-capture.py
Write its output anew: python examples/09-capture.py > examples/09-capture.txt
"""

import struct
import tempfile
from ipaddress import ip_address
from pathlib import Path

import psm_sim
from psm_sim.spec import Spec
from psm_sim.workload import load_workload

DEVICE, SERVER = "10.0.0.2", "192.0.2.7"
POLICIES = ["always-on", "psm", "psm:listen_interval=3"]
TCP, UDP = 6, 17


def packet(up: bool, protocol: int, sequence: int, size: int) -> bytes:
    """Return an IPv4 packet from the device (up) or to it, with *size* bytes behind its header."""
    ends = (DEVICE, SERVER) if up else (SERVER, DEVICE)
    ports = (40_000, 443) if up else (443, 40_000)
    head = struct.pack(">HHHH", *ports, 8 + size, 0)
    if protocol == TCP:
        head = struct.pack(">HHIIBBHHH", *ports, sequence, 0, 5 << 4, 0x18, 0, 0, 0)
    addresses = b"".join(ip_address(end).packed for end in ends)
    length = 20 + len(head) + size
    return struct.pack(">BBHHHBBH", 0x45, 0, length, 0, 0, 64, protocol, 0) + addresses + head + bytes(size)


def write(path: Path) -> None:
    """Write five minutes of traffic as a pcap file of raw IP packets."""
    packets = []
    for number in range(15):
        report_s = 20.37 * number
        packets.append((report_s, packet(True, TCP, 1 + 200 * number, 200)))
        packets.append((report_s + 0.083, packet(False, TCP, 1 + 50 * number, 50)))
    packets += [(7.3 + 31.71 * number, packet(False, UDP, 0, 120)) for number in range(9)]
    data = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 101)
    for at_s, each in sorted(packets):
        seconds, microseconds = divmod(round(at_s * 1e6), 1_000_000)
        data += struct.pack("<IIII", seconds, microseconds, len(each), len(each)) + each
    path.write_bytes(data)


def open_loop(trace: Spec) -> None:
    """Print the latency of the packets under each policy."""
    workload = load_workload(trace, pages=1, seed=1)
    print(f"open loop: {workload.remark}")
    print(f"{'policy':<24}{'joules':>8}{'to the device: p50 ms':>24}{'p99':>8}")
    for policy in POLICIES:
        result = psm_sim.simulate(policy, workload)
        delay = result.latency["down"].latency_s
        print(f"{policy:<24}{result.usage.total_j:>8.2f}{1000 * delay.p50:>24.1f}{1000 * delay.p99:>8.1f}")


def closed_loop(trace: Spec) -> None:
    """Print the time that a request and its reply take under each policy."""
    workload = load_workload(trace.with_("mode", "closed"), pages=15, seed=1)
    print(f"closed loop: {workload.remark}")
    print(f"{'policy':<24}{'joules':>8}{'request and reply, ms':>24}{'slowdown':>10}")
    for policy in POLICIES:
        result = psm_sim.simulate(policy, workload)
        taken_ms = 1000 * result.page_time_s.mean
        print(f"{policy:<24}{result.usage.total_j:>8.2f}{taken_ms:>24.1f}{result.slowdown.mean:>10.3f}")


def main() -> None:
    """Write a capture, and replay it both ways."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "device.pcap"
        write(path)
        open_loop(Spec(str(path)))
        print()
        closed_loop(Spec(str(path)))


if __name__ == "__main__":
    main()

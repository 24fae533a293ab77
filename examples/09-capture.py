"""Replay a packet capture of tcpdump or Wireshark under several policies.

The script first writes a small capture: a device sends a report over TCP every 20 s, and the server
responds. The replay sends each packet at its recorded time, and measures the latency of the packets to
the device.

On the command line:  python -m psm_sim --policy psm --trace my.pcap
Run:                  python examples/09-capture.py
Renew the output:     python examples/09-capture.py > examples/09-capture.txt
"""

import struct
import tempfile
from ipaddress import ip_address
from pathlib import Path

import psm_sim
from psm_sim.common.component_spec import Spec
from psm_sim.workload import load_workload

DEVICE, SERVER = "10.0.0.2", "192.0.2.7"


def packet(up: bool, sequence: int, size: int) -> bytes:
    """Return an IPv4 and TCP packet from the device (up) or to it, with *size* bytes of data."""
    source, target, *ports = (DEVICE, SERVER, 40_000, 443) if up else (SERVER, DEVICE, 443, 40_000)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 40 + size, 0, 0, 64, 6, 0)
    ends = ip_address(source).packed + ip_address(target).packed
    return ip + ends + struct.pack(">HHIIBBHHH", *ports, sequence, 0, 0x50, 0x18, 0, 0, 0) + bytes(size)


def write(path: Path) -> None:
    """Write 15 reports, each with a response after 83 ms, as a pcap file of raw IP packets."""
    data = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 101)  # link type 101: raw IP
    for number in range(15):
        report, response = packet(True, 200 * number, 200), packet(False, 50 * number, 50)
        for after_us, content in (0, report), (83_000, response):
            time = divmod(20_370_000 * number + after_us, 1_000_000)
            data += struct.pack("<IIII", *time, len(content), len(content)) + content
    path.write_bytes(data)


def main() -> None:
    """Write a capture, and replay it."""
    with tempfile.TemporaryDirectory() as folder:
        write(path := Path(folder) / "device.pcap")
        packets = load_workload(Spec(str(path)), 15, seed=1)
    print(f"{packets.remark}\n")
    print(f"{'policy':<24}{'energy, J':>10}{'wait, ms: p50':>15}{'p99':>7}")
    for policy in ("always-on", "psm", "psm:listen_interval=3"):
        result = psm_sim.simulate(policy, packets)
        p50, p99 = (1000 * result[f"latency.down.latency_s.{name}"] for name in ("p50", "p99"))
        energy_j = result["mean_power_mw"] * result["simulated_s"] / 1000
        print(f"{policy:<24}{energy_j:>10.2f}{p50:>15.1f}{p99:>7.1f}")


if __name__ == "__main__":
    main()

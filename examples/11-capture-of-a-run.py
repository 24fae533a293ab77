"""Capture the 802.11 frames of a run, count them, and read the capture back as a trace.

The capture has the frames that a sniffer next to the station receives. Wireshark opens it. This script
counts the frames by type, the beacons with the station's TIM bit, and the null data frames with PM = 1.
A capture read back as a trace has the same packets.

On the command line:  python -m psm_sim --policy psm --pages 3 --capture psm.pcap --timeline psm.json
Run:                  python examples/11-capture-of-a-run.py
Renew the output:     python examples/11-capture-of-a-run.py > examples/11-capture-of-a-run.txt
"""

import struct
import tempfile
from collections import Counter
from pathlib import Path

import psm_sim
from psm_sim.common.component_spec import Spec
from psm_sim.workload import load_workload

TYPES = {0x80: "beacons", 0x08: "data", 0x48: "null data frames", 0xA4: "PS-Polls", 0xD4: "ACKs"}


def count_frames(data: bytes) -> Counter[str]:
    """Return the number of frames of each type in a capture that psm_sim has written."""
    counts, at = Counter[str](), 24  # after the file header
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 12)[0]
        frame = data[at + 16 + data[at + 18] : at + 16 + length]  # after the radiotap header
        counts[TYPES[frame[0]]] += 1
        counts["beacons with the TIM bit"] += frame[0] == 0x80 and frame[-1] > 0
        counts["null data frames with PM = 1"] += frame[0] == 0x48 and frame[1] & 0x10 > 0
        at += 16 + length
    return counts


def main() -> None:
    """Capture three pages under two policies, count the frames, and read one capture back."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.pcap"
        psm_sim.compare(["psm", "bsd:p=0.5"], pages=3, capture=path)
        for capture in sorted(Path(folder).iterdir()):
            print(capture.name)
            for frame_type, count in sorted(count_frames(capture.read_bytes()).items()):
                print(f"  {frame_type:<31}{count:>6,}")
        trace = load_workload(Spec(str(Path(folder) / "run-psm.pcap")), 1, seed=1)
    print(f"\nread back: {trace.remark}")


if __name__ == "__main__":
    main()

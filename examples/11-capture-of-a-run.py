"""Capture of a run: what a sniffer beside the station hears, frame by frame, and what is read back from it.

Any run can be captured. Wireshark opens the file; here it is counted by a few lines: beacons, those that
name the station in their TIM, and the other frames by kind. Read back as a trace, it has the same packets.

From the command line: python -m psm_sim --policy psm --pages 3 --capture psm.pcap --timeline psm.json
Run it:                python examples/11-capture-of-a-run.py
Write its output anew: python examples/11-capture-of-a-run.py > examples/11-capture-of-a-run.txt
"""

import struct
import tempfile
from collections import Counter
from pathlib import Path

import psm_sim
from psm_sim.common.component_spec import Spec
from psm_sim.workload import load_workload

KINDS = {0x80: "beacons", 0x08: "data", 0x48: "null frames", 0xA4: "PS-Polls", 0xD4: "ACKs"}


def counted(data: bytes) -> Counter[str]:
    """Return how many frames of each kind a capture of ours has."""
    found, at = Counter[str](), 24
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 12)[0]
        frame = data[at + 16 + data[at + 18] : at + 16 + length]  # behind the radiotap header
        found[KINDS[frame[0]]] += 1
        found["beacons that name the station"] += frame[0] == 0x80 and frame[-1] > 0
        found["null frames: it dozes"] += frame[0] == 0x48 and frame[1] & 0x10 > 0
        at += 16 + length
    return found


def main() -> None:
    """Capture three pages under two policies, count the frames, and read one file back."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.pcap"
        psm_sim.compare(["psm", "bsd:p=0.5"], pages=3, capture=path)
        for each in sorted(Path(folder).iterdir()):
            print(each.name)
            for kind, count in sorted(counted(each.read_bytes()).items()):
                print(f"  {kind:<31}{count:>6,}")
        again = load_workload(Spec(str(Path(folder) / "run-psm.pcap")), 1, seed=1)
    print(f"\nread back: {again.remark}")


if __name__ == "__main__":
    main()

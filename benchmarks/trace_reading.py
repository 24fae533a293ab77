"""How fast UCB files are read, and in how much memory.

Run ``python benchmarks/trace_reading.py`` for 1,000,000 records, and with ``--records 9244728`` for as many as the
whole archive. A synthesized file is written first (not timed); then each measurement runs in a process of
its own: unpacking and header fields to arrays, and a whole pass to pages with its peak memory.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from psm_sim.workload.recordings.read import read_recording, ucb_batches_of
from psm_sim.workload.recordings.synthesize import synthesize
from psm_sim.workload.replay import published


def main() -> None:
    """Write a file and measure, or do one measurement on a file given."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=1_000_000, metavar="N")
    parser.add_argument("--file", type=Path, help="an existing file instead")
    parser.add_argument("--measure", choices=MEASUREMENTS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        MEASUREMENTS[args.measure](args.file)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = args.file or Path(folder) / "synthetic.tr.gz"
        if not args.file:
            synthesize(path, args.records, published())
        print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB")
        for name in MEASUREMENTS:
            command = [sys.executable, __file__, "--measure", name, "--file", str(path)]
            print(subprocess.run(command, check=True, capture_output=True, text=True).stdout, end="")


def fields(path: Path) -> None:
    """Time header fields to arrays, as every reader of the format must."""
    begin = time.perf_counter()
    _, batches = ucb_batches_of(path)
    records = sum(batch.fields["rdl"].size for batch in batches)
    _report("header fields to arrays", records, time.perf_counter() - begin)


def pages(path: Path) -> None:
    """Time a pass to pages, as ``trace info`` and ``--trace`` make."""
    begin = time.perf_counter()
    recording = read_recording(path)
    _report(f"to {recording.pages:,} pages", recording.records, time.perf_counter() - begin)


MEASUREMENTS = {"fields": fields, "pages": pages}


def _report(words: str, records: int, seconds: float) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rate = records / seconds / 1e6
    print(f"{words:<28}{records:>11,} records {seconds:>7.2f} s {rate:>6.2f} M/s, peak memory {peak:.0f} MiB")


if __name__ == "__main__":
    main()

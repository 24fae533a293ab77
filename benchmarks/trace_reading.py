"""How fast UCB files are read, and in how much memory.

Run ``python benchmarks/trace_reading.py`` for 1,000,000 records, and with ``--records 9244728`` for as many
as the whole archive. Each step runs in a process of its own, so that peak memory is its own: writing a
synthesized file, unpacking and header fields to arrays, and a whole pass to pages.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from psm_sim.workload.recordings.recording_reader import read_recording, ucb_batches_of
from psm_sim.workload.recordings.synthetic_ucb import synthesize_ucb
from psm_sim.workload.trace_profile import berkeley_profile


def main() -> None:
    """Write a file and measure, or do one measurement on a file given."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=1_000_000, metavar="N")
    parser.add_argument("--file", type=Path, help="an existing file instead")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.step:
        STEPS[args.step](args.file, args.records)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = args.file or Path(folder) / "synthetic.tr.gz"
        for name in [step for step in STEPS if step != "write" or not args.file]:
            command = [
                sys.executable,
                __file__,
                "--step",
                name,
                "--file",
                path,
                "--records",
                str(args.records),
            ]
            print(subprocess.run(command, check=True, capture_output=True, text=True).stdout, end="")


def write(path: Path, records: int) -> None:
    """Write a synthesized file."""
    begin = time.perf_counter()
    synthesize_ucb(path, records, berkeley_profile())
    _report("synthesized and gzipped", records, time.perf_counter() - begin)


def fields(path: Path, _: int) -> None:
    """Time header fields to arrays, as every reader of the format must."""
    begin = time.perf_counter()
    _source, batches = ucb_batches_of(path)
    records = sum(batch.fields["rdl"].size for batch in batches)
    _report("header fields to arrays", records, time.perf_counter() - begin)


def pages(path: Path, _: int) -> None:
    """Time a pass to pages, as ``trace info`` and ``--trace`` make."""
    begin = time.perf_counter()
    recording = read_recording(path)
    _report(f"to {recording.pages:,} pages", recording.records, time.perf_counter() - begin)


STEPS = {"write": write, "fields": fields, "pages": pages}


def _report(words: str, records: int, seconds: float) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rate = records / seconds / 1e6
    print(f"{words:<28}{records:>11,} records {seconds:>7.2f} s {rate:>6.2f} M/s, peak memory {peak:.0f} MiB")


if __name__ == "__main__":
    main()

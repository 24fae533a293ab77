"""Large malicious files: an error of one sentence, in little memory. tests/fuzz has small files."""

from __future__ import annotations

import tracemalloc
import zlib
from pathlib import Path

import numpy as np
import pytest

from psm_sim.common.errors import InputError
from psm_sim.workload import load_workload
from tests.workload.recordings import captures


def bomb() -> bytes:
    """Return 100 MB of spaces in 100 KB."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([*(packer.compress(b"{" + b" " * (1 << 20)) for _ in range(100)), packer.flush()])


LARGE = {
    "a line of 10 MB in a page list": (
        "csv",
        lambda: b"page,think_s,main_bytes,images\n4,2,3," + b"4;" * 5_000_000,
    ),
    "a line of 10 MB in showtrace text": ("txt", lambda: b"1:2 3:4 " + b"5" * 10_000_000),
    "a string of 10 MB in JSON": ("har", lambda: b'{"log": "' + b"x" * 10_000_000 + b'"}'),
    "NUL bytes": ("tr", lambda: b"\0" * 10_000_000),
    "JSON nested 100,000 deep": ("har", lambda: b'{"log":' * 100_000),
    "TOML nested 100,000 deep": ("toml", lambda: b"x = " + b"[" * 100_000),
    "a gzip bomb as JSON": ("har.gz", bomb),
    "a capture of packets without bytes": ("pcap", lambda: captures.pcap([]) + bytes(1_000_000)),
    "a capture of blocks without content": ("pcapng", lambda: captures.section() * 20_000),
    "a capture with a block of 16 MB": (
        "pcapng",
        lambda: captures.section() + captures.block(9, bytes(16_000_000)),
    ),
    "random bytes": ("tr", lambda: np.random.default_rng(1).bytes(5_000_000)),
}


@pytest.mark.parametrize("name", LARGE)
def test_a_large_hostile_file_takes_at_most_twice_its_size_in_memory(tmp_path: Path, name: str) -> None:
    """The file is an error. tracemalloc has at most twice its size and a few buffers."""
    ending, make = LARGE[name]
    path = tmp_path / f"large.{ending}"
    path.write_bytes(make())
    with pytest.raises(InputError, match="large"):
        load_workload(str(path), 10, 1)
    tracemalloc.start()
    try:
        with pytest.raises(InputError):
            load_workload(str(path), 10, 1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    unpacked = 16 << 20 if ending.endswith(".gz") else path.stat().st_size
    assert peak < 2 * unpacked + (8 << 20)

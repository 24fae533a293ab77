"""Files that are damaged, cut, mixed up or meant to harm: an error in one line, or usable pages.

A thousand cases run with the tests; 100,000 with

    PSM_SIM_HOSTILE_CASES=100000 python -m pytest tests/workload/recordings/test_hostile_files.py
"""

from __future__ import annotations

import gzip
import json
import math
import os
import time
import tracemalloc
import zlib
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from psm_sim.common.bundled_files import bundled_dir
from psm_sim.common.errors import InputError
from psm_sim.workload import load_workload
from psm_sim.workload.recordings.synthetic_ucb import synthesize_ucb
from psm_sim.workload.recordings.ucb_format import write_records
from psm_sim.workload.trace_profile import berkeley_profile
from tests.workload.recordings import captures

CASES = int(os.environ.get("PSM_SIM_HOSTILE_CASES", "1000"))
PARTS = 10

BU = b'cs20 785526125 9 "http://x/" 2009 0.5\ncs20 785526127 9 "http://x/a.gif" 1804 0.4\n' * 4
PAGES = b"page,think_s,main_bytes,images,request_bytes\n1,2.5,1000,2;3,99\n2,0,6,,\n" + b"3,1,5,6,7\n" * 9
ODD_NUMBERS = (
    b"-1",
    b"1e309",
    b"nan",
    b"9" * 400,
    b"4294967295",
    b"0",
    b"1e-320",
    b"0x10",
    "\u0663".encode(),
    b"",
)
ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1e308,
    "",
    "-1",
    "NaN",
    [],
    {},
    [[]],
    {"a": 1},
    10**30,
    "\ud800",
    "x" * 5000,
)


def har():
    """A small file of two pages."""
    entry = {
        "pageref": "p1",
        "startedDateTime": "2024-05-01T10:00:00.5Z",
        "time": 100,
        "request": {"url": "https://x/", "headersSize": 300, "bodySize": 0},
        "response": {
            "status": 200,
            "headersSize": 9,
            "bodySize": 99,
            "content": {"size": 5, "mimeType": "text/html"},
        },
        "timings": {"blocked": 1, "dns": -1, "connect": -1, "send": 1, "wait": 50, "receive": 2},
        "_transferSize": 700,
    }
    later = entry | {"pageref": "p2", "startedDateTime": "2024-05-01T10:00:30.5Z"}
    return {"log": {"version": "1.2", "pages": [{"id": "p1"}, {"id": "p2"}], "entries": [entry, later]}}


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory):
    """Good files of every format, by the ending of their name."""
    folder = tmp_path_factory.mktemp("seeds")
    synthesize_ucb(folder / "s.tr", 12, berkeley_profile())
    from psm_sim.workload.recordings.recording_reader import ucb_batches_of

    _, batches = ucb_batches_of(folder / "s.tr")
    write_records(folder / "s.txt", (record for batch in batches for record in batch.records()))
    binary, text = (folder / "s.tr").read_bytes(), (folder / "s.txt").read_bytes()
    return {
        "tr": binary,
        "txt": text,
        "tr.gz": gzip.compress(binary),
        "bu": BU,
        "har": json.dumps(har()).encode(),
        "har.gz": gzip.compress(json.dumps(har()).encode()),
        "csv": PAGES,
        "toml": (bundled_dir("traces") / "ucb.toml").read_bytes(),
    }


def cut(data, chance):
    """A piece of it."""
    return data[: chance.randrange(len(data) + 1)]


def flip(data, chance):
    """Some bits the other way."""
    made = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 8, 64))):
        made[chance.randrange(len(made))] ^= 1 << chance.randrange(8)
    return bytes(made)


def splice(data, chance):
    """A piece left out, doubled, or replaced by random bytes."""
    low, high = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    middle = chance.choice(
        (b"", data[low:high] * 2, chance.randbytes(chance.randrange(40)), b"\0" * 7, b"\n")
    )
    return data[:low] + middle + data[high:]


def renumber(data, chance):
    """One of its numbers, replaced by an odd one."""
    words = data.replace(b",", b" , ").replace(b":", b" : ").split(b" ")
    places = [k for k, word in enumerate(words) if word.isdigit()] or [0]
    words[chance.choice(places)] = chance.choice(ODD_NUMBERS)
    return b" ".join(words).replace(b" , ", b",").replace(b" : ", b":")


def reencode(data, chance):
    """As if saved in another encoding."""
    text = data.decode("latin-1")
    return text.encode(chance.choice(("utf-16", "utf-32", "utf-8-sig", "utf-16-be", "cp037")), "replace")


def noise(data, chance):
    """Nothing of it left: random bytes, perhaps after its first ones."""
    return data[: chance.choice((0, 0, 2, 10, 64))] + chance.randbytes(chance.randrange(300))


def restructure(_, chance):
    """A HAR file with one value replaced by another of any kind."""
    document = har()
    node = document
    while True:
        key = chance.choice(list(node) if isinstance(node, dict) else range(len(node)))
        if not (isinstance(node[key], (dict, list)) and node[key]) or chance.random() < 0.2:
            break
        node = node[key]
    node[key] = chance.choice(ODD_VALUES)
    return json.dumps(document).encode()


HARMS = (cut, flip, flip, splice, renumber, reencode, noise, restructure)


def hostile(seeds, number):
    """The file of one case, and the ending of its name."""
    chance = Random(number)  # noqa: S311
    ending = chance.choice(list(seeds))
    data = seeds[ending]
    if ending.endswith(".gz") and chance.random() < 0.7:
        return gzip.compress(chance.choice(HARMS)(gzip.decompress(data), chance), 1), ending
    for _ in range(chance.choice((1, 1, 1, 2))):
        data = chance.choice(HARMS)(data, chance) if data else data
    return data, ending if chance.random() < 0.8 else "dat"


def check(path, parameters=""):
    """Load a file: usable pages or an error in one line; nothing else, and soon."""
    begin = time.perf_counter()
    try:
        pages = load_workload(f"{path}{parameters}", 10, 1).pages
    except InputError as refused:
        message = str(refused)
        usable = "\n" not in message and message.endswith((".", "?")) and len(message) < 1000
    else:
        usable = 1 <= len(pages) <= 10 and all(is_usable(page) for page in pages)
        message = repr(pages)
    return usable and time.perf_counter() - begin < 5, message


def is_usable(page):
    """Whether a page can be simulated."""
    return (
        0 <= page.think_s < math.inf
        and min(page.main_bytes, *page.image_bytes, *page.request_bytes) >= 1
        and all(0 <= delay < math.inf for delay in page.server_delay_s)
        and len(page.request_bytes) == len(page.server_delay_s) == page.objects
    )


@pytest.mark.parametrize("part", range(PARTS))
def test_a_damaged_file_gives_usable_pages_or_one_line(tmp_path: Path, seeds, part) -> None:
    """Cuts, flipped bits, splices, odd numbers, other encodings, noise, JSON of another shape."""
    for number in range(part, CASES, PARTS):
        data, ending = hostile(seeds, number)
        path = tmp_path / f"case.{ending}"
        path.write_bytes(data)
        parameters = ":workload=sample" if number % 7 == 0 and ending not in ("csv", "toml") else ""
        usable, message = check(path, parameters)
        assert usable, f"case {number} ({ending}): {message}"


def bomb():
    """100 MB of spaces in 100 KB."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([*(packer.compress(b"{" + b" " * (1 << 20)) for _ in range(100)), packer.flush()])


LARGE = {
    "a line of 10 MB in a page list": (
        "csv",
        lambda: PAGES + b"4,2,3," + b"4;" * 5_000_000,
    ),
    "a header of 10 MB": ("csv", lambda: b"p" * 10_000_000),
    "a line of 10 MB in showtrace text": ("txt", lambda: b"1:2 3:4 " + b"5" * 10_000_000),
    "a line of 10 MB in a log": ("bu", lambda: BU + b"x" * 10_000_000),
    "a string of 10 MB in JSON": ("har", lambda: b'{"log": "' + b"x" * 10_000_000 + b'"}'),
    "NUL bytes": ("tr", lambda: b"\0" * 10_000_000),
    "JSON nested 100,000 deep": ("har", lambda: b'{"log":' * 100_000),
    "lists nested 100,000 deep": ("har", lambda: b'{"log":' + b"[" * 100_000),
    "TOML nested 100,000 deep": ("toml", lambda: b"x = " + b"[" * 100_000),
    "a gzip bomb as JSON": ("har.gz", bomb),
    "a gzip bomb as a page list": ("csv.gz", bomb),
    "a capture of packets without bytes": ("pcap", lambda: captures.pcap([]) + bytes(4_000_000)),
    "a capture of blocks without content": ("pcapng", lambda: captures.section() * 70_000),
    "a capture with a block of 16 MB": (
        "pcapng",
        lambda: captures.section() + captures.block(9, bytes(16_000_000)),
    ),
    "random bytes": ("tr", lambda: np.random.default_rng(1).bytes(5_000_000)),
}


@pytest.mark.parametrize("name", LARGE)
def test_a_large_hostile_file_takes_no_more_than_twice_its_size(tmp_path: Path, name) -> None:
    """An error, and memory (as tracemalloc counts it) under twice the input and a few buffers."""
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

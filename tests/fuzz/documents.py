"""Valid documents of every kind that the program reads, and damage to them."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from random import Random
from typing import Any

from psm_sim.common.input_files import bundled_dir
from psm_sim.network.topology import topology_keys
from tests.workload.recordings import captures
from tests.workload.recordings.ucb_files import write_sampled

TIMES_MS = [float(100 * (k + 1)) for k in range(12)]
ODD: tuple[str, ...] = (
    "0", "-0.0", "-1", "nan", "inf", "-inf", "1e308", "1e-320", "1e999", "0x1", "1_000", "٣", "true", "none",
    "None", "1e9", "2e9", "4294967296", "1;2", "a", "[", "'", "9" * 40, "9" * 5000, "", " ", "\x1b[2J", "Ti",
    "eval", "__import__", "where", "@", "//", " if ", ",", "(", "\u202e", "\n",
)  # fmt: skip
ODD_VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1e308, 10**30, float("nan"), "", "-1", "NaN", [], {}, [[]], {"a": 1}, "\ud800",
    "x" * 5000,
)  # fmt: skip
FORMULAS = (
    "gamma * I * Ti**2 / (2*T) + 1/log(Ti)",
    "where(I > 0 and T < 9, Ti, 1/Ti) % 7",
    "max(1, min(I, T), 2) if not I < T else sqrt(abs(-3e2)) - log1p(exp(-Ti / 100))",
)
PAGES = (
    "page,think_s,main_bytes,images,request_bytes,server_delay_s\n1,2.5,1000,2;3,99,0.1;0.2;0.3\n2,0,6,,,\n"
)
OPTIONS = (
    "--policy bsd:p=0.5,max_sleep_ms=none --trace ucb:max_think_s=9 --pages 2 --seed 3",
    "--policy lpsm --loss 1/Ti --set links.wired.latency_ms=5 --set browser.connections=2 --pages 1",
    "--policy psm:listen_interval=3 --topology modern --preset plain --pages 1 --no-baselines",
    "trace info modern:request_bytes=300",
)


def _har() -> dict[str, Any]:
    entry = {
        "pageref": "p1", "startedDateTime": "2024-05-01T10:00:00.5Z", "time": 100,
        "request": {"url": "https://x/", "headersSize": 300, "bodySize": 0},
        "response": {"status": 200, "headersSize": 9, "bodySize": 99, "content": {"size": 5}},
        "timings": {"blocked": 1, "dns": -1, "connect": -1, "send": 1, "wait": 50, "receive": 2},
        "_transferSize": 700, "_bytesOut": 3, "_load_start": 1, "_load_end": 2, "_fromCache": "",
    }  # fmt: skip
    later = entry | {"pageref": "p2", "startedDateTime": "2024-05-01T12:00:30.123456789+01:00"}
    pages = [{"id": "p1", "_run": 1}, {"id": "p2"}]
    return {"log": {"version": "1.2", "creator": {"name": "x"}, "pages": pages, "entries": [entry, later]}}


def _captures() -> list[bytes]:
    hosts = (("10.0.0.2", "8.8.8.8"), ("8.8.8.8", "10.0.0.2"), ("fd00::2", "2001:db8::1"))
    packets = [
        captures.packet(*ends, 40 * protocol, protocol, (80, 5000), 7, 0x10)
        for ends in hosts
        for protocol in (1, 6, 17)
    ]
    files = []
    for number, (link, frame) in enumerate(captures.FRAMES.values()):
        frames = [(1000 + k, frame(packet)) for k, packet in enumerate(packets)]
        files.append(captures.pcap(frames, link, "<>"[number % 2], number % 3 == 0, (0, 40)[number % 2]))
        head = captures.section() + captures.interface(link, resolution=(None, 9)[number % 2])
        files.append(head + b"".join(captures.enhanced(content, at_s * 10**6) for at_s, content in frames))
    return files


def valid_documents(folder: Path) -> dict[str, list[bytes]]:
    """Return valid documents of each kind; *folder* is for temporary files."""
    write_sampled(folder / "s.tr", 12)
    write_sampled(folder / "s.txt", 12)
    return {
        "formulas": [text.encode() for text in FORMULAS],
        "topologies": [
            "".join(f"{key} = 1\n" for key in topology_keys()).encode(),
            *(path.read_bytes() for path in sorted(bundled_dir("topologies").glob("*.toml"))),
        ],
        "profiles": [path.read_bytes() for path in sorted(bundled_dir("traces").glob("*.toml"))],
        "page lists": [PAGES.encode()],
        "HAR files": [json.dumps(_har()).encode()],
        "UCB files": [(folder / "s.tr").read_bytes(), (folder / "s.txt").read_bytes()],
        "captures": _captures(),
        "options": [text.encode() for text in OPTIONS],
    }


def _lose(data: bytes, chance: Random) -> bytes:
    """Return a truncated document."""
    return data[: chance.randint(0, len(data))]


def _splice(data: bytes, chance: Random) -> bytes:
    """Return the document with one to three pieces removed, doubled, reversed, changed or inserted."""
    for _ in range(chance.randint(1, 3)):
        at, length = chance.randint(0, len(data)), chance.choice((1, 1, 2, 8, 60))
        piece = data[at : at + length]
        odd = chance.choice(ODD).encode()
        put = chance.choice((b"", piece * 2, piece[::-1], chance.randbytes(len(piece)), b"\0", b"\xff", odd))
        data = data[:at] + put + data[at + length :]
    return data


def _reword(data: bytes, chance: Random) -> bytes:
    """Return the document with one or two of its words or numbers replaced by odd ones."""
    for _ in range(chance.randint(1, 2)):
        if matches := list(re.finditer(rb"[\w.]+", data)):
            start, end = chance.choice(matches).span()
            data = data[:start] + chance.choice(ODD).encode() + data[end:]
    return data


def _restructure(data: bytes, chance: Random) -> bytes:
    """Return a JSON document with one value, at any depth, replaced by one of any kind."""
    try:
        document = node = json.loads(data)
    except ValueError:
        return _reword(data, chance)
    while True:
        key = chance.choice(list(node) if isinstance(node, dict) else range(len(node)))
        if not (isinstance(node[key], (dict, list)) and node[key]) or chance.random() < 0.2:
            node[key] = chance.choice(ODD_VALUES)
            return json.dumps(document).encode()
        node = node[key]


def _reencode(data: bytes, chance: Random) -> bytes:
    """Return the document in another encoding, packed, or as random bytes behind its first ones."""
    encoding = chance.choice(("utf-16", "utf-32", "utf-8-sig", "cp037"))
    return chance.choice((
        data.decode("latin-1").encode(encoding, "replace"),
        gzip.compress(data, 1),
        data[: chance.choice((0, 2, 10, 64))] + chance.randbytes(chance.randrange(300)),
    ))  # fmt: skip


def damaged(data: bytes, chance: Random) -> bytes:
    """Return a document with damage of some kinds, or none."""
    harms = (_lose, _splice, _splice, _reword, _reword, _restructure, _restructure, _reencode)
    for _ in range(chance.choice((0, 1, 1, 1, 2))):
        data = chance.choice(harms)(data, chance)
    return data

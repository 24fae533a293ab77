"""UCB Home IP files for tests."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from ipaddress import IPv4Address
from pathlib import Path

from psm_sim.workload import load_workload
from psm_sim.workload.recordings.ucb import HEADER, UNDEFINED, Record

BEGIN_S = 846_890_339
MODEM_BYTES_PER_S = 3600

SHOWTRACE = (
    "846890340:0 846890340:90000 846890340:95000 10.0.0.1:1024 20.0.0.1:80 2 8 0 0 0 9 2000 20"
    " GET 1..html HTTP/1.0\n"
    "846890350:0 846890350:90000 846890350:95000 10.0.0.1:1024 20.0.0.1:80 2 8 0 0 0 9 2000 20"
    " GET 2..html HTTP/1.0\n"
)
"""Two pages of one client, in the text format."""


def record(at_s, client=1, server=9, size=1000, delay_s=0.1, took_s=0.5, kind="..html", **changes) -> Record:
    """Return a record with times in seconds from the start; None is undefined."""

    def time(value_s):
        if value_s is None:
            return UNDEFINED, UNDEFINED
        return divmod(BEGIN_S * 1_000_000 + round(value_s * 1e6), 1_000_000)

    first = None if delay_s is None or at_s is None else at_s + delay_s
    last = None if took_s is None or at_s is None else at_s + took_s
    times = (*time(at_s), *time(first), *time(last))
    line = changes.pop("line", f"GET 123{kind} HTTP/1.0".encode())
    others = (client, 1024, server, 80, 2, 8, UNDEFINED, UNDEFINED, UNDEFINED)
    sizes = (min(size, 100), size - min(size, 100), len(line))
    return Record._make((*times, *others, *sizes, line))._replace(**changes)


def binary(record: Record) -> bytes:
    """Return a record in the binary format."""
    return HEADER.pack(*record[:-1]) + record.line


def text(record: Record) -> bytes:
    """Return a record as the line that ``showtrace`` prints. Its request line must be a single line."""
    times = f"{record.crs}:{record.cru} {record.srs}:{record.sru} {record.sls}:{record.slu}"
    hosts = f"{IPv4Address(record.cip)}:{record.cpt} {IPv4Address(record.sip)}:{record.spt}"
    return f"{times} {hosts} {' '.join(map(str, record[10:-1]))} ".encode() + record.line + b"\n"


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Write records; the name selects text (``.txt``) and compression (``.gz``)."""
    data = b"".join(map(text if ".txt" in path.suffixes else binary, records))
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def write_sampled(path: Path, records: int, clients: int = 3) -> None:
    """Write pages sampled from ``ucb`` as the requests of some clients over modems of 28.8 kbit/s."""
    pages = iter(load_workload("ucb:max_think_s=none", records, 1).pages)
    timed: list[tuple[float, Record]] = []
    for client in range(1, clients + 1):
        end_s, quota = 100.0 * client, records * client // clients
        while len(timed) < quota:
            page = next(pages)
            start_s = end_s + page.think_s
            for number, size in enumerate((page.main_bytes, *page.image_bytes)):
                delay_s = page.server_delay_s[number]
                at_s = start_s + (page.server_delay_s[0] + 0.02 * number if number else 0)
                took_s = delay_s + size / MODEM_BYTES_PER_S
                end_s = max(end_s, at_s + took_s)
                kind = "..gif" if number else "..html"
                timed.append((at_s + took_s, record(at_s, client, 9, size, delay_s, took_s, kind)))
        del timed[quota:]
    write_records(path, [item for _, item in sorted(timed, key=lambda pair: pair[0])])

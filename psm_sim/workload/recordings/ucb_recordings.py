"""Conversion of UCB Home IP traces to recordings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from psm_sim.workload.recordings.chunk_reader import ChunkReader
from psm_sim.workload.recordings.page_grouping import (
    ClientRequests,
    PageRule,
    group_requests,
    suffix_is_secondary,
)
from psm_sim.workload.recordings.recording import UNKNOWN, Recording
from psm_sim.workload.recordings.ucb_format import UNDEFINED, Batch, dotted_quad

_MAX_US = 2**31 - 1
_TAIL = re.compile(rb"\.q?c?(\.\S*)?(?: HTTP/1\.[01])?", re.DOTALL)


def ucb_recording(
    source: ChunkReader, batches: Iterator[Batch], rule: PageRule, file_format: str
) -> Recording:
    """Read all batches and group their requests into pages.

    Records without response bytes or without a request time are skipped. The server delay is the time from
    the request to the first byte of the response at the monitor, which is in front of the modems. It is
    unknown for a stopped response, and for a response that a clock jump puts before its request.

    Parameters
    ----------
    source : ChunkReader
        File, whose warnings are copied to the recording.
    batches : iterator of Batch
        Records of the file. They are consumed.
    rule : PageRule
        Rule that groups requests into pages.
    file_format : str
        Description of the file format.
    """
    with ClientRequests() as requests:
        clients, records, untimed = collect(requests, batches)
        omitted = (f"{untimed:,} records without a request time were omitted",) if untimed else ()
        notes = (*source.warnings, *omitted)
        return group_requests(requests, clients, rule, format=file_format, records=records, warnings=notes)


def collect(requests: ClientRequests, batches: Iterator[Batch]) -> tuple[tuple[str, ...], int, int]:
    """Add all usable records to *requests*.

    Return the names of the clients, the number of records, and the number of records without a time.
    """
    clients, records, untimed = _Clients(), 0, 0
    for batch in batches:
        records += batch.fields.size
        at_us, timed = _time_us(batch.fields, "cr")
        size = _bytes_seen(batch.fields)
        usable = timed & (size > 0)
        untimed += int((~timed).sum())
        fields, at_us = batch.fields[usable], at_us[usable]
        requests.extend(
            client=clients.codes(fields["cip"]),
            server=fields["sip"],
            at_us=at_us,
            took_us=np.maximum(_since_us(fields, ("sl", "sr"), at_us), 0),
            delay_us=_since_us(fields, ("sr",), at_us),
            size=np.minimum(size[usable], UNDEFINED),
            secondary=np.fromiter(map(is_secondary, batch.lines), np.bool_, len(batch.lines))[usable],
        )
    return clients.names(), records, untimed


class _Clients:
    """Mapping from addresses to client numbers, in order of first appearance."""

    def __init__(self) -> None:
        self._codes: dict[int, int] = {}

    def codes(self, addresses: NDArray[np.uint32]) -> NDArray[np.int32]:
        """Return the number of each address."""
        distinct, inverse = np.unique(addresses, return_inverse=True)
        codes = [self._codes.setdefault(address, len(self._codes)) for address in distinct.tolist()]
        return np.array(codes, dtype=np.int32)[inverse]

    def names(self) -> tuple[str, ...]:
        """Return the addresses as dotted quads, by number."""
        return tuple(dotted_quad(address) for address in self._codes)


def _time_us(fields: NDArray[np.void], event: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the time of an event in microseconds, and whether it is defined."""
    seconds, micros = fields[event + "s"], fields[event + "u"]
    defined = (seconds != UNDEFINED) & (micros != UNDEFINED)
    return seconds.astype(np.int64) * 1_000_000 + micros, defined


def _since_us(
    fields: NDArray[np.void], events: tuple[str, ...], at_us: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the microseconds from the request to the first defined event, or ``UNKNOWN``.

    Parameters
    ----------
    fields
        Records, shape (n,).
    events
        Prefixes of the event's fields, in order of preference.
    at_us
        Time of each request in microseconds, shape (n,).
    """
    since = np.full(at_us.size, UNKNOWN, dtype=np.int64)
    for event in events:
        time_us, defined = _time_us(fields, event)
        usable = defined & (since == UNKNOWN) & (time_us >= at_us)
        since[usable] = np.minimum(time_us[usable] - at_us[usable], _MAX_US)
    return since


def _bytes_seen(fields: NDArray[np.void]) -> NDArray[np.int64]:
    """Return the size of response header and data in bytes; undefined parts count as 0."""
    parts = (np.where(fields[name] == UNDEFINED, 0, fields[name]).astype(np.int64) for name in ("rhl", "rdl"))
    return sum(parts, start=np.zeros(fields.size, dtype=np.int64))


def is_secondary(line: bytes) -> bool:
    """Return whether a request line requests an embedded object, according to its suffix."""
    return _tail_is_secondary(line[line.find(b".") :])


@lru_cache(maxsize=10_000)
def _tail_is_secondary(tail: bytes) -> bool:
    match = _TAIL.fullmatch(tail)
    return match is not None and suffix_is_secondary((match[1] or b"").decode("latin-1"))

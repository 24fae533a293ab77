"""UCB Home IP trace as a recording."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from psm_sim.workload.recordings.chunk_reader import ChunkReader
from psm_sim.workload.recordings.client_requests import ClientRequests
from psm_sim.workload.recordings.page_grouping import PageRule, group_requests
from psm_sim.workload.recordings.recording import UNKNOWN, Recording
from psm_sim.workload.recordings.request_line import is_secondary
from psm_sim.workload.recordings.ucb_batches import Batch
from psm_sim.workload.recordings.ucb_record import UNDEFINED, dotted

_MAX_US = 2**31 - 1


def ucb_recording(source: ChunkReader, batches: Iterator[Batch], rule: PageRule, form: str) -> Recording:
    """Read all batches and group their requests into pages.

    Records of which no byte of a response was seen, or without a request time, are skipped. The server's
    delay is the time from the request to the response's first byte, as the monitor saw it before the
    modems; a response that was stopped, or that a clock jump puts before its request, has none.

    Parameters
    ----------
    source : Source
        The file, whose warnings are passed on.
    batches : iterator of Batch
        Its records, which are used up.
    rule : PageRule
        The rule by which a request belongs to a page.
    form : str
        The kind of file, in words.
    """
    with ClientRequests() as requests:
        clients, records, untimed = collect(requests, batches)
        odd = (f"{untimed:,} records without a request time are left out",) if untimed else ()
        notes = (*source.warnings, *odd)
        return group_requests(requests, clients, rule, format=form, records=records, warnings=notes)


def collect(requests: ClientRequests, batches: Iterator[Batch]) -> tuple[tuple[str, ...], int, int]:
    """Add all usable records; return the clients, and the numbers of records in all and without a time."""
    clients, records, untimed = _Clients(), 0, 0
    for batch in batches:
        records += batch.fields.size
        at_us, timed = _time_us(batch.fields, "cr")
        size = _bytes_seen(batch.fields)
        kept = timed & (size > 0)
        untimed += int((~timed).sum())
        fields, at_us = batch.fields[kept], at_us[kept]
        requests.extend(
            client=clients.codes(fields["cip"]),
            server=fields["sip"],
            at_us=at_us,
            took_us=np.maximum(_since_us(fields, ("sl", "sr"), at_us), 0),
            delay_us=_since_us(fields, ("sr",), at_us),
            size=np.minimum(size[kept], UNDEFINED),
            secondary=np.fromiter(map(is_secondary, batch.lines), np.bool_, len(batch.lines))[kept],
        )
    return clients.names(), records, untimed


class _Clients:
    """Clients' numbers by address, in order of appearance in the file's batches."""

    def __init__(self) -> None:
        self._codes: dict[int, int] = {}

    def codes(self, addresses: NDArray[np.uint32]) -> NDArray[np.int32]:
        """Return the number of each address."""
        found, inverse = np.unique(addresses, return_inverse=True)
        codes = [self._codes.setdefault(address, len(self._codes)) for address in found.tolist()]
        return np.array(codes, dtype=np.int32)[inverse]

    def names(self) -> tuple[str, ...]:
        """Return the addresses as dotted quads, by number."""
        return tuple(dotted(address) for address in self._codes)


def _time_us(fields: NDArray[np.void], event: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the time of an event in microseconds, and whether it is defined."""
    seconds, micros = fields[event + "s"], fields[event + "u"]
    defined = (seconds != UNDEFINED) & (micros != UNDEFINED)
    return seconds.astype(np.int64) * 1_000_000 + micros, defined


def _since_us(
    fields: NDArray[np.void], events: tuple[str, ...], at_us: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the time from the request to the first of *events* that is defined, or ``UNKNOWN``."""
    since = np.full(at_us.size, UNKNOWN, dtype=np.int64)
    for event in events:
        time_us, defined = _time_us(fields, event)
        usable = defined & (since == UNKNOWN) & (time_us >= at_us)
        since[usable] = np.minimum(time_us[usable] - at_us[usable], _MAX_US)
    return since


def _bytes_seen(fields: NDArray[np.void]) -> NDArray[np.int64]:
    """Return the bytes of response header and data, an undefined part counting nothing."""
    parts = (np.where(fields[name] == UNDEFINED, 0, fields[name]).astype(np.int64) for name in ("rhl", "rdl"))
    return sum(parts, start=np.zeros(fields.size, dtype=np.int64))

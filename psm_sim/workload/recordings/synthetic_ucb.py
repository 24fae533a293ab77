"""Generator of synthetic UCB Home IP files, for tests and benchmarks.

Think times, files per page, reply sizes and server delays are sampled from a trace profile, so fitting the
file returns that profile. A response takes as long as over a modem of 28.8 kb/s. Embedded objects are
requested as soon as the main object begins to arrive. As in the archive, records are ordered by completion, a
client has about 1,100 of them, and the file consists of periods with separate clients.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.errors import InputError
from psm_sim.common.output_files import atomic_write_gzip
from psm_sim.common.progress import Progress
from psm_sim.common.random_streams import random_stream
from psm_sim.workload.page_sampler import PageSampler, PageSampling
from psm_sim.workload.recordings.ucb_format import DTYPE, UNDEFINED, Batch, batch_bytes
from psm_sim.workload.trace_profile import Profile

PERIOD = 500_000
RECORDS_PER_CLIENT = 1_100
START_S = 846_890_339
MODEM_BYTES_PER_S = 3_600
BETWEEN_IMAGES_US = 20_000
HEADER_BYTES = 170

_MAIN = (b"..html", b".", b"..htm", b".q.cgi", b".c")
_EMBEDDED = (b"..gif", b"..gif", b"..jpg", b"..jpeg")
_Numbers = NDArray[np.int64]


def synthesize_ucb(
    path: Path, records: int, profile: Profile, seed: int = 1, progress: Progress | None = None
) -> int:
    """Write a synthetic UCB file and return its number of clients.

    Parameters
    ----------
    path : Path
        File to write; gzipped if the name ends in ``.gz``.
    records : int
        Number of records, at least 1.
    profile : Profile
        Distributions.
    seed : int
        Random seed, 0 or more.
    progress : callable, optional
        Called with the number of records written so far and the total number.

    Raises
    ------
    InputError
        If *records* is invalid or the file cannot be written.
    """
    if isinstance(records, bool) or not isinstance(records, int) or records < 1:
        raise InputError(f"records must be an integer >= 1, got {records!r}.")
    done, clients = 0, 0
    with atomic_write_gzip(path) as file:
        for batch in period_batches(records, profile, seed):
            file.write(batch_bytes(batch))
            clients += np.unique(batch.fields["cip"]).size
            done += len(batch.lines)
            if progress:
                progress(done, records, path.name)
    return clients


def period_batches(records: int, profile: Profile, seed: int) -> Iterator[Batch]:
    """Yield one batch per period, each with separate clients and ordered by completion.

    Parameters
    ----------
    records, profile, seed
        See :func:`synthesize_ucb`.
    """
    start_us = START_S * 1_000_000
    for number, done in enumerate(range(0, records, PERIOD)):
        batch = _period(min(PERIOD, records - done), profile, seed, number, start_us)
        last = batch.fields[-1]
        start_us = int(last["sls"]) * 1_000_000 + int(last["slu"])
        yield batch


def _period(records: int, profile: Profile, seed: int, number: int, start_us: int) -> Batch:
    """Return a period with *records* records of sampled pages, sorted by completion."""
    random = random_stream(seed, "synthesize", number)
    # Keep the complete tail, because a fit must return the published distribution.
    sampling = PageSampling(max_think_s=None, wander=None)
    sampler = PageSampler(profile, sampling, seed, number)
    files = sampler.integers("files_per_page", _pages_for(records, profile))
    page = np.repeat(np.arange(files.size), files)[:records]
    files = np.bincount(page)
    size = np.array(sampler.sizes(files - 1))
    delay_us = np.rint(np.array(sampler.delays(files - 1)) * 1e6).astype(np.int64)
    think_us = np.rint(sampler.think_times(files.size) * 1e6).astype(np.int64)
    client = np.arange(files.size) * max(1, round(records / RECORDS_PER_CLIENT)) // files.size
    at_us, took_us = _times(page, files, size, delay_us, think_us, client, random)
    fields = _fields(page, client, size, start_us + at_us, delay_us, took_us, random)
    first = np.append(True, page[1:] != page[:-1])
    lines = _lines(first, random)
    fields["urllen"] = [len(line) for line in lines]
    order = np.argsort(at_us + took_us, kind="stable")
    return Batch(fields[order], [lines[k] for k in order.tolist()])


def _pages_for(records: int, profile: Profile) -> int:
    """Return a number of pages that is sufficient for *records* files."""
    return round(records / profile.tables["files_per_page"].mean * 1.1) + 10


def _times(
    page: _Numbers,
    files: _Numbers,
    size: _Numbers,
    delay_us: _Numbers,
    think_us: _Numbers,
    client: _Numbers,
    random: np.random.Generator,
) -> tuple[_Numbers, _Numbers]:
    """Return the time of each request since the start of the period, and the time until its last byte."""
    took_us = delay_us + size * 1_000_000 // MODEM_BYTES_PER_S
    main = np.cumsum(files) - files
    position = np.arange(page.size) - main[page]
    offset = np.where(position > 0, delay_us[main[page]] + position * BETWEEN_IMAGES_US, 0)
    lasts = np.maximum.reduceat(offset + took_us, main)
    wait = np.roll(lasts, 1) + think_us
    begins = np.append(True, client[1:] != client[:-1])
    wait[begins] = random.integers(0, 4 * 3_600_000_000, int(begins.sum()))
    at = np.cumsum(wait)
    before = (at - wait)[begins]
    return (at - before[client])[page] + offset, took_us


def _fields(
    page: _Numbers,
    client: _Numbers,
    size: _Numbers,
    at_us: _Numbers,
    delay_us: _Numbers,
    took_us: _Numbers,
    random: np.random.Generator,
) -> NDArray[np.void]:
    """Return the header fields of all records."""
    fields = np.zeros(size.size, DTYPE)
    for event, time_us in (("cr", at_us), ("sr", at_us + delay_us), ("sl", at_us + took_us)):
        fields[event + "s"], fields[event + "u"] = np.divmod(time_us, 1_000_000)
    addresses = _distinct_addresses(random, int(client[-1]) + 1)
    fields["cip"] = addresses[client][page]
    fields["cpt"] = random.integers(1024, 5000, size.size)
    fields["sip"] = random.integers(2**24, 2**32 - 2**24, int(page[-1]) + 1)[page]
    fields["spt"], fields["cprg"], fields["sprg"] = 80, 2, 8
    fields["cims"] = fields["sexp"] = UNDEFINED
    fields["slmd"] = fields["crs"] - random.integers(0, 365 * 86_400, size.size)
    fields["rhl"] = np.minimum(size, HEADER_BYTES)
    fields["rdl"] = size - fields["rhl"]
    return fields


def _distinct_addresses(random: np.random.Generator, count: int) -> _Numbers:
    """Return distinct client addresses in random order."""
    candidates = np.unique(random.integers(2**24, 2**32 - 2**24, 2 * count + 10))
    return random.permutation(candidates)[:count]


def _lines(first: NDArray[np.bool_], random: np.random.Generator) -> list[bytes]:
    """Return a request line for each record."""
    hashes = random.integers(0, 2**32, (first.size, 2)).tolist()
    kinds = random.random(first.size).tolist()
    lines = []
    for (high, low), main, kind in zip(hashes, first.tolist(), kinds, strict=True):
        suffixes = _MAIN if main else _EMBEDDED
        lines.append(b"GET %d%d%s HTTP/1.0" % (high, low, suffixes[int(kind * len(suffixes))]))
    return lines

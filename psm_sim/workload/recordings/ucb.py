"""Reader of UCB Home IP traces, binary or text.

A binary record has a header of 60 bytes, which ``logparse.h`` of the archive defines, and an anonymised
request line, ``METHOD HASH.[flags][suffix][ HTTP/1.0]``. The text format is the output of the program
``showtrace`` of the archive. All numbers are unsigned. A number with all bits set means unknown.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from ipaddress import IPv4Address
from typing import NamedTuple

import numpy as np

from psm_sim.common.errors import InputError
from psm_sim.common.formatting import truncate
from psm_sim.common.input_limits import MAX_RECORDS
from psm_sim.workload.recordings.chunk_reader import ChunkReader, lines_of
from psm_sim.workload.recordings.page_grouping import REQUEST_DTYPE, Requests
from psm_sim.workload.recordings.recording import UNKNOWN

METHODS = (b"GET ", b"HEAD ", b"POST ", b"PUT ")
HEADER = struct.Struct(">6I I H I H B B 5I H")
UNDEFINED = 0xFFFFFFFF
"""Value of an unknown field in the UCB format."""

_PAIR = rb"(\d{1,10}):(\d{1,10}) "
_HOST = rb"(\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}):(\d{1,5}) "
# The fields of HEADER as decimal numbers, which have at most 10, 5 or 3 digits.
_TEXT = re.compile(
    _PAIR * 3 + _HOST * 2 + rb"(\d{1,3}) (\d{1,3}) " + rb"(\d{1,10}) " * 5 + rb"(\d{1,5})(?: (.*))?",
    re.DOTALL,
)
_SHOWTRACE = re.compile(rb"\s*\d+:\d+ \d+:\d+ ")
# Suffixes of images, sounds and Java classes, as in Ford's SST client.
_EMBEDDED = re.compile(
    rb"[^.]*\.q?c?\.(?i:gif|jpg|jpeg|tif|jfif|bmp|pjpg|xbm|anm|mid|aif|aiff|au|vox|wav|class|jar)"
    rb"(?: HTTP/1\.[01])?"
)
_MAX_US = 2**31 - 1  # the arrays have 32 bits


class Record(NamedTuple):
    """Record of a request, with the field names of the archive.

    Times have two fields, for example ``crs`` in seconds and ``cru`` in microseconds: ``cr`` is the request,
    ``sr`` the first byte and ``sl`` the last byte of the response. ``cip``, ``cpt``, ``sip`` and ``spt`` are
    the addresses and ports of client and server, and ``cprg`` and ``sprg`` are the flags of their headers.
    ``cims``, ``sexp`` and ``slmd`` are If-Modified-Since, Expires and Last-Modified, in seconds since the
    epoch. ``rhl``, ``rdl`` and ``urllen`` are the sizes of the header and the data of the response, and of
    the request line, in bytes.
    """

    crs: int
    cru: int
    srs: int
    sru: int
    sls: int
    slu: int
    cip: int
    cpt: int
    sip: int
    spt: int
    cprg: int
    sprg: int
    cims: int
    sexp: int
    slmd: int
    rhl: int
    rdl: int
    urllen: int
    line: bytes


def is_binary(head: bytes) -> bool:
    """Return whether *head*, the start of a file, begins with a plausible record of the binary format."""
    if len(head) < HEADER.size:
        return False
    first = Record._make((*HEADER.unpack_from(head), b""))
    line = head[HEADER.size : HEADER.size + min(first.urllen, 4)]
    if line:
        return _may_be_method(line)
    return first.spt == 80 and all(
        micros < 1_000_000 or micros == UNDEFINED for micros in (first.cru, first.sru, first.slu)
    )


def is_showtrace(head: bytes) -> bool:
    """Return whether *head*, the start of a file, begins with a record of the text format."""
    return bool(_SHOWTRACE.match(head))


def read_requests(source: ChunkReader, is_text: bool) -> Requests:
    """Read the requests of a file. Skip records without a request time or without response bytes.

    The server delay is the time from the request to the first byte of the response. Both are recorded by a
    monitor between the modems and the Internet. The delay is unknown if the response was stopped, or if the
    clock of the monitor was set back in between.

    Raises
    ------
    InputError
        If the file cannot be read, or if a record is damaged. The message names the position of the record.
    """
    records = untimed = 0

    def rows() -> Iterator[tuple[int, int, int, int, int, int, bool]]:
        nonlocal records, untimed
        for records, record in enumerate((text_records if is_text else binary_records)(source), 1):
            if records > MAX_RECORDS:
                raise InputError(f"{source.path} has over {MAX_RECORDS:,} records; split it into parts.")
            at_us = _time_us(record.crs, record.cru)
            size = sum(part for part in (record.rhl, record.rdl) if part != UNDEFINED)
            if at_us is None:
                untimed += 1
            elif size:
                delay_us = _since_us(at_us, record.srs, record.sru)
                took_us = _since_us(at_us, record.sls, record.slu)
                took_us = max(delay_us, 0) if took_us == UNKNOWN else took_us
                size = min(size, UNDEFINED)
                yield record.cip, record.sip, at_us, took_us, delay_us, size, is_secondary(record.line)

    table = np.fromiter(rows(), REQUEST_DTYPE)
    addresses, table["client"] = np.unique(table["client"], return_inverse=True)
    omitted = (f"{untimed:,} records without a request time were omitted",) if untimed else ()
    return Requests(
        f"UCB Home IP, {'showtrace text' if is_text else 'binary'}",
        table[np.lexsort((table["at_us"], table["client"]))],
        tuple(str(IPv4Address(address)) for address in addresses.tolist()),
        records,
        (*source.warnings, *omitted),
    )


def binary_records(source: ChunkReader) -> Iterator[Record]:
    """Yield the records of a file in the binary format.

    If the data end inside a record, the record is omitted and ``source.warnings`` gets a warning. The reader
    of the archive accepts such files too.

    Raises
    ------
    InputError
        If a request line does not begin with a method. The file is then damaged from there on.
    """
    rest, base = b"", 0
    for chunk in source.chunks():
        data, at = rest + chunk, 0
        while at + HEADER.size <= len(data):
            fields = HEADER.unpack_from(data, at)
            start, end = at + HEADER.size, at + HEADER.size + fields[-1]
            if end > len(data):
                break
            line = data[start:end]
            if line and not line.startswith(METHODS):
                raise _damaged(source, base + at, line)
            yield Record._make((*fields, line))
            at = end
        rest, base = data[at:], base + at
    if rest:
        line = rest[HEADER.size :]
        if len(line) >= 4 and not _may_be_method(line[:4]):
            raise _damaged(source, base, line)
        source.warnings.append(
            f"the last record, at byte {base:,}, is truncated; its {len(rest)} bytes were omitted"
        )


def text_records(source: ChunkReader) -> Iterator[Record]:
    """Yield the records of showtrace text.

    Raises
    ------
    InputError
        If a line is not a record. The message names the line.
    """
    for number, line in lines_of(source):
        if line.strip():
            try:
                yield record_of_text(line)
            except ValueError as error:
                raise InputError(f"{source.path}, line {number}: {error}.") from None


def record_of_text(line: bytes) -> Record:
    """Convert a line of showtrace text to a record.

    Raises
    ------
    ValueError
        If the line has another format. The caller adds the line number to the message.
    """
    match = _TEXT.fullmatch(line)
    if not match:
        raise ValueError("expected the 13 fields that showtrace prints and a request line")
    *texts, request = match.groups(b"")
    fields = [_address(text) if b"." in text else int(text) for text in texts]
    length = fields[-1]
    # Drop the carriage return of Windows line ends, which the length does not include.
    if len(request) == length + 1 and request.endswith(b"\r"):
        request = request[:-1]
    if len(request) != length:
        raise ValueError(
            f"the request line must have {length} bytes, as in the field before it, got {len(request)}"
        )
    if request and not request.startswith(METHODS):
        shown = truncate(request, 40, b"...")
        raise ValueError(f"the request line must begin with GET, HEAD, POST or PUT, got {shown!r}")
    try:
        return Record._make((*HEADER.unpack(HEADER.pack(*fields)), request))
    except struct.error as error:
        raise ValueError(
            f"a number does not fit its field ({error}); expected unsigned numbers in range"
        ) from None


def _address(text: bytes) -> int:
    parts = [int(part) for part in text.split(b".")]
    if max(parts) > 255:
        raise ValueError("expected addresses as dotted quads, each part at most 255")
    return int.from_bytes(bytes(parts), "big")


def is_secondary(line: bytes) -> bool:
    """Return whether the URL in a request line has the suffix of an embedded object."""
    return _EMBEDDED.fullmatch(line) is not None


def _time_us(seconds: int, micros: int) -> int | None:
    """Return a time in microseconds, or None if it is unknown."""
    return None if UNDEFINED in (seconds, micros) else seconds * 1_000_000 + micros


def _since_us(at_us: int, seconds: int, micros: int) -> int:
    """Return the time since the request at *at_us*, in microseconds, or ``UNKNOWN``."""
    time_us = _time_us(seconds, micros)
    return UNKNOWN if time_us is None or time_us < at_us else min(time_us - at_us, _MAX_US)


def _may_be_method(start: bytes) -> bool:
    return any(method.startswith(start) for method in METHODS)


def _damaged(source: ChunkReader, offset: int, line: bytes) -> InputError:
    return InputError(
        f"{source.path}: the record at byte {offset:,} is damaged; its request line must begin with GET, "
        f"HEAD, POST or PUT, got {line[:12]!r}."
    )

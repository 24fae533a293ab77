"""Record of the UCB Home IP trace, in its two forms: 60 bytes and a request line, or a line of text.

The layout is that of the archive's ``logparse.h``; the text is that of its ``showtrace``. All numbers are
unsigned; all ones mean undefined.
"""

from __future__ import annotations

import re
import struct
from dataclasses import astuple, dataclass

import numpy as np

from psm_sim.errors import InputError
from psm_sim.formatting import truncate
from psm_sim.workload.recordings.request_line import METHODS

HEADER = struct.Struct(">6I I H I H B B 5I H")
SIZE = HEADER.size
FIELDS = (
    *("crs", "cru", "srs", "sru", "sls", "slu", "cip", "cpt", "sip", "spt", "cprg", "sprg"),
    *("cims", "sexp", "slmd", "rhl", "rdl", "urllen"),
)
WIDTHS = (4, 4, 4, 4, 4, 4, 4, 2, 4, 2, 1, 1, 4, 4, 4, 4, 4, 2)
DTYPE = np.dtype([(name, f">u{width}") for name, width in zip(FIELDS, WIDTHS, strict=True)])
UNDEFINED = 0xFFFFFFFF

_PAIR = rb"(\d{1,10}):(\d{1,10}) "
_HOST = rb"(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3}):(\d{1,5}) "
_TEXT = re.compile(
    _PAIR * 3 + _HOST * 2 + rb"(\d{1,3}) (\d{1,3}) " + rb"(\d{1,10}) " * 5 + rb"(\d{1,5})(?: (.*))?",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Record:
    """One request and its response; names and units as in the archive.

    ``crs``, ``cru``: client request seen, seconds and microseconds; ``srs``, ``sru``: first byte of the
    response; ``sls``, ``slu``: last byte. ``cip``, ``cpt``, ``sip``, ``spt``: addresses and ports. ``cprg``,
    ``sprg``: header bits. ``cims``, ``sexp``, ``slmd``: If-Modified-Since, Expires and Last-Modified, epoch
    seconds. ``rhl``, ``rdl``: bytes of the response's header and of its data. ``line``: the request line.
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
    line: bytes

    def binary(self) -> bytes:
        """Return the record as it stands in a ``.tr`` file.

        Raises
        ------
        InputError
            If a number does not fit its field or the request line could not be read back.
        """
        numbers, line = astuple(self)[:-1], self.line
        if line and not line.startswith(METHODS):
            raise InputError(
                f"The request line {_short(line)} cannot be written; expected GET, HEAD, POST or PUT."
            )
        try:
            return HEADER.pack(*numbers, len(line)) + line
        except struct.error as error:
            raise InputError(
                f"A record cannot be written: {error}; expected unsigned numbers that fit."
            ) from error

    def text(self) -> bytes:
        """Return the record as ``showtrace`` prints it, without the line feed."""
        self.binary()  # for its checks: the text must be readable back into the same bytes
        if b"\n" in self.line or b"\0" in self.line:
            raise InputError(
                f"The request line {_short(self.line)} cannot be written as text; it is no one line."
            )
        pairs = [(self.crs, self.cru), (self.srs, self.sru), (self.sls, self.slu)]
        hosts = [(dotted(self.cip), self.cpt), (dotted(self.sip), self.spt)]
        rest = (self.cprg, self.sprg, self.cims, self.sexp, self.slmd, self.rhl, self.rdl, len(self.line))
        words = [f"{left}:{right}" for left, right in (*pairs, *hosts)] + [str(number) for number in rest]
        return " ".join(words).encode() + b" " + self.line


def binary_of_text(line: bytes) -> tuple[bytes, bytes]:
    """Return the 60-byte header and the request line of one line of showtrace text.

    Raises
    ------
    ValueError
        If the line is not of that form; the message says what is expected, the caller adds where.
    """
    found = _TEXT.fullmatch(line)
    if not found:
        raise ValueError("expected the 13 fields that showtrace prints and a request line")
    *words, request = found.groups()
    numbers = [int(word) for word in words]
    length, request = numbers[-1], request or b""
    # The carriage return of a file with Windows line ends, which the length does not count.
    if len(request) == length + 1 and request.endswith(b"\r"):
        request = request[:-1]
    if len(request) != length:
        raise ValueError(
            f"the request line has {len(request)} bytes; expected {length}, by the field before it"
        )
    if length and not request.startswith(METHODS):
        raise ValueError(f"the request line is {_short(request)}; expected GET, HEAD, POST or PUT")
    if max(numbers[6:10] + numbers[11:15]) > 255:
        raise ValueError("expected addresses as dotted quads, each part at most 255")
    addresses = (_joined(numbers[6:10]), numbers[10], _joined(numbers[11:15]), numbers[15])
    try:
        return HEADER.pack(*numbers[:6], *addresses, *numbers[16:]), request
    except struct.error as error:
        raise ValueError(
            f"a number does not fit its field ({error}); expected unsigned numbers that fit"
        ) from None


def dotted(address: int) -> str:
    """Return an IPv4 address as a dotted quad."""
    return ".".join(str(part) for part in address.to_bytes(4, "big"))


def _joined(parts: list[int]) -> int:
    return int.from_bytes(bytes(parts), "big")


def _short(line: bytes) -> str:
    return repr(truncate(line, 40, b"..."))

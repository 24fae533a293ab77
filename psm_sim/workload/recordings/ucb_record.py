"""Binary and text formats of the records of the UCB Home IP trace.

A binary record has a header of 60 bytes, as in the archive's ``logparse.h``, and a request line. The text
format is that of the archive's ``showtrace``. All numbers are unsigned. A number with all bits set is
undefined.
"""

from __future__ import annotations

import re
import struct
from dataclasses import astuple, dataclass

import numpy as np

from psm_sim.common.errors import InputError
from psm_sim.common.formatting import truncate
from psm_sim.workload.recordings.ucb_request_lines import METHODS

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
    """Request and response, with the names and units of the archive.

    Attributes
    ----------
    crs, cru
        Time of the client's request, in seconds and microseconds.
    srs, sru
        Time of the first byte of the response.
    sls, slu
        Time of the last byte of the response.
    cip, cpt, sip, spt
        IP addresses and ports of client and server.
    cprg, sprg
        Header flags of client and server.
    cims, sexp, slmd
        If-Modified-Since, Expires and Last-Modified, in seconds since the epoch.
    rhl, rdl
        Sizes of the response's header and data, in bytes.
    line
        Request line.
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
        """Return the record in the format of a ``.tr`` file.

        Raises
        ------
        InputError
            If a number does not fit its field, or if the request line could not be read back.
        """
        numbers, line = astuple(self)[:-1], self.line
        if line and not line.startswith(METHODS):
            raise InputError(
                f"A request line must begin with GET, HEAD, POST or PUT to be written, got {_shorten(line)}."
            )
        try:
            return HEADER.pack(*numbers, len(line)) + line
        except struct.error as error:
            raise InputError(
                f"A record cannot be written: {error}; expected unsigned numbers that fit their fields."
            ) from error

    def text(self) -> bytes:
        """Return the record in the format of ``showtrace``, without a line feed."""
        self.binary()  # for its checks, because the text must read back to the same bytes
        if b"\n" in self.line or b"\0" in self.line:
            raise InputError(
                f"The request line {_shorten(self.line)} cannot be written as text; it must be a single line."
            )
        pairs = [(self.crs, self.cru), (self.srs, self.sru), (self.sls, self.slu)]
        hosts = [(dotted_quad(self.cip), self.cpt), (dotted_quad(self.sip), self.spt)]
        rest = (self.cprg, self.sprg, self.cims, self.sexp, self.slmd, self.rhl, self.rdl, len(self.line))
        fields = [f"{left}:{right}" for left, right in (*pairs, *hosts)] + [str(number) for number in rest]
        return " ".join(fields).encode() + b" " + self.line


def binary_of_text(line: bytes) -> tuple[bytes, bytes]:
    """Convert a line of showtrace text to its 60-byte header and its request line.

    Raises
    ------
    ValueError
        If the line has another format. The message does not name the line; the caller adds it.
    """
    match = _TEXT.fullmatch(line)
    if not match:
        raise ValueError("expected the 13 fields that showtrace prints and a request line")
    *fields, request = match.groups()
    numbers = [int(field) for field in fields]
    length, request = numbers[-1], request or b""
    # Drop the carriage return of Windows line ends, which the length does not include.
    if len(request) == length + 1 and request.endswith(b"\r"):
        request = request[:-1]
    if len(request) != length:
        raise ValueError(
            f"the request line must have {length} bytes, as in the field before it, got {len(request)}"
        )
    if length and not request.startswith(METHODS):
        raise ValueError(f"the request line must begin with GET, HEAD, POST or PUT, got {_shorten(request)}")
    if max(numbers[6:10] + numbers[11:15]) > 255:
        raise ValueError("expected addresses as dotted quads, each part at most 255")
    addresses = (_join_octets(numbers[6:10]), numbers[10], _join_octets(numbers[11:15]), numbers[15])
    try:
        return HEADER.pack(*numbers[:6], *addresses, *numbers[16:]), request
    except struct.error as error:
        raise ValueError(
            f"a number does not fit its field ({error}); expected unsigned numbers in range"
        ) from None


def dotted_quad(address: int) -> str:
    """Return an IPv4 address as a dotted quad."""
    return ".".join(str(part) for part in address.to_bytes(4, "big"))


def _join_octets(parts: list[int]) -> int:
    return int.from_bytes(bytes(parts), "big")


def _shorten(line: bytes) -> str:
    return repr(truncate(line, 40, b"..."))

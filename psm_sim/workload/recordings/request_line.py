"""Request line of a UCB record, anonymised: ``METHOD HASH.[flags][suffix][ HTTP/1.0]``."""

from __future__ import annotations

import re
from dataclasses import dataclass

METHODS = (b"GET ", b"HEAD ", b"POST ", b"PUT ")
SECONDARY = frozenset(
    [
        "gif",
        "jpg",
        "jpeg",
        "tif",
        "jfif",
        "bmp",
        "pjpg",
        "xbm",
        "anm",
        "mid",
        "aif",
        "aiff",
        "au",
        "vox",
        "wav",
        "class",
        "jar",
    ]
)
"""Suffixes of what a page embeds: images, sounds and Java, as in Ford's SST client."""

_LINE = re.compile(rb"(GET|HEAD|POST|PUT) (\d+)\.(q?c?)(\.\S*)?( HTTP/1\.[01])?", re.DOTALL)
_TAIL = re.compile(rb"\.q?c?(\.\S*)?(?: HTTP/1\.[01])?", re.DOTALL)
_CACHE: dict[bytes, bool] = {}


@dataclass(frozen=True)
class RequestLine:
    """What a request line says.

    ``hash`` is text: two decimals side by side that no integer can be read from. ``query`` and ``cgi`` are
    the flags; ``suffix`` has no dot and is empty where there is none; ``version`` is empty for HTTP/0.9.
    """

    method: str
    hash: str = ""
    query: bool = False
    cgi: bool = False
    suffix: str = ""
    version: str = ""


def parse_request_line(line: bytes) -> RequestLine:
    """Return the parts of a request line; one that is not as described has a method only."""
    found = _LINE.fullmatch(line)
    if not found:
        return RequestLine(line.split(b" ", 1)[0].decode("latin-1"))
    method, digits, flags, suffix, version = (
        part.decode("latin-1") if part else "" for part in found.groups()
    )
    return RequestLine(method, digits, "q" in flags, "c" in flags, suffix[1:], version.strip())


def is_secondary(line: bytes) -> bool:
    """Say whether a request line asks for something that a page embeds, by its suffix."""
    tail = line[line.find(b".") :]
    # Many lines share an ending: each ending is matched once.
    known = _CACHE.get(tail)
    if known is None:
        if len(_CACHE) > 10_000:
            _CACHE.clear()
        found = _TAIL.fullmatch(tail)
        suffix = (found[1] or b"").decode("latin-1") if found else ""
        known = _CACHE[tail] = suffix_is_secondary(suffix)
    return known


def suffix_is_secondary(suffix: str) -> bool:
    """Say whether a suffix, with its dot, is one of what pages embed."""
    return suffix.lower().removeprefix(".") in SECONDARY

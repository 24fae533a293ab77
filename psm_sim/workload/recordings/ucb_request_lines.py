"""Anonymised request lines of UCB records, ``METHOD HASH.[flags][suffix][ HTTP/1.0]``."""

from __future__ import annotations

import re

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
"""Suffixes of embedded objects (images, sounds and Java), as in Ford's SST client."""

_TAIL = re.compile(rb"\.q?c?(\.\S*)?(?: HTTP/1\.[01])?", re.DOTALL)
_CACHE: dict[bytes, bool] = {}


def is_secondary(line: bytes) -> bool:
    """Return whether a request line requests an embedded object, according to its suffix."""
    tail = line[line.find(b".") :]
    secondary = _CACHE.get(tail)
    if secondary is None:
        if len(_CACHE) > 10_000:
            _CACHE.clear()
        match = _TAIL.fullmatch(tail)
        suffix = (match[1] or b"").decode("latin-1") if match else ""
        secondary = _CACHE[tail] = suffix_is_secondary(suffix)
    return secondary


def suffix_is_secondary(suffix: str) -> bool:
    """Return whether a suffix, with its dot, is that of an embedded object."""
    return suffix.lower().removeprefix(".") in SECONDARY

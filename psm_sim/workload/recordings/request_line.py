"""Request line of a UCB record, anonymised: ``METHOD HASH.[flags][suffix][ HTTP/1.0]``."""

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
"""Suffixes of what a page embeds: images, sounds and Java, as in Ford's SST client."""

_TAIL = re.compile(rb"\.q?c?(\.\S*)?(?: HTTP/1\.[01])?", re.DOTALL)
_CACHE: dict[bytes, bool] = {}


def is_secondary(line: bytes) -> bool:
    """Say whether a request line asks for something that a page embeds, by its suffix."""
    tail = line[line.find(b".") :]
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

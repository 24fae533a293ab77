"""Largest accepted values of inputs, each with its reason, and a check for ASCII digits."""

from __future__ import annotations

MAX_TIME_S = 1e9
"""Any time in seconds: 32 years, in which a double resolves 0.1 microseconds."""

MAX_MS = 1e12
"""Any time in milliseconds; equals :data:`MAX_TIME_S`."""

MAX_OBJECT_BYTES = 2**32 - 1
"""Bytes of one object, because TCP sequence numbers have 32 bits."""

MAX_PAGES = 500_000
"""Pages of one run; at 2 kB per page, run and policy they take 1 GB of memory."""

MAX_OBJECTS = 5_000_000
"""Objects of all pages of a run or a page list; each takes about 0.1 kB of memory."""

MAX_RECORDS = 30_000_000
"""Records of a trace that is read; the largest known archive has 9 million."""

MAX_MESSAGES = 10_000_000
"""Background messages of a run; each takes 27 bytes of memory."""

MAX_FRAMES = 50_000_000
"""Frames of a run, estimated before the run begins; 50 million frames take some minutes."""

MAX_POLLS = 10_000_000
"""Polls of a replay; Learn-alpha needs some minutes for them."""

MAX_WEIGHTS = 20_000_000
"""Weights of a learner (experts times switching rates); a few copies take 1 GB of memory."""

MAX_WEIGHT = 1e12
"""Weight of one term of a loss, such as gamma; far larger weights make all losses infinite."""

MAX_SEED = 2**63 - 1
"""Seeds have 63 bits."""

MAX_CAPTURE_BYTES = 16 << 30
"""Bytes of a capture or a timeline; viewers need several times as much memory."""


def ascii_number(text: str) -> str:
    """Return the *text* of a number unchanged, after checking that it is ASCII.

    Raises
    ------
    ValueError
        If *text* is not ASCII. Python would also accept digits of other scripts.
    """
    if not text.isascii():
        raise ValueError
    return text

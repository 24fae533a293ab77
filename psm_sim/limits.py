"""Bounds: the largest numbers that are accepted anywhere, each with its reason."""

from __future__ import annotations

MAX_S = 1e9
"""Seconds, of any time: 32 years, in which a clock that is a double is exact to a tenth of a microsecond."""

MAX_MS = 1e12
"""The same in milliseconds."""

MAX_BYTES = 2**32 - 1
"""Bytes of one object: TCP's sequence numbers have 32 bits."""

MAX_PAGES = 500_000
"""Pages of one run: at 2 kB for each page, run and policy they take 1 GB of memory."""

MAX_OBJECTS = 5_000_000
"""Objects of all pages of a run, and of a page list: each takes about 0.1 kB of memory."""

MAX_RECORDS = 30_000_000
"""Records of a trace that is read or made; the largest archive known has 9 million."""

MAX_MESSAGES = 10_000_000
"""Messages beside the pages of a run: each takes 27 bytes of memory."""

MAX_POLLS = 10_000_000
"""Polls of a replay: some minutes for Learn-alpha."""

MAX_WEIGHTS = 20_000_000
"""Weights of a learner, experts times switching rates: a few copies of them take 1 GB of memory."""

MAX_WEIGHT = 1e12
"""Weight of one part of a loss against another, gamma for one; far above, all losses are infinite."""

MAX_SEED = 2**63 - 1
"""Seeds have 63 bits."""

MAX_CAPTURE_BYTES = 16 << 30
"""Bytes of a capture or a timeline of one run: what shows them takes several times as much memory."""

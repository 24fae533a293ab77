"""A way to write small UCB traces by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from psm_sim.workload.recordings.ucb_format import DTYPE, FIELDS, UNDEFINED, Batch, write_batches

BEGIN_S = 846_890_339


def record(at_s, client=1, server=9, size=1000, delay_s=0.1, took_s=0.5, kind="..html", **changes):
    """Header fields and request line by what matters, in seconds from the begin; None means undefined."""

    def time(value_s):
        if value_s is None:
            return UNDEFINED, UNDEFINED
        return divmod(BEGIN_S * 1_000_000 + round(value_s * 1e6), 1_000_000)

    first = None if delay_s is None or at_s is None else at_s + delay_s
    last = None if took_s is None or at_s is None else at_s + took_s
    fields = dict(
        zip(("crs", "cru", "srs", "sru", "sls", "slu"), (*time(at_s), *time(first), *time(last)), strict=True)
    )
    fields |= {"cip": client, "cpt": 1024, "sip": server, "spt": 80, "cprg": 2, "sprg": 8}
    fields |= {"cims": UNDEFINED, "sexp": UNDEFINED, "slmd": UNDEFINED, "rhl": min(size, 100)}
    line = changes.pop("line", f"GET 123{kind} HTTP/1.0".encode())
    fields |= {"rdl": size - min(size, 100), "urllen": len(line)} | changes
    return tuple(fields[name] for name in FIELDS), line


@pytest.fixture
def trace(tmp_path: Path):
    """Write records to a file, binary unless the name says otherwise."""

    def write(*records, name="t.tr"):
        headers, lines = zip(*records, strict=True) if records else ((), ())
        write_batches(tmp_path / name, [Batch(np.array(list(headers), DTYPE), list(lines))])
        return tmp_path / name

    write.record = record
    return write

"""Writer of UCB Home IP files in binary or text format, plain or gzipped."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from psm_sim.common.output_files import atomic_write_gzip
from psm_sim.workload.recordings.ucb_batches import Batch
from psm_sim.workload.recordings.ucb_record import SIZE, Record

FORMS = (".tr", ".tr.gz", ".txt", ".txt.gz")


def is_ucb_name(path: Path) -> bool:
    """Return whether a file name has a suffix of UCB files."""
    return path.name.lower().endswith(FORMS)


def write_records(path: Path, records: Iterable[Record]) -> int:
    """Write records and return their number. The suffix ``.txt`` selects the text format."""
    as_text, count = ".txt" in path.suffixes, 0
    with atomic_write_gzip(path) as file:
        for count, record in enumerate(records, start=1):  # noqa: B007
            file.write(record.text() + b"\n" if as_text else record.binary())
    return count


def batch_bytes(batch: Batch) -> bytes:
    """Return a batch in the format of a ``.tr`` file. Its fields must contain the lengths of its lines."""
    headers = batch.fields.tobytes()
    parts = [b""] * (2 * len(batch.lines))
    parts[0::2] = [headers[at : at + SIZE] for at in range(0, len(headers), SIZE)]
    parts[1::2] = batch.lines
    return b"".join(parts)

"""Writer of page lists."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from psm_sim.common.errors import InputError
from psm_sim.common.output_files import atomic_write_gzip
from psm_sim.workload.page_list_reader import COLUMNS
from psm_sim.workload.page_view import Page
from psm_sim.workload.recordings.text_lines import MAX_LINE_BYTES


def write_page_list(path: Path, pages: Iterable[Page]) -> int:
    """Write pages to a page list and return their number.

    :func:`~psm_sim.workload.page_list_reader.read_page_list` reads the file back to equal pages.
    """
    count = 0
    with atomic_write_gzip(path) as binary, io.TextIOWrapper(binary, encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for count, page in enumerate(pages, start=1):
            row = (
                count,
                repr(page.think_s),
                page.main_bytes,
                _join(page.image_bytes),
                *_optional_cells(page),
            )
            if sum(len(str(cell)) + 1 for cell in row) > MAX_LINE_BYTES:
                raise InputError(
                    f"{path}: page {count} has {page.objects:,} objects, too many for a line of at most "
                    f"{MAX_LINE_BYTES:,} bytes."
                )
            writer.writerow(row)
    return count


def _optional_cells(page: Page) -> tuple[str, str]:
    return _join(_collapse_equal(page.request_bytes)), _join(_collapse_equal(page.server_delay_s))


def _collapse_equal(values: Sequence[float]) -> Sequence[float]:
    return values[:1] if len(set(values)) == 1 else values


def _join(values: Sequence[float]) -> str:
    return ";".join(repr(value) for value in values)

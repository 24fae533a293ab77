"""Reader of page lists, CSV files with one page view per line.

The header is ``page,think_s,main_bytes,images``. ``images`` contains the sizes of the embedded objects
separated by ``;`` and can be empty. ``request_bytes`` and ``server_delay_s`` are optional columns. Each cell
has one value for all objects of the page, or one value per object separated by ``;``, main object first.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_BYTES, MAX_S
from psm_sim.common.parameters import check_all, parameter
from psm_sim.workload.page_view import Page
from psm_sim.workload.recordings.chunk_reader import ChunkReader
from psm_sim.workload.recordings.text_lines import MAX_LINE_BYTES, text_lines
from psm_sim.workload.size_limits import check_objects

if TYPE_CHECKING:
    from _csv import Reader

MAX_FILE_BYTES = 256 << 20
"""Maximum size of a page list after decompression, in bytes."""

MAX_LINES = 2_000_000
"""Maximum number of pages. A page takes about 0.25 kB of memory."""

Number = TypeVar("Number", int, float)
REQUIRED = ("page", "think_s", "main_bytes", "images")
OPTIONAL = ("request_bytes", "server_delay_s")
COLUMNS = REQUIRED + OPTIONAL


@dataclass(frozen=True)
class MissingValues:
    """Parameters of a page list, which replace absent columns and empty cells."""

    request_bytes: int = parameter(
        337,
        "size of requests missing in the file; the default is the mean of Mah 1997",
        unit="bytes",
        at_least=1,
        at_most=MAX_BYTES,
    )
    server_delay_ms: float | None = parameter(
        0.0,
        "server delay of objects without one in the file",
        unit="ms",
        at_least=0,
        at_most=1000 * MAX_S,
        optional=True,
    )

    def __post_init__(self) -> None:
        check_all(self, "page list")


def read_page_list(path: Path, missing: MissingValues | None = None) -> tuple[Page, ...]:
    """Read the pages of a page list, in the order of the file.

    Raises
    ------
    InputError
        If the file cannot be read or a value is invalid. The message names file, line, column and value.
    """
    csv.field_size_limit(MAX_LINE_BYTES)
    return pages_of(
        csv.reader(text_lines(ChunkReader(path, max_bytes=MAX_FILE_BYTES)), strict=True),
        path,
        missing or MissingValues(),
    )


def pages_of(lines: Reader, path: Path, missing: MissingValues) -> tuple[Page, ...]:
    """Parse the lines of a page list.

    Parameters
    ----------
    lines
        CSV reader of the lines, header included.
    path
        File name for the error messages.
    missing
        Values for absent columns and empty cells.
    """
    try:
        header = _header(next(lines, None), path)
        return tuple(_pages(lines, header, path, missing))
    except csv.Error as error:
        raise InputError(
            f"{path}, line {lines.line_num}: {error}; expected comma-separated values."
        ) from error


def _header(names: list[str] | None, path: Path) -> list[str]:
    expected = f"expected the header {','.join(REQUIRED)}, optionally {', '.join(OPTIONAL)}"
    if names is None:
        raise InputError(f"{path} is empty; {expected}.")
    names = [name.strip() for name in names]
    for name in REQUIRED:
        if name not in names:
            raise InputError(f"{path}, line 1: missing column {name!r}; {expected}.")
    for name in names:
        if name not in COLUMNS or names.count(name) > 1:
            problem = "unknown" if name not in COLUMNS else "duplicate"
            raise InputError(f"{path}, line 1: {problem} column {name!r}; {expected}.")
    return names


def _pages(lines: Reader, header: list[str], path: Path, missing: MissingValues) -> Iterator[Page]:
    count = objects = 0
    for count, values in enumerate((values for values in lines if values), start=1):
        where = f"{path}, line {lines.line_num}"
        if len(values) != len(header):
            raise InputError(f"{where}: expected {len(header)} values, as in the header, got {len(values)}.")
        page = _Row(dict(zip(header, values, strict=True)), where).page(missing)
        objects += page.objects
        if count > MAX_LINES:
            raise InputError(f"{where}: expected at most {MAX_LINES:,} pages.")
        check_objects(objects, where)
        yield page
    if not count:
        raise InputError(f"{path} has no pages; expected at least one line after the header.")


@dataclass(frozen=True)
class _Row:
    """Line of a page list."""

    cells: dict[str, str]
    where: str

    def page(self, missing: MissingValues) -> Page:
        """Return the page of this line, with *missing* for empty cells."""
        images = self._list("images", _size)
        objects = 1 + len(images)
        return Page(
            self._value("think_s", self.cells["think_s"], _time),
            self._value("main_bytes", self.cells["main_bytes"], _size),
            images,
            self._per_object("request_bytes", _size, objects, missing.request_bytes),
            self._per_object("server_delay_s", _time, objects, (missing.server_delay_ms or 0.0) / 1000),
        )

    def _per_object(
        self, column: str, convert: Callable[[str], Number], objects: int, default: Number
    ) -> tuple[Number, ...]:
        values = self._list(column, convert) or (default,)
        if len(values) not in (1, objects):
            raise InputError(
                f"{self.where}: {column} must have one value, or one for each of the page's {objects} "
                f"objects, got {len(values)} values."
            )
        return values * objects if len(values) == 1 else values

    def _list(self, column: str, convert: Callable[[str], Number]) -> tuple[Number, ...]:
        text = self.cells.get(column, "").strip()
        return tuple(self._value(column, part, convert) for part in text.split(";")) if text else ()

    def _value(self, column: str, text: str, convert: Callable[[str], Number]) -> Number:
        try:
            return convert(text)
        except ValueError as error:
            shown = text if len(text) <= 40 else text[:37] + "..."
            raise InputError(f"{self.where}: {column} must be {error}, got {shown!r}.") from None


def _time(text: str) -> float:
    expected = f"a time in seconds from 0 to {MAX_S:g}"
    value = _number(text, expected)
    if not 0 <= value <= MAX_S:
        raise ValueError(expected)
    return value


def _size(text: str) -> int:
    # Parse as float to accept 1e6.
    expected = f"an integer number of bytes from 1 to {MAX_BYTES}"
    value = _number(text, expected)
    if not 1 <= value <= MAX_BYTES or value != round(value):
        raise ValueError(expected)
    return round(value)


def _number(text: str, expected: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(expected) from None

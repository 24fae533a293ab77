"""Page lists: CSV files, DataFrames and lists with one page view per row.

The header is ``page,think_s,main_bytes,images``, and further columns are optional; see :data:`COLUMNS`. The
page numbers in ``page`` ascend. ``images`` contains the sizes of the embedded objects separated by ``;`` and
can be empty. A cell of an optional column has a single value for all objects of the page, or a value for each
object, separated by ``;``, with the main object first. ``rtt_s`` has a value for each host, and the other
columns of hosts follow the same rule. ``recorded_s`` is the recorded page time. If ``depends_on`` is empty,
the page has no dependencies.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from psm_sim.common.errors import InputError, safe_repr
from psm_sim.common.formatting import truncate
from psm_sim.common.input_limits import MAX_OBJECT_BYTES, MAX_TIME_S, ascii_number
from psm_sim.common.output_files import atomic_write_gzip
from psm_sim.common.parameters import check_all, parameter
from psm_sim.workload.page_view import (
    PAGE_START,
    DependencyPage,
    Page,
    PageGraph,
    PageHost,
    Release,
    check_objects,
)
from psm_sim.workload.recordings.chunk_reader import MAX_LINE_BYTES, ChunkReader, text_lines
from psm_sim.workload.workload import Workload

if TYPE_CHECKING:
    from _csv import Reader

MAX_FILE_BYTES = 256 << 20
"""Maximum size of a page list after decompression, in bytes."""

MAX_LINES = 2_000_000
"""Maximum number of pages. A page takes about 0.25 kB of memory."""


class ColumnType(NamedTuple):
    """Description of a column, its conversion from and to text, and the value of an empty cell.

    ``read`` raises ValueError for invalid text.
    """

    expected: str
    read: Callable[[str], Any]
    write: Callable[[Any], str] = repr
    default: Any = 0.0


def _time(text: str) -> float:
    if not 0 <= (value := float(ascii_number(text))) <= MAX_TIME_S:
        raise ValueError
    return value


def _size(text: str) -> int:
    value = float(ascii_number(text))  # float() accepts 1e6
    if not 1 <= value <= MAX_OBJECT_BYTES or value != round(value):
        raise ValueError
    return round(value)


def _flag(*words: str) -> ColumnType:
    """Return the type of a boolean column that contains two words, for False and for True."""
    return ColumnType(
        " or ".join(words), lambda text: bool(words.index(text.strip())), words.__getitem__, False
    )


TIME = ColumnType(f"a time in seconds from 0 to {MAX_TIME_S:g}", _time)
SIZE = ColumnType(f"an integer number of bytes from 1 to {MAX_OBJECT_BYTES}", _size)
INDEX = ColumnType("an integer index", lambda text: int(ascii_number(text)), default=0)
NUMBER = ColumnType("an integer page number", lambda text: int(ascii_number(text)))

REQUIRED_COLUMNS = {"page": NUMBER, "think_s": TIME, "main_bytes": SIZE, "images": SIZE}
OPTIONAL_COLUMNS = {"request_bytes": SIZE, "server_delay_s": TIME}
OF_OBJECTS = {
    "host": INDEX,
    "protocol": _flag("http/1.1", "h2"),
    "depends_on": INDEX._replace(default=PAGE_START),
    "event": _flag("end", "first_byte"),
    "gap_s": TIME,
}
OF_HOSTS = {"rtt_s": TIME, "dns_s": TIME, "tls_s": TIME, "secure": _flag("0", "1")}
COLUMNS = {**REQUIRED_COLUMNS, **OPTIONAL_COLUMNS, **OF_OBJECTS, **OF_HOSTS, "recorded_s": TIME}
"""All columns. Only pages with dependencies have the columns after ``server_delay_s``."""


@dataclass(frozen=True)
class MissingValues:
    """Values for the absent columns and the empty cells of a page list."""

    request_bytes: int = parameter(
        337,
        "size of requests missing in the file; the default is the mean of Mah 1997",
        unit="bytes",
        at_least=1,
        at_most=MAX_OBJECT_BYTES,
    )
    server_delay_ms: float | None = parameter(
        0.0,
        "server delay of objects without one in the file",
        unit="ms",
        at_least=0,
        at_most=1000 * MAX_TIME_S,
    )

    def __post_init__(self) -> None:
        check_all(self, "page list")


def read_page_list(path: Path, missing: MissingValues | None = None) -> tuple[Page, ...]:
    """Return the pages of the page list *path*, in the order of the file.

    Raises
    ------
    InputError
        If the file cannot be read or a value is invalid. The message names file, line, column and value.
    """
    csv.field_size_limit(MAX_LINE_BYTES)
    return _pages_of(text_lines(ChunkReader(path, max_bytes=MAX_FILE_BYTES)), path, missing)


def _pages_of(text: Any, path: Path, missing: MissingValues | None = None) -> tuple[Page, ...]:
    """Parse the lines *text* of a page list. Error messages contain *path*."""
    lines = csv.reader(text, strict=True)
    try:
        header = _header(next(lines, None), path)
        return tuple(_pages(lines, header, path, missing or MissingValues()))
    except csv.Error as error:
        where = f"{path}, line {lines.line_num}"
        raise InputError(f"{where}: {error}; expected comma-separated values.") from error


def _header(names: list[str] | None, path: Path) -> list[str]:
    expected = f"expected the header {','.join(REQUIRED_COLUMNS)}, optionally {', '.join(OPTIONAL_COLUMNS)}"
    if names is None:
        raise InputError(f"{path} is empty; {expected}.")
    names = [name.strip() for name in names]
    if "page" not in names and any(word in name.lower() for name in names for word in ("current", "power")):
        raise current_error(path)
    problems = [f"missing column {name!r}" for name in REQUIRED_COLUMNS if name not in names]
    problems += [f"unknown column {name!r}" for name in names if name not in COLUMNS]
    problems += [f"duplicate column {name!r}" for name in names if names.count(name) > 1]
    if problems:
        raise InputError(f"{path}, line 1: {problems[0]}; {expected}.")
    return names


def current_error(path: Path) -> InputError:
    """Return the error for a recording of a current, which contains no traffic."""
    return InputError(
        f"{path} is a recording of a current, not of traffic; make a chip profile of it with psm_sim"
        f" calibrate {path}."
    )


def _pages(lines: Reader, header: list[str], path: Path, missing: MissingValues) -> Iterator[Page]:
    count = objects = 0
    last = -math.inf
    for count, values in enumerate(filter(None, lines), start=1):
        where = f"{path}, line {lines.line_num}"
        if len(values) != len(header):
            raise InputError(f"{where}: expected {len(header)} values, as in the header, got {len(values)}.")
        row = _Row(dict(zip(header, values, strict=True)), where)
        page, number = row.page(missing), row.number()
        if number <= last:
            raise InputError(f"{where}: page must be more than {last}, the page before it, got {number}.")
        last = number
        objects += page.objects
        if count > MAX_LINES:
            raise InputError(f"{where}: expected at most {MAX_LINES:,} pages.")
        check_objects(objects, where)
        yield page
    if not count:
        raise InputError(f"{path} has no pages; expected at least one line after the header.")


class _Row(NamedTuple):
    """Line of a page list."""

    cells: dict[str, str]
    where: str

    def number(self) -> int:
        """Return the number of the page."""
        return int(self._value("page", self.cells["page"]))

    def page(self, missing: MissingValues) -> Page:
        """Return the page of this line. *missing* supplies the values of empty cells."""
        images = self._list("images")
        count = 1 + len(images)
        values = (
            self._value("think_s", self.cells["think_s"]),
            self._value("main_bytes", self.cells["main_bytes"]),
            images,
            self._each("request_bytes", count, "objects", missing.request_bytes),
            self._each("server_delay_s", count, "objects", (missing.server_delay_ms or 0.0) / 1000),
        )
        if not self.cells.get("depends_on", "").strip():
            return Page(*values)
        try:
            return DependencyPage(*values, self._graph(count))
        except InputError as error:
            raise InputError(str(error).replace("page: ", f"{self.where}: ", 1)) from None

    def _graph(self, objects: int) -> PageGraph:
        hosts = len(self._list("rtt_s"))
        if not hosts:
            raise InputError("page: rtt_s must have one value for each host, got none.")
        return PageGraph(
            tuple(map(PageHost, *(self._each(column, hosts, "hosts") for column in OF_HOSTS))),
            tuple(map(Release, *(self._each(column, objects, "objects") for column in OF_OBJECTS))),
            next(iter(self._list("recorded_s")), None),
        )

    def _each(self, column: str, count: int, kind: str, default: Any = None) -> tuple[Any, ...]:
        values = self._list(column) or (COLUMNS[column].default if default is None else default,)
        if len(values) not in (1, count):
            raise InputError(
                f"{self.where}: {column} must have one value, or one for each of the page's {count} "
                f"{kind}, got {len(values)} values."
            )
        return values * count if len(values) == 1 else values

    def _list(self, column: str) -> tuple[Any, ...]:
        text = self.cells.get(column, "").strip()
        return tuple(self._value(column, part) for part in text.split(";")) if text else ()

    def _value(self, column: str, text: str) -> Any:
        try:
            return COLUMNS[column].read(text)
        except ValueError:
            shown = truncate(text, 40, "...")
            expected = COLUMNS[column].expected
            raise InputError(f"{self.where}: {column} must be {expected}, got {shown!r}.") from None


def write_page_list(path: Path, pages: Sequence[Page]) -> int:
    """Write pages to a page list and return their number.

    The columns of dependencies are written only if a page has dependencies. Reading the file with
    :func:`read_page_list` returns equal pages.

    Raises
    ------
    InputError
        If a page has so many objects that its line is too long for :func:`read_page_list`.
    """
    has_graphs = any(isinstance(page, DependencyPage) for page in pages)
    header = list(COLUMNS if has_graphs else REQUIRED_COLUMNS | OPTIONAL_COLUMNS)
    with atomic_write_gzip(path) as binary, io.TextIOWrapper(binary, encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, header, restval="", lineterminator="\n")
        writer.writeheader()
        for number, page in enumerate(pages, start=1):
            cells = {column: _cell(column, values) for column, values in _values_of(number, page).items()}
            if sum(len(cell) + 1 for cell in cells.values()) > MAX_LINE_BYTES:
                raise InputError(
                    f"{path}: page {number} has {page.objects:,} objects, too many for a line of at most "
                    f"{MAX_LINE_BYTES:,} bytes."
                )
            writer.writerow(cells)
    return len(pages)


def _values_of(number: int, page: Page) -> dict[str, Sequence[Any]]:
    """Return the values of a page by column."""
    own = ((number,), (page.think_s,), (page.main_bytes,), page.image_bytes)
    values: dict[str, Sequence[Any]] = dict(
        zip(COLUMNS, (*own, page.request_bytes, page.server_delay_s), strict=False)
    )
    if isinstance(page, DependencyPage):
        graph = page.graph
        values |= zip(OF_OBJECTS, zip(*graph.releases, strict=True), strict=True)
        values |= zip(OF_HOSTS, zip(*graph.hosts, strict=True), strict=True)
        values["recorded_s"] = () if graph.recorded_s is None else (graph.recorded_s,)
    return values


def _cell(column: str, values: Sequence[Any]) -> str:
    # Write equal values once, except images and rtt_s, which also state the numbers of objects and hosts.
    if len(set(values)) == 1 and column not in ("images", "rtt_s"):
        values = values[:1]
    return ";".join(map(COLUMNS[column].write, values))


def as_workload(trace: Any) -> Workload:
    """Convert a DataFrame or a list of pages to a Workload. Return a Workload unchanged.

    A DataFrame has a row for each page and the columns of a page list, of which ``page`` is optional. A value
    of ``images`` is a string (``"100;200"``), a sequence of sizes or a single size.

    Raises
    ------
    InputError
        If the object is of another type or its pages are invalid.
    """
    if isinstance(trace, Workload):
        return trace
    if isinstance(trace, Sequence) and not isinstance(trace, (str, bytes)):
        return Workload("pages", tuple(trace), False, "pages made in Python")
    if hasattr(trace, "columns") and hasattr(trace, "to_csv"):
        frame = trace.copy()
        if "page" not in frame:
            frame.insert(0, "page", range(1, len(frame) + 1))
        if "images" in frame:
            frame["images"] = [_sizes(images) for images in frame["images"]]
        pages = _pages_of(io.StringIO(frame.to_csv(index=False), newline=""), Path("DataFrame"))
        return Workload("DataFrame", pages, False, "pages of a DataFrame")
    raise InputError(
        "trace must be a name or file, a list of Page, a DataFrame with the columns of a page list, or a "
        f"Workload, got {safe_repr(trace)}."
    )


def _sizes(images: Any) -> Any:
    is_sequence = isinstance(images, Iterable) and not isinstance(images, str)
    return ";".join(map(str, images)) if is_sequence else images  # a missing value becomes an empty cell

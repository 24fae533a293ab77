"""Page lists: CSV files, DataFrames and lists with one page view per row.

The header is ``page,think_s,main_bytes,images``. ``images`` contains the sizes of the embedded objects
separated by ``;`` and can be empty. ``request_bytes`` and ``server_delay_s`` are optional columns. Each cell
has one value for all objects of the page, or one value per object separated by ``;``, main object first.

Pages with dependencies have further columns. ``host``, ``protocol``, ``depends_on``, ``event`` and ``gap_s``
have one value for all objects, or one per object. ``rtt_s``, ``dns_s``, ``tls_s`` and ``secure`` have one
value per host. ``recorded_s`` is the recorded page time. A page without ``depends_on`` has no dependencies.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from psm_sim.common.errors import InputError, safe_repr
from psm_sim.common.input_limits import MAX_BYTES, MAX_S
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

    import pandas as pd

MAX_FILE_BYTES = 256 << 20
"""Maximum size of a page list after decompression, in bytes."""

MAX_LINES = 2_000_000
"""Maximum number of pages. A page takes about 0.25 kB of memory."""

Value = TypeVar("Value")
REQUIRED = ("page", "think_s", "main_bytes", "images")
OPTIONAL = ("request_bytes", "server_delay_s")
OF_OBJECTS = ("host", "protocol", "depends_on", "event", "gap_s")
OF_HOSTS = ("rtt_s", "dns_s", "tls_s", "secure")
DEPENDENCIES = (*OF_OBJECTS, *OF_HOSTS, "recorded_s")
"""Columns that only pages with dependencies have."""

COLUMNS = REQUIRED + OPTIONAL
PROTOCOLS = {"http/1.1": False, "h2": True}
EVENTS = {"end": False, "first_byte": True}
FLAGS = {"0": False, "1": True}


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
        if name not in COLUMNS + DEPENDENCIES or names.count(name) > 1:
            problem = "unknown" if name not in COLUMNS + DEPENDENCIES else "duplicate"
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
        values = (
            self._value("think_s", self.cells["think_s"], _time),
            self._value("main_bytes", self.cells["main_bytes"], _size),
            images,
            self._for_each("request_bytes", _size, objects, missing.request_bytes),
            self._for_each("server_delay_s", _time, objects, (missing.server_delay_ms or 0.0) / 1000),
        )
        if not self.cells.get("depends_on", "").strip():
            return Page(*values)
        try:
            return DependencyPage(*values, self._graph(objects))
        except InputError as error:
            raise InputError(str(error).replace("page: ", f"{self.where}: ", 1)) from None

    def _graph(self, objects: int) -> PageGraph:
        """Return the dependencies of a page, with HTTP/1.1 and no gaps for empty cells."""
        count = len(self._list("rtt_s", _time))
        if not count:
            raise InputError("page: rtt_s must have one value for each host, got none.")
        host_values = [self._for_each(name, _time, count, 0.0, "hosts") for name in OF_HOSTS[:3]]
        secure = self._for_each("secure", _choice(FLAGS), count, False, "hosts")
        object_values = (
            self._for_each("host", _index, objects, 0),
            self._for_each("protocol", _choice(PROTOCOLS), objects, False),
            self._for_each("depends_on", _index, objects, PAGE_START),
            self._for_each("event", _choice(EVENTS), objects, False),
            self._for_each("gap_s", _time, objects, 0.0),
        )
        return PageGraph(
            tuple(map(PageHost, *host_values, secure)),
            tuple(map(Release, *object_values)),
            next(iter(self._list("recorded_s", _time)), None),
        )

    def _for_each(
        self, column: str, convert: Callable[[str], Value], count: int, default: Value, kind: str = "objects"
    ) -> tuple[Value, ...]:
        values = self._list(column, convert) or (default,)
        if len(values) not in (1, count):
            raise InputError(
                f"{self.where}: {column} must have one value, or one for each of the page's {count} "
                f"{kind}, got {len(values)} values."
            )
        return values * count if len(values) == 1 else values

    def _list(self, column: str, convert: Callable[[str], Value]) -> tuple[Value, ...]:
        text = self.cells.get(column, "").strip()
        return tuple(self._value(column, part, convert) for part in text.split(";")) if text else ()

    def _value(self, column: str, text: str, convert: Callable[[str], Value]) -> Value:
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


def _index(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError("an integer index") from None


def _choice(values: Mapping[str, bool]) -> Callable[[str], bool]:
    """Return a function that converts one of the words."""

    def convert(text: str) -> bool:
        if text.strip() not in values:
            raise ValueError(" or ".join(values))
        return values[text.strip()]

    return convert


def _number(text: str, expected: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(expected) from None


def write_page_list(path: Path, pages: Sequence[Page]) -> int:
    """Write pages to a page list and return their number.

    Columns of dependencies are written if a page has them.
    :func:`~psm_sim.workload.page_list.read_page_list` reads the file back to equal pages.
    """
    count = 0
    has_graphs = any(isinstance(page, DependencyPage) for page in pages)
    with atomic_write_gzip(path) as binary, io.TextIOWrapper(binary, encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS + DEPENDENCIES if has_graphs else COLUMNS)
        for count, page in enumerate(pages, start=1):
            row = (
                count,
                repr(page.think_s),
                page.main_bytes,
                _join(page.image_bytes),
                *_optional_cells(page),
                *(_graph_cells(page) if has_graphs else ()),
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


def _graph_cells(page: Page) -> tuple[str, ...]:
    if not isinstance(page, DependencyPage):
        return ("",) * len(DEPENDENCIES)
    graph = page.graph
    protocols, events, flags = (
        {value: name for name, value in words.items()} for words in (PROTOCOLS, EVENTS, FLAGS)
    )
    host, multiplexed, depends_on, at_first_byte, gap_s = zip(*graph.releases, strict=True)
    *times_s, secure = zip(*graph.hosts, strict=True)
    return (
        _join(_collapse_equal(host)),
        ";".join(protocols[value] for value in multiplexed),
        _join(depends_on),
        ";".join(events[value] for value in at_first_byte),
        _join(_collapse_equal(gap_s)),
        *map(_join, times_s),
        ";".join(flags[value] for value in secure),
        "" if graph.recorded_s is None else repr(graph.recorded_s),
    )


def _collapse_equal(values: Sequence[float]) -> Sequence[float]:
    return values[:1] if len(set(values)) == 1 else values


def _join(values: Sequence[float]) -> str:
    return ";".join(repr(value) for value in values)


def as_workload(trace: Any) -> Workload:
    """Convert a DataFrame, a list of pages or a workload to a Workload.

    A DataFrame has the columns of a page list and one row per page. The column ``page`` is optional. The
    sizes of the images are a string (``"100;200"``) or a list.

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
        return Workload("DataFrame", _pages_of_frame(trace), False, "pages of a DataFrame")
    raise InputError(
        "trace must be a name or file, a list of Page, a DataFrame with the columns of a page list, or a "
        f"Workload, got {safe_repr(trace)}."
    )


def _pages_of_frame(frame: pd.DataFrame) -> tuple[Page, ...]:
    frame = frame.copy()
    if "page" not in frame.columns:
        frame.insert(0, "page", range(1, len(frame) + 1))
    if "images" in frame.columns:
        frame["images"] = [_sizes(images) for images in frame["images"]]
    text = frame.to_csv(index=False)
    return pages_of(
        csv.reader(io.StringIO(text, newline=""), strict=True), Path("DataFrame"), MissingValues()
    )


def _sizes(images: Any) -> str:
    if isinstance(images, (list, tuple)):
        return ";".join(map(str, images))
    return images if isinstance(images, str) else ""

"""Compact sequence of named tuples of numbers."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar, get_type_hints, overload

Row = TypeVar("Row", bound=tuple[Any, ...])


class RecordArray(Sequence[Row]):
    """Sequence of named tuples stored in one array of doubles.

    A number takes eight bytes, a tenth of the memory of the tuples. The tuples are created on access.

    Parameters
    ----------
    kind : type
        Named tuple of floats and of ints below 2^53.
    rows : iterable of kind
        Initial rows.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> Point = NamedTuple("Point", [("number", int), ("x_s", float)])
    >>> RecordArray(Point, [Point(1, 0.5), Point(2, 0.25)])[-1]
    Point(number=2, x_s=0.25)
    """

    def __init__(self, kind: type[Row], rows: Iterable[Row] = ()) -> None:
        self._kind: Any = kind
        self._is_int = [hint is int for hint in get_type_hints(kind).values()]
        self._numbers = array("d")
        for row in rows:
            self.append(row)

    def append(self, row: Row) -> None:
        """Add a row at the end."""
        self._numbers.extend(row)

    def __len__(self) -> int:
        return len(self._numbers) // len(self._is_int)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(len(self)))]
        # Indexing a range resolves negative indices and raises IndexError.
        return self._row(range(len(self))[index])

    def __iter__(self) -> Iterator[Row]:
        return map(self._row, range(len(self)))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, RecordArray):
            return self._kind is other._kind and self._numbers == other._numbers
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # mutable, like a list

    def column(self, name: str) -> list[float]:
        """Return the field *name* of all rows."""
        values: list[float] = self._numbers[self._kind._fields.index(name) :: len(self._is_int)].tolist()
        return values

    def _row(self, index: int) -> Row:
        width = len(self._is_int)
        numbers = self._numbers[index * width : (index + 1) * width]
        fields = zip(numbers, self._is_int, strict=True)
        row: Row = self._kind(*[int(number) if is_int else number for number, is_int in fields])
        return row


def record_column(rows: Sequence[Row], name: str) -> list[float]:
    """Return the float field *name* of all *rows*; a :class:`RecordArray` is read without tuples."""
    return rows.column(name) if isinstance(rows, RecordArray) else [getattr(row, name) for row in rows]

"""Rows: named tuples of numbers, kept in one array, and made anew when they are read."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar, get_type_hints, overload

Row = TypeVar("Row", bound=tuple[Any, ...])


class RecordArray(Sequence[Row]):
    """Rows of one kind, at eight bytes for each number: a tenth of the memory of the tuples.

    Parameters
    ----------
    kind
        A named tuple of floats and of ints below 2^53.
    rows
        The first of them.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> Point = NamedTuple("Point", [("number", int), ("x_s", float)])
    >>> RecordArray(Point, [Point(1, 0.5), Point(2, 0.25)])[-1]
    Point(number=2, x_s=0.25)
    """

    def __init__(self, kind: type[Row], rows: Iterable[Row] = ()) -> None:
        self._kind: Any = kind
        self._whole = [hint is int for hint in get_type_hints(kind).values()]
        self._numbers = array("d")
        for row in rows:
            self.append(row)

    def append(self, row: Row) -> None:
        """Add a row at the end."""
        self._numbers.extend(row)

    def __len__(self) -> int:
        return len(self._numbers) // len(self._whole)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        # A range tells an index from the end, and one that is out of it.
        return self._row(range(len(self))[index])

    def __iter__(self) -> Iterator[Row]:
        return map(self._row, range(len(self)))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, RecordArray):
            return self._kind is other._kind and self._numbers == other._numbers
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # as a list

    def column(self, name: str) -> list[float]:
        """Return one field of all rows."""
        found: list[float] = self._numbers[self._kind._fields.index(name) :: len(self._whole)].tolist()
        return found

    def _row(self, index: int) -> Row:
        width = len(self._whole)
        numbers = self._numbers[index * width : (index + 1) * width]
        fields = zip(numbers, self._whole, strict=True)
        row: Row = self._kind(*[int(number) if whole else number for number, whole in fields])
        return row


def record_column(rows: Sequence[Row], name: str) -> list[float]:
    """Return one field, a float, of all *rows*: at once if they are :class:`RecordArray`."""
    return rows.column(name) if isinstance(rows, RecordArray) else [getattr(row, name) for row in rows]

"""Page views, the requests of a browser with the preceding think time, and the limit on their number."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_BYTES, MAX_OBJECTS, MAX_S


@dataclass(frozen=True, slots=True)
class Page:
    """Page view.

    Attributes
    ----------
    think_s
        Seconds from the end of the previous page to the request of this one.
    main_bytes
        Size of the main object, in bytes.
    image_bytes
        Sizes of the embedded objects, in bytes.
    request_bytes
        Size of each object's request in bytes, main object first.
    server_delay_s
        Seconds that the server needs before it answers each request, main object first.

    Raises
    ------
    InputError
        If a time is not between 0 and :data:`~psm_sim.common.input_limits.MAX_S`, if a size is not between 1
        (requests: 0) and :data:`~psm_sim.common.input_limits.MAX_BYTES`, or if the numbers of requests,
        delays and objects differ.
    """

    think_s: float
    main_bytes: int
    image_bytes: tuple[int, ...]
    request_bytes: tuple[int, ...]
    server_delay_s: tuple[float, ...]

    def __post_init__(self) -> None:
        check_times("think_s", (self.think_s,))
        _check_sizes("main_bytes", (self.main_bytes,), 1)
        _check_sizes("image_bytes", self.image_bytes, 1)
        _check_sizes("request_bytes", self.request_bytes, 0)
        check_times("server_delay_s", self.server_delay_s)
        for name in ("request_bytes", "server_delay_s"):
            if len(getattr(self, name)) != self.objects:
                count = len(getattr(self, name))
                raise InputError(
                    f"page: {name} must have one value for each of the {self.objects} objects, got {count}."
                )

    @property
    def objects(self) -> int:
        """Number of objects, including the main object."""
        return 1 + len(self.image_bytes)

    @property
    def total_bytes(self) -> int:
        """Total size of all objects in bytes, without protocol headers."""
        return self.main_bytes + sum(self.image_bytes)

    @property
    def waiting_s(self) -> float:
        """Think time and server delays, in seconds."""
        return self.think_s + sum(self.server_delay_s)


def check_times(name: str, values: Iterable[Any]) -> None:
    """Raise InputError if one of *values* is not a time from 0 to the limit; *name* is that of the field."""
    for value in values:
        is_valid = isinstance(value, Real) and 0.0 <= float(value) <= MAX_S
        if not is_valid:
            raise InputError(f"page: {name} must be a time from 0 to {MAX_S:g} s, got {value!r}.")


def _check_sizes(name: str, values: Iterable[Any], minimum: int) -> None:
    for value in values:
        is_valid = isinstance(value, Integral) and minimum <= int(value) <= MAX_BYTES
        if not is_valid:
            raise InputError(
                f"page: {name} must be an integer from {minimum} to {MAX_BYTES} bytes, got {value!r}."
            )


@dataclass(frozen=True, slots=True)
class Pause(Page):
    """Interval of ``think_s`` seconds without a page view.

    A pause counts as a page without objects. Its page time is 0 s, its slowdown is 1, and its energy is that
    of the interval.
    """

    main_bytes: int = 0
    image_bytes: tuple[int, ...] = ()
    request_bytes: tuple[int, ...] = ()
    server_delay_s: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        check_times("think_s", (self.think_s,))

    @property
    def objects(self) -> int:
        """Number of objects, always 0."""
        return 0


def check_objects(objects: int, owner: str) -> None:
    """Raise an error if *objects* exceeds the limit. *owner* names the source, e.g. ``"trace ucb"``."""
    if objects > MAX_OBJECTS:
        raise InputError(
            f"{owner}: expected at most {MAX_OBJECTS:,} objects in all pages, got {objects:,}; use fewer "
            "pages."
        )

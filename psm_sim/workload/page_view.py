"""Page view: what the browser asks for, and how long the user thought before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from psm_sim.errors import InputError
from psm_sim.limits import MAX_BYTES, MAX_S


@dataclass(frozen=True, slots=True)
class Page:
    """One page view.

    ``think_s`` passes after the previous page is complete and before this one is requested;
    ``main_bytes`` is the size of the main object, ``image_bytes`` those of its embedded objects, in
    bytes; each object is asked for with a request of ``request_bytes``, and the server takes
    ``server_delay_s`` before it answers: one value per object, main object first. Times are in seconds.

    Raises
    ------
    InputError
        If a time is not from 0 to :data:`~psm_sim.limits.MAX_S`, a size not from 1 (that of a request: 0) to
        :data:`~psm_sim.limits.MAX_BYTES`, or there is not one request and one delay for each object.
    """

    think_s: float
    main_bytes: int
    image_bytes: tuple[int, ...]
    request_bytes: tuple[int, ...]
    server_delay_s: tuple[float, ...]

    def __post_init__(self) -> None:
        _check_times("think_s", (self.think_s,))
        _check_sizes("main_bytes", (self.main_bytes,), 1)
        _check_sizes("image_bytes", self.image_bytes, 1)
        _check_sizes("request_bytes", self.request_bytes, 0)
        _check_times("server_delay_s", self.server_delay_s)
        for name in ("request_bytes", "server_delay_s"):
            if len(getattr(self, name)) != self.objects:
                count = len(getattr(self, name))
                raise InputError(
                    f"page: {name} has {count} values; expected one for each of its {self.objects} objects."
                )

    @property
    def objects(self) -> int:
        """The number of objects, main object included."""
        return 1 + len(self.image_bytes)

    @property
    def total_bytes(self) -> int:
        """The bytes of all objects, without headers of any protocol."""
        return self.main_bytes + sum(self.image_bytes)


def _check_times(name: str, values: Iterable[Any]) -> None:
    for value in values:
        inside = isinstance(value, Real) and 0.0 <= float(value) <= MAX_S
        if not inside:
            raise InputError(f"page: {name} is {value!r}; expected a time from 0 to {MAX_S:g} s.")


def _check_sizes(name: str, values: Iterable[Any], least: int) -> None:
    for value in values:
        inside = isinstance(value, Integral) and least <= int(value) <= MAX_BYTES
        if not inside:
            raise InputError(
                f"page: {name} is {value!r}; expected a whole number of bytes from {least} to {MAX_BYTES}."
            )


@dataclass(frozen=True, slots=True)
class Pause(Page):
    """Pause: a stretch of ``think_s`` seconds without a page view at its end; it has no object.

    Its time is 0 s and its slowdown 1; its energy is that of the stretch, as a page's is.
    """

    main_bytes: int = 0
    image_bytes: tuple[int, ...] = ()
    request_bytes: tuple[int, ...] = ()
    server_delay_s: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        _check_times("think_s", (self.think_s,))

    @property
    def objects(self) -> int:
        """The number of objects: none."""
        return 0

"""Page view: what the browser asks for, and how long the user thought before."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """One page view.

    ``think_s`` passes after the previous page is complete and before this one is requested;
    ``main_bytes`` is the size of the main object, ``image_bytes`` those of its embedded objects, in
    bytes; each object is asked for with a request of ``request_bytes``, and the server takes
    ``server_delay_s`` before it answers: one value per object, main object first. Times are in seconds.
    """

    think_s: float
    main_bytes: int
    image_bytes: tuple[int, ...]
    request_bytes: tuple[int, ...]
    server_delay_s: tuple[float, ...]

    @property
    def objects(self) -> int:
        """The number of objects, main object included."""
        return 1 + len(self.image_bytes)

    @property
    def total_bytes(self) -> int:
        """The bytes of all objects, without headers of any protocol."""
        return self.main_bytes + sum(self.image_bytes)

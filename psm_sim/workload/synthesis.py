"""Synthesis of pages: draws from a trace profile."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from psm_sim.arrays import Floats
from psm_sim.bounds import MOST_S
from psm_sim.errors import InputError
from psm_sim.parameters import check_all, parameter
from psm_sim.randomness import stream
from psm_sim.workload.constant import AS_TRACE, constant
from psm_sim.workload.limits import check_objects
from psm_sim.workload.page import Page
from psm_sim.workload.profile import Profile
from psm_sim.workload.quantiles import Quantiles
from psm_sim.workload.stratified import stratified, whole

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Drawing:
    """Drawing of pages from a profile: the parameters of a synthetic trace."""

    server_delay_ms: str = parameter(
        AS_TRACE,
        "time the server takes before it answers each object: a constant, 'none', or 'trace' for the "
        "trace's own distribution",
        unit="ms",
    )
    max_think_s: float | None = parameter(
        1000.0,
        "think times over this are rejected and drawn again",
        unit="s",
        above=0,
        at_most=MOST_S,
        optional=True,
    )
    mean_think_s: float | None = parameter(
        None,
        "scale think times to exactly this mean over the run",
        unit="s",
        above=0,
        at_most=MOST_S,
        optional=True,
        kind=float,
    )
    request_bytes: str = parameter(
        AS_TRACE,
        "size of every request: a constant, or 'trace' for the trace's own distribution",
        unit="bytes",
    )
    files_are_images: bool = parameter(
        False,
        "take files per page as the number of embedded objects, the main object not counted: one object "
        "too many per page, as ns-2's example does",
    )
    wander: float | None = parameter(
        0.01,
        "how far one draw can move the sum of all draws of a run, as a fraction of it; none: no limit",
        above=0,
        at_most=1,
        optional=True,
    )

    def __post_init__(self) -> None:
        check_all(self, "trace")
        constant("server_delay_ms", self.server_delay_ms, at_least=0)
        constant("request_bytes", self.request_bytes, at_least=1)


def draw_pages(
    profile: Profile, drawing: Drawing, pages: int, seed: int, replication: int = 0, part: str = ""
) -> tuple[Page, ...]:
    """Draw *pages* pages.

    Each quantity has its own random stream, so that a change of one parameter does not change the draws of
    the others. Draws are stratified over the pages of the run; those of objects over all objects
    of the run (:mod:`psm_sim.workload.stratified`).

    Parameters
    ----------
    profile : Profile
        The distributions.
    drawing : Drawing
        The parameters.
    pages : int
        The number of pages, at least 1.
    seed, replication : int
        The seed, and the number of the replication, each 0 or more.
    part : str
        A name that makes this draw independent of other draws with the same seed.
    """
    draw = Draws(profile, drawing, seed, replication, part)
    think = draw.think(pages)
    images = draw.whole("files_per_page", pages) - (0 if drawing.files_are_images else 1)
    objects = int(images.sum()) + pages
    check_objects(objects, f"trace {profile.name}")
    sizes = draw.sizes(images)
    requests = draw.requests(objects)
    delays = draw.delays(objects)
    made, first = [], 0
    for wait, count in zip(think.tolist(), images.tolist(), strict=True):
        mine = slice(first, first + 1 + count)
        main, *embedded = sizes[mine]
        made.append(Page(wait, main, tuple(embedded), tuple(requests[mine]), tuple(delays[mine])))
        first = mine.stop
    return tuple(made)


class Draws:
    """Draws of one run, each quantity from its own stream; arguments as for :func:`draw_pages`."""

    def __init__(
        self, profile: Profile, drawing: Drawing, seed: int, replication: int, part: str = ""
    ) -> None:
        self._profile, self._drawing = profile, drawing
        self._seed, self._replication = seed, replication
        self._prefix = f"workload.{part}." if part else "workload."

    def _stratified(self, name: str, n: int, table: Quantiles, upto: float = 1.0) -> Floats:
        return stratified(table, n, self._random(name), upto, self._drawing.wander)

    def _random(self, name: str) -> np.random.Generator:
        return stream(self._seed, self._prefix + name, self._replication)

    def whole(self, name: str, n: int) -> Counts:
        """Draw whole numbers of at least 1."""
        values = self._stratified(name, n, self._profile.tables[name])
        # A table of sizes can begin at 0, but an object has at least 1 byte.
        return np.maximum(whole(values, self._random(f"{name}.rounding")), 1)

    def think(self, n: int) -> Floats:
        """Draw think times in seconds, those over the limit rejected."""
        table, limit = self._profile.tables["think_s"], self._drawing.max_think_s
        # Drawing up to the limit's probability is rejection without the draws that would be thrown away.
        upto = 1.0 if limit is None else table.probability(limit)
        if upto == 0:
            raise InputError(
                f"trace: max_think_s is {limit:g}; expected more than {table.values[0]:g}, "
                f"the smallest think time of {self._profile.name}."
            )
        values = self._stratified("think_s", n, table, upto)
        mean = self._drawing.mean_think_s
        return values if mean is None else values * (mean / values.mean())

    def sizes(self, images: Counts) -> list[int]:
        """Return the sizes of all objects, page by page, main object first."""
        objects = int(images.sum()) + images.size
        if "main_bytes" not in self._profile.tables:
            alike: list[int] = self.whole("reply_bytes", objects).tolist()
            return alike
        sizes = np.empty(objects, dtype=np.int64)
        is_main = np.zeros(objects, dtype=bool)
        is_main[np.cumsum(images + 1) - images - 1] = True
        sizes[is_main] = self.whole("main_bytes", images.size)
        sizes[~is_main] = self.whole("image_bytes", objects - images.size)
        listed: list[int] = sizes.tolist()
        return listed

    def requests(self, n: int) -> list[int]:
        """Draw request sizes, or repeat the constant asked for."""
        fixed = constant("request_bytes", self._drawing.request_bytes, 1)
        return self.whole("request_bytes", n).tolist() if fixed is None else [round(fixed)] * n

    def delays(self, n: int) -> list[float]:
        """Draw server delays in seconds, or repeat the constant asked for."""
        fixed_ms = constant("server_delay_ms", self._drawing.server_delay_ms, 0)
        table = self._profile.tables.get("server_delay_s")
        if fixed_ms is not None or table is None:
            return [(fixed_ms or 0.0) / 1000] * n
        values: list[float] = self._stratified("server_delay_s", n, table).tolist()
        return values

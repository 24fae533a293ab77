"""Synthesis of pages: draws from a trace profile."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from psm_sim.array_types import FloatArray
from psm_sim.errors import InputError
from psm_sim.random_streams import random_stream
from psm_sim.workload.constant_distribution import constant_distribution
from psm_sim.workload.distribution_families import Distribution
from psm_sim.workload.page_sampling import MAH, PageSampling
from psm_sim.workload.page_view import Page
from psm_sim.workload.size_limits import check_objects
from psm_sim.workload.stratified_sampling import stratified_draws, stratified_integers
from psm_sim.workload.trace_profile import Profile, berkeley_profile

Counts = NDArray[np.int64]


def draw_pages(
    profile: Profile, drawing: PageSampling, pages: int, seed: int, replication: int = 0, part: str = ""
) -> tuple[Page, ...]:
    """Draw *pages* pages.

    Each quantity has its own random stream, so that a change of one parameter does not change the draws of
    the others. Draws are stratified over the pages of the run; those of objects over all objects
    of the run (:mod:`psm_sim.workload.stratified_sampling`).

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
    sizes, requests = shared_draws(draw.sizes(images)), shared_draws(draw.requests(objects))
    delays = draw.delays(objects)
    made, first = [], 0
    for wait, count in zip(think.tolist(), images.tolist(), strict=True):
        mine = slice(first, first + 1 + count)
        main, *embedded = sizes[mine]
        made.append(Page(wait, main, tuple(embedded), tuple(requests[mine]), tuple(delays[mine])))
        first = mine.stop
    return tuple(made)


def shared_draws(values: list[int]) -> list[int]:
    """Return the same values with one object for equal ones, which saves an eighth of a workload's memory."""
    objects: dict[int, int] = {}
    return [objects.setdefault(value, value) for value in values]


class Draws:
    """Draws of one run, each quantity from its own stream; arguments as for :func:`draw_pages`."""

    def __init__(
        self, profile: Profile, drawing: PageSampling, seed: int, replication: int, part: str = ""
    ) -> None:
        self._profile, self._drawing = profile, drawing
        self._seed, self._replication = seed, replication
        self._prefix = f"workload.{part}." if part else "workload."

    def _stratified(self, name: str, n: int, table: Distribution, upto: float = 1.0) -> FloatArray:
        return stratified_draws(table, n, self._random(name), upto, self._drawing.wander)

    def _random(self, name: str) -> np.random.Generator:
        return random_stream(self._seed, self._prefix + name, self._replication)

    def whole(self, name: str, n: int) -> Counts:
        """Draw whole numbers of at least 1."""
        values = self._stratified(name, n, self._profile.tables[name])
        return np.maximum(stratified_integers(values, self._random(f"{name}.rounding")), 1)

    def think(self, n: int) -> FloatArray:
        """Draw think times in seconds, those over the limit rejected."""
        profile = berkeley_profile() if self._drawing.think.strip() == MAH else self._profile
        table: Distribution = profile.tables["think_s"]
        upto = self._share_allowed(table)
        mean = self._drawing.mean_think_s
        family = self._drawing.think_family(mean or _mean_up_to(table, upto))
        if family is not None:
            table, upto = family, self._share_allowed(family)
        values = self._stratified("think_s", n, table, upto)
        if family is not None:
            values = values * (family.mean / _mean_up_to(family, upto))
        return values if mean is None else values * (mean / values.mean())

    def _share_allowed(self, think: Distribution) -> float:
        """Return the probability of a think time within the limit."""
        # Drawing up to the limit's probability is rejection without the draws that would be thrown away.
        limit = self._drawing.max_think_s
        upto = 1.0 if limit is None else think.probability(limit)
        if upto == 0:
            raise InputError(
                f"trace: max_think_s is {limit:g}; expected more than {float(think.at(0.0)):g}, "
                f"the smallest think time of {self._profile.name}."
            )
        return upto

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
        fixed = constant_distribution("request_bytes", self._drawing.request_bytes, 1)
        return self.whole("request_bytes", n).tolist() if fixed is None else [round(fixed)] * n

    def delays(self, n: int) -> list[float]:
        """Draw server delays in seconds."""
        table = self._drawing.delay_family() or self._profile.tables.get("server_delay_s")
        if table is None:
            return [0.0] * n
        values: list[float] = self._stratified("server_delay_s", n, table).tolist()
        return values


def _mean_up_to(table: Distribution, upto: float) -> float:
    """Return the mean of the lowest part of a distribution, up to a cumulative probability."""
    return float(table.integral(upto)) / upto

"""Sampling of pages from a trace profile."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.common.random_streams import random_stream
from psm_sim.workload.distribution_families import Distribution
from psm_sim.workload.distribution_override import constant_distribution
from psm_sim.workload.page_view import Page
from psm_sim.workload.size_limits import check_objects
from psm_sim.workload.stratified_sampling import stratified_draws, stratified_integers
from psm_sim.workload.synthetic_trace_parameters import MAH, PageSampling
from psm_sim.workload.trace_profile import Profile, berkeley_profile

Counts = NDArray[np.int64]


def sample_pages(
    profile: Profile, sampling: PageSampling, pages: int, seed: int, replication: int = 0, part: str = ""
) -> tuple[Page, ...]:
    """Sample pages from a profile.

    Each quantity has its own random stream, so changing one parameter does not change the draws of the
    others. Draws are stratified over all pages or all objects of the run, see
    :mod:`psm_sim.workload.stratified_sampling`.

    Parameters
    ----------
    profile : Profile
        Distributions.
    sampling : PageSampling
        Parameters of the trace.
    pages : int
        Number of pages, at least 1.
    seed, replication : int
        Random seed and replication number, each 0 or more.
    part : str
        Name of an independent set of random streams for the same seed.
    """
    sampler = PageSampler(profile, sampling, seed, replication, part)
    think_s = sampler.think_times(pages)
    images = sampler.integers("files_per_page", pages) - (0 if sampling.files_are_images else 1)
    objects = int(images.sum()) + pages
    check_objects(objects, f"trace {profile.name}")
    sizes, requests = share_equal_values(sampler.sizes(images)), share_equal_values(sampler.requests(objects))
    delays = sampler.delays(objects)
    sampled, first = [], 0
    for wait, count in zip(think_s.tolist(), images.tolist(), strict=True):
        span = slice(first, first + 1 + count)
        main, *embedded = sizes[span]
        sampled.append(Page(wait, main, tuple(embedded), tuple(requests[span]), tuple(delays[span])))
        first = span.stop
    return tuple(sampled)


def share_equal_values(values: list[int]) -> list[int]:
    """Return equal values as the same object, which saves an eighth of a workload's memory."""
    objects: dict[int, int] = {}
    return [objects.setdefault(value, value) for value in values]


class PageSampler:
    """Sampler of one run with one random stream per quantity; arguments as for :func:`sample_pages`."""

    def __init__(
        self, profile: Profile, sampling: PageSampling, seed: int, replication: int, part: str = ""
    ) -> None:
        self._profile, self._sampling = profile, sampling
        self._seed, self._replication = seed, replication
        self._prefix = f"workload.{part}." if part else "workload."

    def _stratified(self, name: str, n: int, table: Distribution, max_probability: float = 1.0) -> FloatArray:
        return stratified_draws(table, n, self._random(name), max_probability, self._sampling.wander)

    def _random(self, name: str) -> np.random.Generator:
        return random_stream(self._seed, self._prefix + name, self._replication)

    def integers(self, name: str, n: int) -> Counts:
        """Sample *n* integers >= 1 from the table *name*."""
        values = self._stratified(name, n, self._profile.tables[name])
        return np.maximum(stratified_integers(values, self._random(f"{name}.rounding")), 1)

    def think_times(self, n: int) -> FloatArray:
        """Sample *n* think times in seconds, rejecting those above the limit."""
        profile = berkeley_profile() if self._sampling.think.strip() == MAH else self._profile
        table: Distribution = profile.tables["think_s"]
        max_probability = self._max_probability(table)
        mean = self._sampling.mean_think_s
        family = self._sampling.think_family(mean or _mean_up_to(table, max_probability))
        if family is not None:
            table, max_probability = family, self._max_probability(family)
        values = self._stratified("think_s", n, table, max_probability)
        if family is not None:
            values = values * (family.mean / _mean_up_to(family, max_probability))
        return values if mean is None else values * (mean / values.mean())

    def _max_probability(self, think: Distribution) -> float:
        """Return the probability of a think time within the limit."""
        # Sampling up to this probability is equivalent to rejection sampling, without rejected draws.
        limit = self._sampling.max_think_s
        max_probability = 1.0 if limit is None else think.probability(limit)
        if max_probability == 0:
            raise InputError(
                f"trace: max_think_s must be greater than {float(think.at(0.0)):g}, the smallest think time "
                f"of {self._profile.name}, got {limit:g}."
            )
        return max_probability

    def sizes(self, images: Counts) -> list[int]:
        """Sample the sizes of all objects, page by page, main object first."""
        objects = int(images.sum()) + images.size
        if "main_bytes" not in self._profile.tables:
            sizes_of_all: list[int] = self.integers("reply_bytes", objects).tolist()
            return sizes_of_all
        sizes = np.empty(objects, dtype=np.int64)
        is_main = np.zeros(objects, dtype=bool)
        is_main[np.cumsum(images + 1) - images - 1] = True
        sizes[is_main] = self.integers("main_bytes", images.size)
        sizes[~is_main] = self.integers("image_bytes", objects - images.size)
        size_list: list[int] = sizes.tolist()
        return size_list

    def requests(self, n: int) -> list[int]:
        """Sample *n* request sizes in bytes, or repeat the configured constant."""
        constant = constant_distribution("request_bytes", self._sampling.request_bytes, 1)
        return self.integers("request_bytes", n).tolist() if constant is None else [round(constant)] * n

    def delays(self, n: int) -> list[float]:
        """Sample *n* server delays in seconds."""
        table = self._sampling.delay_family() or self._profile.tables.get("server_delay_s")
        if table is None:
            return [0.0] * n
        values: list[float] = self._stratified("server_delay_s", n, table).tolist()
        return values


def _mean_up_to(table: Distribution, max_probability: float) -> float:
    """Return the mean of a distribution truncated at a cumulative probability."""
    return float(table.integral(max_probability)) / max_probability

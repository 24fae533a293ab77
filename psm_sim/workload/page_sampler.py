"""Sampling of pages from a trace profile.

Sampling is stratified, so that the mean of a sample is close to the mean of the distribution. For n draws,
the probabilities from 0 to 1 are divided into n equal strata, and each stratum gives one draw. Thus 100 think
times are never all short by chance. The draws are then shuffled, so they show no trend.

With a heavy tail, the values of the last stratum differ widely: the largest of 284 replies has 0.4 to 1.6 MB
and changes the mean by 30 %. The parameter ``wander`` therefore limits the difference between the largest and
the smallest value of a stratum, as a fraction of the sum of all draws. In a stratum with a larger difference,
draws are moved towards the mean of the stratum until the limit is met. This preserves the expectation, but a
short run does not contain the largest values. A longer run has more strata, so it reaches further into the
tail. ``wander=None`` disables the limit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.common.parameters import SECONDS, check_all, parameter
from psm_sim.common.random_streams import random_stream
from psm_sim.workload.distributions import (
    AS_TRACE,
    FAMILIES,
    Distribution,
    Family,
    constant_distribution,
    distribution_family,
)
from psm_sim.workload.page_view import Page, check_objects
from psm_sim.workload.trace_profile import Profile, berkeley_profile

MAH = "mah"


@dataclass(frozen=True)
class PageSampling:
    """Parameters for sampling pages from a profile."""

    server_delay_ms: str = parameter(
        AS_TRACE,
        "server delay of each object: a constant, 'none', 'trace' for the trace's own distribution, or a "
        "family with mean and shape, e.g. exponential:650 or gamma:650:2",
        unit="ms",
    )
    main_delay_ms: str | None = parameter(
        None,
        "server delay of the main object of each page, in the same form, e.g. 650 for a dynamic page with "
        "immediate images (none: as server_delay_ms)",
        unit="ms",
        expert=True,
    )
    think: str = parameter(
        AS_TRACE,
        "distribution of think times: 'trace' for the trace's own, 'mah' for Berkeley's, or a family with "
        "the trace's mean: constant, uniform, exponential, gamma:K, lognormal:SIGMA, two-point:ZEROS",
    )
    max_think_s: float | None = parameter(
        1000.0,
        "maximum think time; larger ones are rejected and sampled again",
        **SECONDS,
        above=0,
        expert=True,
    )
    mean_think_s: float | None = parameter(
        None, "scale think times to exactly this mean over the run", **SECONDS, above=0
    )
    request_bytes: str = parameter(
        AS_TRACE,
        "size of every request: a constant, or 'trace' for the trace's own distribution",
        unit="bytes",
    )
    files_are_images: bool = parameter(
        False,
        "count files per page without the main object, so that each page has one object more, as in ns-2's "
        "example",
        expert=True,
    )
    wander: float | None = parameter(
        0.01,
        "largest influence of one draw on the sum of a run's draws, as a fraction; none: no limit",
        above=0,
        at_most=1,
        expert=True,
    )

    def __post_init__(self) -> None:
        check_all(self, "trace")
        self.delay_family("server_delay_ms")
        if self.main_delay_ms is not None:
            self.delay_family("main_delay_ms")
        self.think_family(1.0)
        constant_distribution("request_bytes", self.request_bytes, at_least=1)

    def think_family(self, mean_s: float) -> Family | None:
        """Return the family of think times with mean *mean_s*, or None if a trace's table is selected."""
        is_table = self.think.strip() in (AS_TRACE, MAH)
        return (
            None if is_table else distribution_family(self.think, mean_s, f"trace: think is {self.think!r}")
        )

    def delay_family(self, key: str) -> Family | None:
        """Return the family of server delays in seconds, or None if the trace's own distribution is selected.

        *key* is the parameter to read, ``server_delay_ms`` or ``main_delay_ms``.
        """
        text: str = getattr(self, key)
        name, _, rest = text.strip().partition(":")
        if name not in FAMILIES:
            constant_ms = constant_distribution(key, text, at_least=0)
            return None if constant_ms is None else Family("constant", constant_ms / 1000)
        mean, colon, shape = rest.partition(":")
        owner = f"trace: {key} is {text!r}"
        if not mean or mean == AS_TRACE:
            raise InputError(f"{owner}; expected a mean in ms after the name, e.g. {name}:650.")
        mean_ms = constant_distribution(key, mean, at_least=0) or 0.0
        return distribution_family(f"{name}{colon}{shape}", mean_ms / 1000, owner)


Counts = NDArray[np.int64]


def sample_pages(
    profile: Profile, sampling: PageSampling, pages: int, seed: int, part: str = ""
) -> tuple[Page, ...]:
    """Sample pages from a profile.

    Each quantity has its own random stream, so changing one parameter does not change the draws of the
    others. Draws are stratified over all pages or all objects of the run. Calls with different names
    *part* use independent random streams, even with the same seed.
    """
    sampler = PageSampler(profile, sampling, seed, part)
    think_s = sampler.think_times(pages)
    images = sampler.integers("files_per_page", pages) - (0 if sampling.files_are_images else 1)
    objects = int(images.sum()) + pages
    check_objects(objects, f"trace {profile.name}")
    is_main = np.zeros(objects, dtype=bool)
    is_main[np.cumsum(images + 1) - images - 1] = True
    sizes, requests, delays = sampler.sizes(is_main), sampler.requests(objects), sampler.delays(is_main)
    sampled, first = [], 0
    for wait, count in zip(think_s.tolist(), images.tolist(), strict=True):
        span = slice(first, first + 1 + count)
        main, *embedded = sizes[span]
        sampled.append(Page(wait, main, tuple(embedded), tuple(requests[span]), tuple(delays[span])))
        first = span.stop
    return tuple(sampled)


class PageSampler:
    """Sampler of the quantities of a run. See :func:`sample_pages` for the arguments."""

    def __init__(self, profile: Profile, sampling: PageSampling, seed: int, part: str = "") -> None:
        self._profile, self._sampling, self._seed = profile, sampling, seed
        self._prefix = f"workload.{part}." if part else "workload."

    def _stratified(self, name: str, n: int, table: Distribution, max_probability: float = 1.0) -> FloatArray:
        return stratified_draws(table, n, self._random(name), max_probability, self._sampling.wander)

    def _random(self, name: str) -> np.random.Generator:
        return random_stream(self._seed, self._prefix + name)

    def integers(self, name: str, n: int) -> Counts:
        """Sample *n* integers from the table *name*, rounded up to at least 1."""
        values = self._stratified(name, n, self._profile.tables[name])
        return np.maximum(stratified_integers(values, self._random(f"{name}.rounding")), 1)

    def think_times(self, n: int) -> FloatArray:
        """Sample *n* think times of at most ``max_think_s``, in seconds."""
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
        """Return the probability that a think time is at most ``max_think_s``."""
        # Sampling up to this probability is equivalent to rejection sampling, without rejected draws.
        limit = self._sampling.max_think_s
        max_probability = 1.0 if limit is None else think.probability(limit)
        if max_probability == 0:
            raise InputError(
                f"trace: max_think_s must be greater than {float(think.at(0.0)):g}, the smallest think time "
                f"of {self._profile.name}, got {limit:g}."
            )
        return max_probability

    def sizes(self, is_main: NDArray[np.bool_]) -> list[int]:
        """Sample the sizes of all objects in bytes. *is_main* is True for the main object of each page."""
        sizes = np.empty(is_main.size, dtype=np.int64)
        if "main_bytes" in self._profile.tables:
            sizes[is_main] = self.integers("main_bytes", int(is_main.sum()))
            sizes[~is_main] = self.integers("image_bytes", int((~is_main).sum()))
        else:
            sizes[:] = self.integers("reply_bytes", is_main.size)
        size_list: list[int] = sizes.tolist()
        return size_list

    def requests(self, n: int) -> list[int]:
        """Sample *n* request sizes in bytes, unless the configured size is constant."""
        constant = constant_distribution("request_bytes", self._sampling.request_bytes, 1)
        return self.integers("request_bytes", n).tolist() if constant is None else [round(constant)] * n

    def delays(self, is_main: NDArray[np.bool_]) -> list[float]:
        """Sample the server delays of all objects in seconds; see :meth:`sizes` for *is_main*."""
        delays = self._delays("server_delay", is_main.size)
        if self._sampling.main_delay_ms is not None:
            delays[is_main] = self._delays("main_delay", int(is_main.sum()))
        delay_list: list[float] = delays.tolist()
        return delay_list

    def _delays(self, name: str, n: int) -> FloatArray:
        table = self._sampling.delay_family(f"{name}_ms") or self._profile.tables.get("server_delay_s")
        return np.zeros(n) if table is None else self._stratified(f"{name}_s", n, table)


def _mean_up_to(table: Distribution, max_probability: float) -> float:
    """Return the mean of the distribution truncated at the quantile of *max_probability*."""
    return float(table.integral(max_probability)) / max_probability


def stratified_draws(
    table: Distribution,
    n: int,
    random: np.random.Generator,
    max_probability: float = 1.0,
    wander: float | None = 0.01,
) -> FloatArray:
    """Draw *n* numbers, one from each of *n* strata, in random order; shape (n,).

    Values above the quantile of *max_probability* are not drawn. *wander* is the largest change of the sum of
    all draws that a single draw can cause, as a fraction; None disables the limit.
    """
    if n == 0:
        return np.empty(0)
    edges = np.linspace(0.0, max_probability, n + 1)
    draws = table.at(edges[:-1] + random.random(n) * (max_probability / n))
    if wander is None:
        return random.permutation(draws)
    # The integral gives the exact mean of each stratum, so shrinking towards it keeps the expectation.
    stratum_mean = np.diff(table.integral(edges)) * (n / max_probability)
    width, max_width = np.diff(table.at(edges)), wander * stratum_mean.sum()
    pull = np.divide(max_width, width, out=np.ones(n), where=width > max_width)
    # Keep other draws bit-for-bit identical: stratum_mean + (draws - stratum_mean) would round them.
    return random.permutation(np.where(pull < 1, stratum_mean + pull * (draws - stratum_mean), draws))


def stratified_integers(values: FloatArray, random: np.random.Generator) -> NDArray[np.int64]:
    """Round each value up or down at random, without changing the expectation.

    For example, 2.3 becomes 3 with probability 0.3 and 2 otherwise.
    """
    return np.floor(values + random.random(values.size)).astype(np.int64)

"""Non-stationary traces whose pages alternate between regimes on a known schedule."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from psm_sim.common.errors import InputError
from psm_sim.common.parameters import build, check_all, parameter, values_of
from psm_sim.common.random_streams import random_stream
from psm_sim.workload.distributions import AS_TRACE
from psm_sim.workload.page_sampler import PageSampling, sample_pages
from psm_sim.workload.page_view import Page
from psm_sim.workload.trace_profile import Profile, TraceFile, pop_facts, pop_tables, profile_of
from psm_sim.workload.workload import Workload

FIXED, GEOMETRIC = "fixed", "geometric"
_ITEM = re.compile(r"(?P<name>\w+)(\*(?P<pages>[0-9]{1,9}))?")


@dataclass(frozen=True)
class ShiftingProfile:
    """Parameters of a trace with regimes, which define its schedule."""

    order: str = parameter(
        AS_TRACE,
        "repeated order of the regimes, NAME or NAME*PAGES joined by '+'; trace: the trace's own",
    )
    length: float = parameter(1.0, "factor for the pages of every segment", above=0, at_most=1e6)
    lengths: str = parameter(
        FIXED,
        "pages of a segment: fixed as configured, or geometrically distributed with those means",
        choices=(FIXED, GEOMETRIC),
    )

    def __post_init__(self) -> None:
        check_all(self, "trace")


class Stretch(NamedTuple):
    """Segment of consecutive pages of one regime.

    Attributes
    ----------
    regime
        Name of the regime.
    first
        Number of its first page; the first page of a run is 1.
    pages
        Number of pages.
    """

    regime: str
    first: int
    pages: int


@dataclass(frozen=True)
class ShiftingWorkload(Workload):
    """Workload with the schedule of its regimes, which policies cannot see."""

    schedule: tuple[Stretch, ...] = ()

    def regime_of_each_page(self) -> list[str]:
        """Return the regime of each page, in order."""
        return [stretch.regime for stretch in self.schedule for _ in range(stretch.pages)]


@dataclass(frozen=True)
class Regimes(TraceFile):
    """Regimes of a trace, with a profile and a number of pages per regime, in the order of the file."""

    profiles: dict[str, Profile]
    pages: dict[str, int]


def regimes_of(document: dict[str, Any], path: Path) -> Regimes:
    """Convert the content of a trace file to regimes. *document* is emptied.

    Raises
    ------
    InputError
        If a regime is not a profile or its ``pages`` is not a number. The message names file and regime.
    """
    tables = pop_tables(document, "regimes", "regime", path)
    facts = pop_facts(document, path, f"synthetic pages of the alternating regimes in {path.name}")
    if document:
        raise InputError(f"{path}: unknown key {min(document)} next to regimes; move it into a regime.")
    pages, profiles = {}, {}
    for name, entry in tables.items():
        pages[name] = _check_page_count(entry.pop("pages", None), f"{path}: regimes.{name}.pages")
        profiles[name] = profile_of(entry, Path(f"{path}: regimes.{name}"))
    return Regimes(**vars(facts), profiles=profiles, pages=pages)


def sample_regimes(regimes: Regimes, shifting: ShiftingProfile, pages: int, seed: int) -> ShiftingWorkload:
    """Sample pages, with separate random streams per regime.

    Parameters
    ----------
    regimes : Regimes
        Profiles of the regimes.
    shifting : ShiftingProfile
        Order and lengths of the segments.
    pages : int
        Number of pages of the run, at least 1.
    seed : int
        Random seed, 0 or more.
    """
    schedule = regime_schedule(regimes, shifting, pages, seed)
    pages_of_regime: dict[str, Iterator[Page]] = {}
    # Sample all pages of a regime together and distribute them over its segments. They are then stratified
    # over the run, and the order of the segments does not change their distribution.
    for name, profile in regimes.profiles.items():
        count = sum(stretch.pages for stretch in schedule if stretch.regime == name)
        sampling = build(PageSampling, profile.defaults, f"trace {regimes.name}: regime {name}")
        pages_of_regime[name] = (
            iter(sample_pages(profile, sampling, count, seed, name)) if count else iter(())
        )
    sampled = tuple(
        next(pages_of_regime[stretch.regime]) for stretch in schedule for _ in range(stretch.pages)
    )
    parameters = values_of(shifting) | {
        "schedule": "+".join(f"{each.regime}*{each.pages}" for each in schedule)
    }
    return ShiftingWorkload(
        regimes.name, sampled, regimes.synthetic, regimes.remark, parameters, schedule=schedule
    )


def regime_schedule(
    regimes: Regimes, shifting: ShiftingProfile, pages: int, seed: int = 1
) -> tuple[Stretch, ...]:
    """Return segments with *pages* pages in total; the last one is shortened to fit.

    Parameters
    ----------
    regimes, shifting, pages
        See :func:`sample_regimes`.
    seed : int
        See :func:`sample_regimes`. It affects geometric lengths only.
    """
    random = random_stream(seed, "workload.schedule")
    schedule: list[Stretch] = []
    first = 1
    for name, mean in cycle(_parse_order(regimes.pages, shifting.order, regimes.name)):
        count = _length(max(1.0, mean * shifting.length), shifting.lengths, random)
        count = min(count, pages - first + 1)
        schedule.append(Stretch(name, first, count))
        first += count
        if first > pages:
            return tuple(schedule)
    return ()


def _length(mean: float, lengths: str, random: np.random.Generator) -> int:
    return round(mean) if lengths == FIXED else int(random.geometric(1 / mean))


def _parse_order(pages: Mapping[str, int], order: str, trace: str) -> list[tuple[str, int]]:
    """Parse an order into pairs of a regime and its pages per segment."""
    if order.strip() == AS_TRACE:
        return list(pages.items())
    parsed = []
    for item in order.split("+"):
        match = _ITEM.fullmatch(item.strip())
        if not match or match["name"] not in pages or match["pages"] == "0":
            raise InputError(
                f"trace {trace}: order must be NAME or NAME*PAGES joined by '+', with the regimes "
                f"{', '.join(pages)}, got {item!r}."
            )
        parsed.append((match["name"], int(match["pages"] or pages[match["name"]])))
    return parsed


def _check_page_count(value: Any, owner: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 10**9:
        raise InputError(
            f"{owner} must be an integer from 1 to {10**9:,}, the pages of a segment, got {value!r}."
        )
    return value

"""Non-stationary traces, in which segments of pages follow different profiles (regimes)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

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
    """Parameters that define the order and the lengths of the segments of a trace."""

    order: str = parameter(
        AS_TRACE,
        "repeated order of the regimes, NAME or NAME*PAGES joined by '+'; trace: the trace's own",
    )
    length: float = parameter(1.0, "factor for the pages of every segment", above=0, at_most=1e6)
    lengths: str = parameter(
        FIXED,
        "pages of a segment: as configured, or geometrically distributed with the configured mean",
        choices=(FIXED, GEOMETRIC),
    )

    def __post_init__(self) -> None:
        check_all(self, "trace")


@dataclass(frozen=True)
class Regimes(TraceFile):
    """Profile of each regime, and its number of pages in a segment."""

    profiles: dict[str, Profile]
    pages: dict[str, int]


def regimes_of(document: dict[str, Any], path: Path) -> Regimes:
    """Convert the content *document* of a trace file to regimes. The dictionary is emptied.

    Raises
    ------
    InputError
        If a regime is not a valid profile, or if its ``pages`` is not a number. The message names the file
        and the regime.
    """
    tables = pop_tables(document, "regimes", "regime", path)
    facts = pop_facts(document, path, f"synthetic pages of the alternating regimes in {path.name}")
    if document:
        raise InputError(f"{path}: unknown key {min(document)} next to regimes; move it into a regime.")
    pages, profiles = {}, {}
    for name, entry in tables.items():
        pages[name] = count = entry.pop("pages", None)
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= 10**9:
            raise InputError(
                f"{path}: regimes.{name}.pages must be an integer from 1 to {10**9:,}, the pages of a "
                f"segment, got {count!r}."
            )
        profiles[name] = profile_of(entry, Path(f"{path}: regimes.{name}"))
    return Regimes(**vars(facts), profiles=profiles, pages=pages)


def sample_regimes(regimes: Regimes, texts: Mapping[str, str], pages: int, seed: int) -> Workload:
    """Sample the pages of all segments, with separate random streams for each regime.

    The parameter ``schedule`` of the workload is the sequence of segments, such as ``"short*20+long*5"``.
    Policies do not see it. If ``order`` is set to this value, the pages are the same.
    """
    shifting: ShiftingProfile = build(ShiftingProfile, texts, f"trace {regimes.name}")
    schedule = regime_schedule(regimes, shifting, pages, seed)
    sampled: dict[str, Iterator[Page]] = {}
    # Sample all pages of a regime together and distribute them over its segments. They are then stratified
    # over the run, and the order of the segments does not change their distribution.
    for name, profile in regimes.profiles.items():
        sampling = build(PageSampling, profile.defaults, f"trace {regimes.name}: regime {name}")
        if count := sum(length for regime, length in schedule if regime == name):
            sampled[name] = iter(sample_pages(profile, sampling, count, seed, name))
    viewed = tuple(page for name, length in schedule for page in islice(sampled[name], length))
    parameters = values_of(shifting) | {"schedule": "+".join(f"{name}*{length}" for name, length in schedule)}
    return Workload(regimes.name, viewed, regimes.synthetic, regimes.remark, parameters)


def regime_schedule(
    regimes: Regimes, shifting: ShiftingProfile, pages: int, seed: int
) -> list[tuple[str, int]]:
    """Return the regime and the number of pages of each segment, *pages* pages in total.

    The last segment is shortened to fit. *seed* affects only the lengths of geometric segments.
    """
    random = random_stream(seed, "workload.schedule")
    schedule: list[tuple[str, int]] = []
    order = cycle(_parse_order(regimes.pages, shifting.order, regimes.name))
    while pages:
        name, usual = next(order)
        mean = max(1.0, usual * shifting.length)
        length = round(mean) if shifting.lengths == FIXED else int(random.geometric(1 / mean))
        schedule.append((name, min(length, pages)))
        pages -= schedule[-1][1]
    return schedule


def _parse_order(pages: Mapping[str, int], order: str, trace: str) -> list[tuple[str, int]]:
    """Parse the parameter ``order`` to the regime and the number of pages of each segment."""
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

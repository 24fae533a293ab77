"""Shifting traffic: regimes in turn, each with a profile of its own, on a known schedule."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from psm_sim.errors import InputError
from psm_sim.parameters import build, check_all, parameter, values_of
from psm_sim.random_streams import random_stream
from psm_sim.workload.page_sampling import PageSampling
from psm_sim.workload.page_synthesis import draw_pages
from psm_sim.workload.page_view import Page
from psm_sim.workload.trace_profile import Profile, profile_of
from psm_sim.workload.workload import Workload

AS_TRACE = "trace"
FIXED, GEOMETRIC = "fixed", "geometric"
_ITEM = re.compile(r"(?P<name>\w+)(\*(?P<pages>\d{1,9}))?")


@dataclass(frozen=True)
class ShiftingProfile:
    """Schedule of the regimes: the parameters of a trace with regimes."""

    order: str = parameter(
        AS_TRACE,
        "the regimes in turn, NAME or NAME*PAGES joined by '+', again and again; trace: the trace's own",
    )
    length: float = parameter(1.0, "scale the pages of every stretch by this", above=0, at_most=1e6)
    lengths: str = parameter(
        FIXED,
        "pages of a stretch: as given, or geometrically distributed with those means",
        choices=(FIXED, GEOMETRIC),
    )

    def __post_init__(self) -> None:
        check_all(self, "trace")


class Stretch(NamedTuple):
    """Stretch of ``pages`` pages of one regime, from page ``first`` on; the first page of a run is 1."""

    regime: str
    first: int
    pages: int


@dataclass(frozen=True)
class ShiftingWorkload(Workload):
    """Workload with the schedule it was drawn by, which no policy is told."""

    schedule: tuple[Stretch, ...] = ()

    def regime_of_each_page(self) -> list[str]:
        """Return the regime of each page, in order."""
        return [stretch.regime for stretch in self.schedule for _ in range(stretch.pages)]


@dataclass(frozen=True)
class Regimes:
    """Regimes of a trace: a profile and a number of pages for each, by name, in the file's order."""

    name: str
    remark: str
    synthetic: bool
    source: str
    profiles: dict[str, Profile]
    pages: dict[str, int]


def regimes_of(document: dict[str, Any], path: Path) -> Regimes:
    """Make the regimes from a file's content.

    Raises
    ------
    InputError
        If a regime is no profile, or its ``pages`` no number; the message names the file and the regime.
    """
    found = document["regimes"]
    if not isinstance(found, dict) or not found or not all(isinstance(each, dict) for each in found.values()):
        raise InputError(f"{path}: regimes is no table of regimes; expected [regimes.NAME] for each of them.")
    unknown = set(document) - {"regimes", "name", "remark", "source", "synthetic"}
    if unknown:
        raise InputError(f"{path}: {min(unknown)} is unknown beside regimes; expected it within a regime.")
    pages, profiles = {}, {}
    for name, entry in found.items():
        if not re.fullmatch(r"\w+", name):
            raise InputError(f"{path}: a regime is named {name!r}; expected letters, digits and '_'.")
        pages[name] = _whole(entry.pop("pages", None), f"{path}: regimes.{name}.pages")
        profiles[name] = profile_of(entry, Path(f"{path}: regimes.{name}"))
    return Regimes(
        str(document.get("name", path.stem)),
        str(document.get("remark", f"synthetic pages of the regimes in {path.name}, in turn")),
        bool(document.get("synthetic", True)),
        str(document.get("source", "")),
        profiles,
        pages,
    )


def draw_regimes(
    regimes: Regimes, shifting: ShiftingProfile, pages: int, seed: int, replication: int = 0
) -> ShiftingWorkload:
    """Draw pages, each regime's from streams of its own.

    Parameters
    ----------
    regimes : Regimes
        The profiles of the regimes.
    shifting : Shifting
        Their order and lengths.
    pages : int
        The number of pages of the run, at least 1.
    seed, replication : int
        The seed, and the number of the replication, each 0 or more.
    """
    plan = regime_schedule(regimes, shifting, pages, seed, replication)
    drawn: dict[str, Iterator[Page]] = {}
    # All pages of a regime are drawn together and dealt out to its stretches, so that they are stratified
    # over the run and another order of the stretches leaves their distribution unchanged.
    for name, profile in regimes.profiles.items():
        count = sum(stretch.pages for stretch in plan if stretch.regime == name)
        drawing = build(PageSampling, profile.defaults, f"trace {regimes.name}: regime {name}")
        drawn[name] = (
            iter(draw_pages(profile, drawing, count, seed, replication, name)) if count else iter(())
        )
    made = tuple(next(drawn[stretch.regime]) for stretch in plan for _ in range(stretch.pages))
    parameters = values_of(shifting) | {"schedule": "+".join(f"{each.regime}*{each.pages}" for each in plan)}
    return ShiftingWorkload(regimes.name, made, regimes.synthetic, regimes.remark, parameters, schedule=plan)


def regime_schedule(
    regimes: Regimes, shifting: ShiftingProfile, pages: int, seed: int = 1, replication: int = 0
) -> tuple[Stretch, ...]:
    """Return the stretches that make up *pages* pages; the last one is cut to fit.

    Parameters
    ----------
    regimes, shifting, pages
        As for :func:`draw_regimes`.
    seed, replication : int
        As for :func:`draw_regimes`; they matter only to geometric lengths.
    """
    random = random_stream(seed, "workload.schedule", replication)
    plan: list[Stretch] = []
    first = 1
    for name, mean in cycle(_turns(regimes.pages, shifting.order, regimes.name)):
        count = _length(max(1.0, mean * shifting.length), shifting.lengths, random)
        count = min(count, pages - first + 1)
        plan.append(Stretch(name, first, count))
        first += count
        if first > pages:
            return tuple(plan)
    return ()


def _length(mean: float, lengths: str, random: np.random.Generator) -> int:
    return round(mean) if lengths == FIXED else int(random.geometric(1 / mean))


def _turns(pages: Mapping[str, int], order: str, trace: str) -> list[tuple[str, int]]:
    """Read an order: regimes with the pages of a stretch."""
    if order.strip() == AS_TRACE:
        return list(pages.items())
    turns = []
    for item in order.split("+"):
        found = _ITEM.fullmatch(item.strip())
        if not found or found["name"] not in pages or found["pages"] == "0":
            raise InputError(
                f"trace {trace}: order has {item!r}; expected NAME or NAME*PAGES joined by '+', of the "
                f"regimes {', '.join(pages)}."
            )
        turns.append((found["name"], int(found["pages"] or pages[found["name"]])))
    return turns


def _whole(value: Any, owner: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 10**9:
        raise InputError(
            f"{owner} is {value!r}; expected the pages of a stretch, a whole number of at least 1."
        )
    return value

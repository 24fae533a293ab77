"""Traffic traces: parts that send messages beside pauses or pages, as a TOML file says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from psm_sim.errors import InputError
from psm_sim.limits import MAX_S
from psm_sim.parameters import build, check_all, parameter, parameters_of, values_of
from psm_sim.random_streams import random_stream
from psm_sim.workload.messages import Messages, check_messages
from psm_sim.workload.page_sampling import PageSampling
from psm_sim.workload.page_synthesis import draw_pages
from psm_sim.workload.page_view import Page, Pause
from psm_sim.workload.trace_profile import TEXTS, Profile, profile_of
from psm_sim.workload.traffic_part import TrafficPart
from psm_sim.workload.workload import Workload

_SLACK_S = 30.0
"""Seconds added to each drawn page's think time and server delays: messages go on while it is loaded."""


@dataclass(frozen=True)
class Stretches:
    """Stretches of a traffic trace without pages: each counts as one page."""

    stretch_s: float = parameter(
        600.0, "length of the stretch that counts as one page", unit="s", above=0, at_most=MAX_S
    )

    def __post_init__(self) -> None:
        check_all(self, "trace")


@dataclass(frozen=True)
class TrafficTrace:
    """Traffic trace as its file says it: defaults of its parts by name, and the pages' profile if it has one.

    ``stretch_s`` is a text, as the parts' parameters are; empty for a trace with pages.
    """

    name: str
    remark: str
    synthetic: bool
    source: str
    parts: dict[str, dict[str, str]]
    stretch_s: str = ""
    profile: Profile | None = None


def traffic_of(document: dict[str, Any], path: Path) -> TrafficTrace:
    """Make a traffic trace from a file's content; *document* is emptied.

    Raises
    ------
    InputError
        If a part is no table of parameters, or the tables of the pages are no profile; the message names the
        file and the part.
    """
    found = document.pop("traffic")
    if not isinstance(found, dict) or not found or not all(isinstance(each, dict) for each in found.values()):
        raise InputError(f"{path}: traffic is no table of parts; expected [traffic.NAME] for each of them.")
    for name in found:
        if not re.fullmatch(r"\w+", name):
            raise InputError(f"{path}: a part is named {name!r}; expected letters, digits and '_'.")
    parts = {name: {key: _text(value) for key, value in part.items()} for name, part in found.items()}
    stretch = _text(document.pop("stretch_s", Stretches().stretch_s))
    facts = {key: str(document.get(key, "")) for key in TEXTS}
    synthetic = bool(document.get("synthetic", True))
    profile = profile_of(document, path) if set(document) - {*TEXTS, "synthetic"} else None
    name, remark = facts["name"] or path.stem, facts["remark"] or f"messages as {path.name} says"
    return TrafficTrace(name, remark, synthetic, facts["source"], parts, "" if profile else stretch, profile)


def draw_traffic(
    traffic: TrafficTrace, texts: Mapping[str, str], pages: int, seed: int, replication: int = 0
) -> Workload:
    """Draw the messages of a traffic trace, and its pages or pauses.

    Parameters
    ----------
    traffic
        The trace.
    texts
        Parameters as a user writes them: ``PART.KEY`` of one part, ``KEY`` of all parts that there are, and
        those of the stretches or of the pages.
    pages
        The number of stretches or pages, at least 1; the last one ends the run.
    seed, replication
        The seed, and the number of the replication, each 0 or more.

    Raises
    ------
    InputError
        If a parameter is unknown or out of its range, or there are too many messages.
    """
    owner = f"trace {traffic.name}"
    own, others = _dealt(traffic, texts, owner)
    parts = {name: _part(each, f"{owner}: {name}") for name, each in own.items()}
    drawn, values = _pages(traffic, others, pages, seed, replication)
    length_s = sum(page.think_s + sum(page.server_delay_s) for page in drawn)
    length_s += 0.0 if traffic.profile is None else _SLACK_S * pages
    rows = [
        part.rows(
            length_s, number, random_stream(seed, f"workload.traffic.{name}", replication), f"{owner}: {name}"
        )
        for number, (name, part) in enumerate(parts.items())
        if part.on
    ]
    check_messages(sum(row.size for row in rows), owner)
    messages = Messages(np.concatenate(rows)) if rows else Messages()
    given = {f"{name}.{key}": value for name, part in parts.items() for key, value in values_of(part).items()}
    pause = "" if traffic.profile else f"; a page is a pause of {drawn[0].think_s:g} s"
    remark = f"{traffic.remark}{pause}"
    return Workload(traffic.name, drawn, traffic.synthetic, remark, {**values, **given}, messages=messages)


def _part(texts: Mapping[str, str], owner: str) -> TrafficPart:
    part: TrafficPart = build(TrafficPart, texts, owner)
    part.check_sizes(owner)
    return part


def _pages(
    traffic: TrafficTrace, texts: Mapping[str, str], pages: int, seed: int, replication: int
) -> tuple[tuple[Page, ...], dict[str, Any]]:
    owner = f"trace {traffic.name}"
    if traffic.profile is None:
        stretches = build(Stretches, {"stretch_s": traffic.stretch_s, **texts}, owner)
        return (Pause(stretches.stretch_s),) * pages, values_of(stretches)
    drawing = build(PageSampling, {**traffic.profile.defaults, **texts}, owner)
    return draw_pages(traffic.profile, drawing, pages, seed, replication), values_of(drawing)


def _dealt(
    traffic: TrafficTrace, texts: Mapping[str, str], owner: str
) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    """Deal parameters to the parts they are for; return those, with the file's, and the others."""
    own = {name: dict(part) for name, part in traffic.parts.items()}
    others, everyone = dict[str, str](), parameters_of(TrafficPart)
    for key, text in texts.items():
        name, dot, inner = key.partition(".")
        if not dot and key in everyone:
            own = {each: {**part, key: text} for each, part in own.items()}
        elif dot and name not in own:
            raise InputError(f"{owner} has no part {name!r}; expected one of {', '.join(own)}.")
        elif not dot:
            others[key] = text
    for key, text in texts.items():
        name, dot, inner = key.partition(".")
        if dot:
            own[name][inner] = text
    return own, others


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

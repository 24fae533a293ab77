"""Push traffic, unsolicited datagrams from the network at random or periodic times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_S
from psm_sim.common.parameters import build, check_all, parameter, values_of
from psm_sim.common.random_streams import random_stream
from psm_sim.workload.messages import Messages, check_messages
from psm_sim.workload.page_view import Page
from psm_sim.workload.workload import Workload

_REPLY_BYTES, _REQUEST_BYTES = 1000, 300
"""Sizes of the page view at the end of each interval, one small object without server delay."""

_MAX_PHASES = 1_000_000
"""Maximum number of busy and quiet periods; generating them takes some seconds."""


_BURSTS: dict[str, dict[str, Any]] = {
    "busy_s": {"default": 3.0, "help": "bursts: mean interval in a busy period", "at_least": 1e-6},
    "quiet_for_s": {"default": 300.0, "help": "bursts: mean length of a quiet period", "above": 0},
    "busy_for_s": {"default": 30.0, "help": "bursts: mean length of a busy period", "above": 0},
}


def burst_parameter(name: str, requires: str, *, expert: bool = True) -> Any:
    """Declare the parameter *name* of alternating busy and quiet periods.

    *requires* and *expert* as for :class:`~psm_sim.common.parameters.Parameter`.
    """
    return parameter(**_BURSTS[name], unit="s", at_most=MAX_S, expert=expert, requires=requires)


@dataclass(frozen=True)
class Pushes:
    """Parameters of a push trace."""

    kind: str = parameter(
        "poisson",
        "poisson: memoryless; bursts: alternating busy and quiet periods; clock: periodic; shift: each for a "
        "third of the run",
        choices=("poisson", "bursts", "clock", "shift"),
    )
    bytes: int = parameter(300, "size of a datagram, headers included", unit="B", at_least=29, at_most=1500)
    mean_s: float = parameter(
        60.0,
        "poisson: mean interval",
        unit="s",
        at_least=1e-6,
        at_most=MAX_S,
        requires="kind=poisson or kind=shift",
    )
    quiet_s: float = parameter(
        120.0,
        "bursts: mean interval in a quiet period",
        unit="s",
        at_least=1e-6,
        at_most=MAX_S,
        requires="kind=bursts or kind=shift",
    )
    busy_s: float = burst_parameter("busy_s", "kind=bursts or kind=shift", expert=False)
    quiet_for_s: float = burst_parameter("quiet_for_s", "kind=bursts or kind=shift")
    busy_for_s: float = burst_parameter("busy_for_s", "kind=bursts or kind=shift")
    period_s: float = parameter(
        30.0, "clock: interval", unit="s", at_least=1e-6, at_most=MAX_S, requires="kind=clock or kind=shift"
    )
    spread_s: float = parameter(
        0.3,
        "clock: standard deviation of each transmission time",
        unit="s",
        at_least=0,
        at_most=MAX_S,
        expert=True,
        requires="kind=clock or kind=shift",
    )
    page_s: float = parameter(3600.0, "think time before each page view", unit="s", above=0, at_most=MAX_S)

    def __post_init__(self) -> None:
        check_all(self, "trace pushes")

    def check_count(self, length_s: float, owner: str) -> None:
        """Raise an error if *length_s* seconds contain too many datagrams; *owner* is for the message."""
        shortest_s = {
            "poisson": self.mean_s,
            "clock": self.period_s,
            "bursts": min(self.quiet_s, self.busy_s),
        }
        kinds = tuple(shortest_s) if self.kind == "shift" else (self.kind,)
        check_messages(length_s / min(shortest_s[kind] for kind in kinds), owner)
        phases = 2 * length_s / (self.quiet_for_s + self.busy_for_s)
        if "bursts" in kinds and phases > _MAX_PHASES:
            raise InputError(
                f"{owner}: expected at most {_MAX_PHASES:,} busy and quiet periods, got {phases:,.0f}; use "
                "longer ones (quiet_for_s, busy_for_s), fewer pages or a shorter time."
            )


def generate_pushes(
    document: Mapping[str, Any], path: Path, texts: Mapping[str, str], pages: int, seed: int
) -> Workload:
    """Return the workload of a push trace.

    Parameters
    ----------
    document, path
        Content of the trace file, and its path for the error messages.
    texts
        Parameters of the trace as text, by name.
    pages
        Number of page views. The last one ends the run.
    seed
        Random seed, 0 or more.
    """
    table = document["pushes"]
    if not isinstance(table, dict):
        raise InputError(f"{path}: pushes must be a table of parameters, got {table!r}.")
    name = str(document.get("name", path.stem))
    defaults = {key: str(value) for key, value in table.items()}
    pushes: Pushes = build(Pushes, texts, f"trace {name}", defaults)
    random = random_stream(seed, f"workload.pushes.{pushes.kind}")
    length_s = pages * pushes.page_s
    pushes.check_count(length_s, f"trace {name}")
    at_s = push_times(pushes, length_s, random)
    messages = Messages(Messages.columns(len(at_s), at_s=at_s, bytes=pushes.bytes))
    page = Page(pushes.page_s, _REPLY_BYTES, (), (_REQUEST_BYTES,), (0.0,))
    remark = str(document.get("remark", f"pushes of {path.name}"))
    return Workload(name, (page,) * pages, True, remark, values_of(pushes), messages=messages)


def push_times(pushes: Pushes, length_s: float, random: np.random.Generator) -> list[float]:
    """Generate the transmission times, in ascending order.

    Parameters
    ----------
    pushes : Pushes
        Kind of the traffic and its parameters.
    length_s : float
        Length of the run in seconds.
    random : numpy.random.Generator
        Random stream.
    """
    kinds = ("poisson", "bursts", "clock") if pushes.kind == "shift" else (pushes.kind,)
    part_s = length_s / len(kinds)
    parts = [index * part_s + _KINDS[kind](pushes, part_s, random) for index, kind in enumerate(kinds)]
    times: list[float] = np.concatenate(parts).tolist()
    return times


def _poisson(pushes: Pushes, length_s: float, random: np.random.Generator) -> FloatArray:
    return _memoryless(pushes.mean_s, length_s, random)


def _memoryless(mean_s: float, length_s: float, random: np.random.Generator) -> FloatArray:
    count = random.poisson(length_s / mean_s)
    return np.sort(random.uniform(0.0, length_s, count))


def _bursts(pushes: Pushes, length_s: float, random: np.random.Generator) -> FloatArray:
    parts, start_s, busy = [np.empty(0)], 0.0, False
    while start_s < length_s:
        mean_length_s, mean_s = (
            (pushes.busy_for_s, pushes.busy_s) if busy else (pushes.quiet_for_s, pushes.quiet_s)
        )
        span_s = min(random.exponential(mean_length_s), length_s - start_s)
        parts.append(start_s + _memoryless(mean_s, span_s, random))
        start_s, busy = start_s + max(span_s, 1e-9), not busy
    return np.concatenate(parts)


def _clock(pushes: Pushes, length_s: float, random: np.random.Generator) -> FloatArray:
    scheduled_s = np.arange(pushes.period_s, length_s, pushes.period_s)
    sent_s = scheduled_s + pushes.spread_s * random.standard_normal(scheduled_s.size)
    return np.sort(np.clip(sent_s, 0.0, length_s))


_KINDS: dict[str, Callable[[Pushes, float, np.random.Generator], FloatArray]] = {
    "poisson": _poisson,
    "bursts": _bursts,
    "clock": _clock,
}

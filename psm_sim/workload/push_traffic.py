"""Push traffic: datagrams that nobody asked for, memoryless, in bursts, by a clock, or each in turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.errors import InputError
from psm_sim.limits import MAX_S
from psm_sim.parameters import build, check_all, parameter, values_of
from psm_sim.random_streams import random_stream
from psm_sim.workload.messages import Messages, check_messages
from psm_sim.workload.page_view import Page
from psm_sim.workload.workload import Workload

_REPLY_BYTES, _REQUEST_BYTES = 1000, 300
"""The page view that ends each stretch of time: one small object, answered at once."""

_MAX_TURNS = 1_000_000
"""Busy and quiet times that are drawn: some seconds."""


@dataclass(frozen=True)
class Pushes:
    """Push traffic: the parameters of a trace of datagrams."""

    kind: str = parameter(
        "poisson",
        "memoryless; busy and quiet times in turn; a timer; or each of these for a third of the run",
        choices=("poisson", "bursts", "clock", "shift"),
    )
    bytes: int = parameter(300, "size of a datagram, headers included", unit="B", at_least=29, at_most=1500)
    mean_s: float = parameter(60.0, "poisson: mean time between two", unit="s", at_least=1e-6, at_most=MAX_S)
    quiet_s: float = parameter(
        120.0, "bursts: mean time between two when quiet", unit="s", at_least=1e-6, at_most=MAX_S
    )
    busy_s: float = parameter(
        3.0, "bursts: mean time between two when busy", unit="s", at_least=1e-6, at_most=MAX_S
    )
    quiet_for_s: float = parameter(
        300.0, "bursts: mean length of a quiet time", unit="s", above=0, at_most=MAX_S
    )
    busy_for_s: float = parameter(
        30.0, "bursts: mean length of a busy time", unit="s", above=0, at_most=MAX_S
    )
    period_s: float = parameter(30.0, "clock: time between two", unit="s", at_least=1e-6, at_most=MAX_S)
    spread_s: float = parameter(
        0.3, "clock: standard deviation of each around its time", unit="s", at_least=0, at_most=MAX_S
    )
    page_s: float = parameter(3600.0, "think time before each page view", unit="s", above=0, at_most=MAX_S)

    def __post_init__(self) -> None:
        check_all(self, "trace pushes")

    def check_count(self, length_s: float, owner: str) -> None:
        """Refuse more in *length_s* seconds than can be drawn; *owner* is for the error."""
        shortest_s = {
            "poisson": self.mean_s,
            "clock": self.period_s,
            "bursts": min(self.quiet_s, self.busy_s),
        }
        kinds = tuple(shortest_s) if self.kind == "shift" else (self.kind,)
        check_messages(length_s / min(shortest_s[kind] for kind in kinds), owner)
        turns = 2 * length_s / (self.quiet_for_s + self.busy_for_s)
        if "bursts" in kinds and turns > _MAX_TURNS:
            raise InputError(
                f"{owner}: it is busy and quiet {turns:,.0f} times in turn; expected at most {_MAX_TURNS:,},"
                " so give longer ones (quiet_for_s, busy_for_s), fewer pages or a shorter time."
            )


def draw_pushes(
    document: Mapping[str, Any], path: Path, texts: Mapping[str, str], pages: int, seed: int,
    replication: int = 0,
) -> Workload:  # fmt: skip
    """Draw the pushes of a trace, and the page views.

    Parameters
    ----------
    document, path
        The trace file's content, and its path for the errors.
    texts
        Parameters as texts.
    pages
        The number of page views; the last one ends the run.
    seed, replication
        The seed, and the number of the replication, each 0 or more.
    """
    table = document["pushes"]
    if not isinstance(table, dict):
        raise InputError(f"{path}: pushes is {table!r}; expected a table of parameters.")
    name = str(document.get("name", path.stem))
    defaults = {key: str(value) for key, value in table.items()}
    pushes = build(Pushes, {**defaults, **texts}, f"trace {name}")
    random = random_stream(seed, f"workload.pushes.{pushes.kind}", replication)
    length_s = pages * pushes.page_s
    pushes.check_count(length_s, f"trace {name}")
    at_s = push_times(pushes, length_s, random)
    sent = Messages(Messages.columns(len(at_s), at_s=at_s, bytes=pushes.bytes))
    page = Page(pushes.page_s, _REPLY_BYTES, (), (_REQUEST_BYTES,), (0.0,))
    remark = str(document.get("remark", f"pushes of {path.name}"))
    return Workload(name, (page,) * pages, True, remark, values_of(pushes), messages=sent)


def push_times(pushes: Pushes, length_s: float, random: np.random.Generator) -> list[float]:
    """Return the times of the pushes from 0 up to *length_s* seconds, ascending.

    Parameters
    ----------
    pushes : Pushes
        Their kind and its parameters.
    length_s : float
        The length of the run in seconds.
    random : numpy.random.Generator
        Where the draws come from.
    """
    kinds = ("poisson", "bursts", "clock") if pushes.kind == "shift" else (pushes.kind,)
    part_s = length_s / len(kinds)
    found = [place * part_s + _KINDS[kind](pushes, part_s, random) for place, kind in enumerate(kinds)]
    listed: list[float] = np.concatenate(found).tolist()
    return listed


def _poisson(pushes: Pushes, length_s: float, random: np.random.Generator) -> FloatArray:
    return _memoryless(pushes.mean_s, length_s, random)


def _memoryless(mean_s: float, length_s: float, random: np.random.Generator) -> FloatArray:
    count = random.poisson(length_s / mean_s)
    return np.sort(random.uniform(0.0, length_s, count))


def _bursts(pushes: Pushes, length_s: float, random: np.random.Generator) -> FloatArray:
    parts, begin_s, busy = [np.empty(0)], 0.0, False
    while begin_s < length_s:
        mean_for_s, mean_s = (
            (pushes.busy_for_s, pushes.busy_s) if busy else (pushes.quiet_for_s, pushes.quiet_s)
        )
        span_s = min(random.exponential(mean_for_s), length_s - begin_s)
        parts.append(begin_s + _memoryless(mean_s, span_s, random))
        begin_s, busy = begin_s + max(span_s, 1e-9), not busy
    return np.concatenate(parts)


def _clock(pushes: Pushes, length_s: float, random: np.random.Generator) -> FloatArray:
    due_s = np.arange(pushes.period_s, length_s, pushes.period_s)
    moved_s = due_s + pushes.spread_s * random.standard_normal(due_s.size)
    return np.sort(np.clip(moved_s, 0.0, length_s))


_KINDS: dict[str, Callable[[Pushes, float, np.random.Generator], FloatArray]] = {
    "poisson": _poisson,
    "bursts": _bursts,
    "clock": _clock,
}

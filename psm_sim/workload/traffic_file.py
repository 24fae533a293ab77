"""Traffic traces, which generate streams of messages, with pages or with pauses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.common.formatting import parameter_text
from psm_sim.common.input_limits import MAX_OBJECT_BYTES, MAX_TIME_S
from psm_sim.common.parameters import (
    SECONDS,
    build,
    check_all,
    check_names,
    parameter,
    parameters_of,
    values_of,
)
from psm_sim.common.random_streams import random_stream
from psm_sim.workload.messages import DATAGRAM, Messages, check_messages
from psm_sim.workload.page_sampler import PageSampling, sample_pages
from psm_sim.workload.page_view import Page, Pause
from psm_sim.workload.trace_profile import (
    Profile,
    TraceFile,
    pop_facts,
    pop_tables,
    profile_of,
)
from psm_sim.workload.workload import Workload

_PAGE = ("main_bytes", "request_bytes")
_SLACK_S = 30.0
"""Seconds by which each page extends the time of the messages, beyond think times and server delays.

With psm a page of ``modern`` takes 11 s on average (30 pages, seed 1).
"""


@dataclass(frozen=True)
class Stretches:
    """Parameters of a traffic trace whose pages are not sampled from a profile."""

    stretch_s: float = parameter(600.0, "length of the interval that counts as one page", **SECONDS, above=0)

    def __post_init__(self) -> None:
        check_all(self, "trace")


@dataclass(frozen=True)
class TrafficTrace(TraceFile):
    """Content of a traffic trace file.

    Attributes
    ----------
    parts
        Parameters of each stream of messages as text, by the name of the stream (part).
    streams
        Name of the random stream of each part.
    stretch_s
        Without a profile, the interval that counts as one page, as text.
    page_bytes
        Without a profile, the sizes of the main object and of the request of the page that ends each
        interval. Empty if no page is loaded.
    profile
        Distributions from which pages are sampled, or None.
    """

    parts: dict[str, dict[str, str]]
    streams: dict[str, str]
    stretch_s: str
    page_bytes: tuple[int, ...]
    profile: Profile | None


def traffic_of(document: dict[str, Any], path: Path) -> TrafficTrace:
    """Convert the content *document* of a trace file to a traffic trace. The dictionary is emptied.

    Raises
    ------
    InputError
        If the parameters of a part or the profile are invalid. The message names the file and the part.
    """
    tables = pop_tables(document, "traffic", "part", path)
    streams = {name: f"workload.{part.pop('stream', f'traffic.{name}')}" for name, part in tables.items()}
    facts = pop_facts(document, path, f"messages generated from {path.name}")
    stretch_s = parameter_text(document.pop("stretch_s", Stretches().stretch_s))
    page_bytes: tuple[int, ...] = ()
    if document.keys() == {"page"}:
        page = document.pop("page")
        if not isinstance(page, dict) or page.keys() != set(_PAGE):
            raise InputError(f"{path}: page must be a table with {' and '.join(_PAGE)}, got {page!r}.")
        page_bytes = tuple(page[name] for name in _PAGE)
    parts = {
        name: {key: parameter_text(value) for key, value in part.items()} for name, part in tables.items()
    }
    for name, part in parts.items():
        _build_part({}, f"{path}: {name}", part)  # check now, so that errors name the file
    return TrafficTrace(
        **vars(facts),
        parts=parts,
        streams=streams,
        stretch_s=stretch_s,
        page_bytes=page_bytes,
        profile=profile_of({"name": facts.name, **document}, path) if document else None,
    )


def generate_traffic(traffic: TrafficTrace, texts: Mapping[str, str], pages: int, seed: int) -> Workload:
    """Generate the messages of a traffic trace, with its pages or pauses.

    *texts* are parameters as text. The key ``PART.KEY`` sets a parameter of one part, and ``KEY`` sets it for
    all parts. Other keys are parameters of :class:`Stretches` or :class:`PageSampling`. *pages* is the
    number of pages or pauses.

    Raises
    ------
    InputError
        If a parameter is unknown or out of range, or if there are too many messages.
    """
    owner = f"trace {traffic.name}"
    declared = parameters_of(TrafficPart)
    common, other_texts = dict[str, str](), dict[str, str]()
    own_texts: dict[str, dict[str, str]] = {name: {} for name in traffic.parts}
    for key, text in texts.items():
        name, dot, inner = key.partition(".")
        if dot and name not in own_texts:
            raise InputError(f"{owner}: unknown part {name!r}; expected one of {', '.join(own_texts)}.")
        if dot:
            own_texts[name][inner] = text
        else:
            (common if key in declared else other_texts)[key] = text
    sampling = Stretches if traffic.profile is None else PageSampling
    part_keys = [f"{name}.{key}" for name in own_texts for key in declared]
    check_names(other_texts, [*parameters_of(sampling), *declared, *part_keys], owner)
    parts = {
        name: _build_part(own_texts[name], f"{owner}: {name}", {**part, **common})
        for name, part in traffic.parts.items()
    }
    for key in common:
        condition = declared[key].requires
        if condition and not any(condition.is_met(values_of(part)) for part in parts.values()):
            raise condition.error(owner, key)
    page_views, values = _pages(traffic, other_texts, pages, seed)
    length_s = sum(page.think_s + sum(page.server_delay_s) for page in page_views)
    length_s += 0.0 if traffic.profile is None else _SLACK_S * pages
    rows = [
        part.rows(length_s, number, random_stream(seed, traffic.streams[name]), f"{owner}: {name}")
        for number, (name, part) in enumerate(parts.items())
        if part.on
    ]
    check_messages(sum(row.size for row in rows), owner)
    messages = Messages(np.concatenate(rows)) if rows else Messages()
    for name, part in parts.items():
        values |= {f"{name}.{key}": value for key, value in values_of(part).items()}
    remark = traffic.remark
    if isinstance(page_views[0], Pause):
        remark += f"; --pages counts periods of {page_views[0].think_s:g} s"
    return Workload(traffic.name, page_views, traffic.synthetic, remark, values, messages=messages)


def _build_part(texts: Mapping[str, str], owner: str, defaults: Mapping[str, str]) -> TrafficPart:
    part: TrafficPart = build(TrafficPart, texts, owner, defaults)
    part.check_sizes(owner)
    return part


def _pages(
    traffic: TrafficTrace, texts: Mapping[str, str], pages: int, seed: int
) -> tuple[tuple[Page, ...], dict[str, Any]]:
    owner = f"trace {traffic.name}"
    if traffic.profile is None:
        stretches = build(Stretches, {"stretch_s": traffic.stretch_s, **texts}, owner)
        page: Page = Pause(stretches.stretch_s)
        if traffic.page_bytes:
            main_bytes, request_bytes = traffic.page_bytes
            page = Page(stretches.stretch_s, main_bytes, (), (request_bytes,), (0.0,))
        return (page,) * pages, values_of(stretches)
    sampling = build(PageSampling, {**traffic.profile.defaults, **texts}, owner)
    return sample_pages(traffic.profile, sampling, pages, seed), values_of(sampling)


_MAX_DATAGRAM = 1500  # MTU of Ethernet
_MAX_PHASES = 1_000_000
"""Maximum number of busy and quiet periods; generating them takes some seconds."""

_BURSTS: dict[str, Any] = {**SECONDS, "expert": True, "requires": "timing=bursts"}


@dataclass(frozen=True)
class TrafficPart:
    """Parameters of a stream of messages, which is a part of a traffic trace."""

    on: bool = parameter(True, "send the messages of this part")
    sender: str = parameter("network", "sender; the other side replies", choices=("station", "network"))
    timing: str = parameter(
        "clock",
        "clock: periodic; poisson: memoryless; bursts: alternating busy and quiet periods",
        choices=("clock", "poisson", "bursts"),
    )
    period_s: float = parameter(60.0, "mean interval; bursts: in a quiet period", **SECONDS, at_least=1e-6)
    spread_s: float = parameter(
        0.0,
        "clock: standard deviation of each transmission time",
        **SECONDS,
        at_least=0,
        expert=True,
        requires="timing=clock",
    )
    busy_s: float = parameter(3.0, "bursts: mean interval in a busy period", **_BURSTS, at_least=1e-6)
    quiet_for_s: float = parameter(300.0, "bursts: mean length of a quiet period", **_BURSTS, above=0)
    busy_for_s: float = parameter(30.0, "bursts: mean length of a busy period", **_BURSTS, above=0)
    transport: str = parameter(
        "datagram",
        "single datagrams, or messages on a persistent TCP connection",
        choices=("datagram", "tcp"),
    )
    bytes: int = parameter(
        100, "size; a datagram includes headers, at most 1500", unit="B", at_least=1, at_most=MAX_OBJECT_BYTES
    )
    reply_bytes: int = parameter(
        0,
        "size of the reply, counted like bytes; 0: no reply",
        unit="B",
        at_least=0,
        at_most=MAX_OBJECT_BYTES,
    )
    reply_delay_ms: float = parameter(
        0.0,
        "delay before the other side replies",
        unit="ms",
        at_least=0,
        at_most=1e9,
        expert=True,
        requires="reply_bytes",
    )

    def __post_init__(self) -> None:
        check_all(self, "traffic")

    def check_sizes(self, owner: str) -> None:
        """Raise InputError if a datagram is smaller than its headers or larger than a frame.

        The message begins with *owner*, the name of the part.
        """
        for name, size in (("bytes", self.bytes), ("reply_bytes", self.reply_bytes)):
            if self.transport == "datagram" and size and not 29 <= size <= _MAX_DATAGRAM:
                raise InputError(
                    f"{owner}: {name} of a datagram must be from 29 to {_MAX_DATAGRAM}, including headers of "
                    f"28 bytes, got {size}; use another size or transport=tcp."
                )

    def rows(
        self, length_s: float, connection: int, random: np.random.Generator, owner: str
    ) -> NDArray[np.void]:
        """Return the messages sent from 0 s to *length_s*, as a structured array.

        A part with TCP sends them on the connection with index *connection*. Error messages begin with
        *owner*, the name of the part.
        """
        at_s = self.times_s(length_s, random, owner)
        return Messages.columns(
            at_s.size,
            at_s=at_s,
            bytes=self.bytes,
            uplink=self.sender == "station",
            reply_bytes=self.reply_bytes,
            reply_delay_s=self.reply_delay_ms / 1000,
            connection=connection if self.transport == "tcp" else DATAGRAM,
        )

    def times_s(self, length_s: float, random: np.random.Generator, owner: str) -> FloatArray:
        """Return the ascending transmission times in seconds. See :meth:`rows` for the arguments."""
        has_bursts = self.timing == "bursts"
        check_messages(length_s / min(self.period_s, self.busy_s if has_bursts else MAX_TIME_S), owner)
        if has_bursts:
            return self._bursts(length_s, random, owner)
        if self.timing == "poisson":
            return _poisson(self.period_s, length_s, random)
        # A random phase, because clocks that start with the run would be synchronised with the beacons.
        scheduled_s = np.arange(random.uniform(0.0, self.period_s), length_s, self.period_s)
        sent_s = scheduled_s + self.spread_s * random.standard_normal(scheduled_s.size)
        return np.sort(np.clip(sent_s, 0.0, length_s))

    def _bursts(self, length_s: float, random: np.random.Generator, owner: str) -> FloatArray:
        phases = 2 * length_s / (self.quiet_for_s + self.busy_for_s)
        if phases > _MAX_PHASES:
            raise InputError(
                f"{owner}: expected at most {_MAX_PHASES:,} busy and quiet periods, got {phases:,.0f}; use "
                "longer ones (quiet_for_s, busy_for_s), fewer pages or a shorter time."
            )
        times, start_s, is_busy = [np.empty(0)], 0.0, False
        while start_s < length_s:
            mean_length_s, mean_s = (
                (self.busy_for_s, self.busy_s) if is_busy else (self.quiet_for_s, self.period_s)
            )
            span_s = min(random.exponential(mean_length_s), length_s - start_s)
            times.append(start_s + _poisson(mean_s, span_s, random))
            start_s, is_busy = start_s + max(span_s, 1e-9), not is_busy
        return np.concatenate(times)


def _poisson(mean_s: float, length_s: float, random: np.random.Generator) -> FloatArray:
    count = random.poisson(length_s / mean_s)
    return np.sort(random.uniform(0.0, length_s, count))

"""Push traffic of four kinds: unsolicited datagrams, with a small page after each think time."""

from __future__ import annotations

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.random_streams import random_stream
from psm_sim.workload import Page, Workload
from psm_sim.workload.messages import Messages
from psm_sim.workload.traffic_file import TrafficPart

PUSH_KINDS = ("poisson", "bursts", "clock", "shift")
"""Kinds of push traffic. ``shift`` consists of the other three, each for a third of the run."""

# The first part is that of the bundled trace pushes. As there, the periods have no published source.
_PARTS = {
    "poisson": TrafficPart(timing="poisson", period_s=60.0),
    "bursts": TrafficPart(timing="bursts", period_s=120.0),
}


def push_workload(
    kind: str,
    pages: int,
    seed: int,
    *,
    page_s: float = 3600.0,
    period_s: float = 30.0,
    spread_s: float = 0.3,
) -> Workload:
    """Return datagrams of 300 bytes to the station.

    Parameters
    ----------
    kind
        One of :data:`PUSH_KINDS`.
    pages, page_s
        Number of pages, and the think time before each of them in seconds.
    seed
        Random seed.
    period_s, spread_s
        Mean interval of ``clock``, and the standard deviation of each send time, in seconds.
    """
    random = random_stream(seed, f"workload.pushes.{kind}")
    kinds = PUSH_KINDS[:3] if kind == "shift" else (kind,)
    length_s = pages * page_s / len(kinds)
    times = []
    for number, each in enumerate(kinds):
        if each == "clock":
            found_s = _clock(period_s, spread_s, length_s, random)
        else:
            found_s = _PARTS[each].times_s(length_s, random, kind)
        times.append(number * length_s + found_s)
    at_s = np.concatenate(times)
    messages = Messages(Messages.columns(at_s.size, at_s=at_s, bytes=300))
    page = Page(page_s, 1000, (), (300,), (0.0,))
    remark = "synthetic unsolicited datagrams, and one small page view at the end of each hour"
    return Workload(f"pushes:kind={kind}", (page,) * pages, True, remark, messages=messages)


def _clock(period_s: float, spread_s: float, length_s: float, random: np.random.Generator) -> FloatArray:
    # The first datagram comes after one period, unlike in a trace file, where the phase is random.
    scheduled_s = np.arange(period_s, length_s, period_s)
    sent_s = scheduled_s + spread_s * random.standard_normal(scheduled_s.size)
    return np.sort(np.clip(sent_s, 0.0, length_s))

"""Times of the events of a run, for its figures.

:class:`psm_sim.simulation.recorder.Recorder` records the timeline for the user, with one row per event.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from psm_sim.network import Observer
from psm_sim.network.link import Link
from psm_sim.network.segment import Segment
from psm_sim.policies import Poll, Rest
from psm_sim.simulation.recorder import observe
from psm_sim.simulation.result import Result
from psm_sim.simulation.table import Block

MAX_FRAMES = 8_000
"""Approximate maximum number of frames of one policy in a figure of all pages; 200 pages of ``ucb`` fit."""

_LISTS = {"wireless up": "up", "wireless down": "down"}
_DIGITS = 6  # microseconds
_INSTANT_S = 1e-5  # a shorter time in the queue is not buffering
_PAYLOAD_BYTES, _FRAMES_PER_OBJECT = 1460, 8  # payload of a segment; SYNs, FINs, request and their ACKs


Events = dict[str, Any]
"""Events of a run, see :func:`record_events`."""


class _PlotObserver(Observer):
    """Observer that records awake periods, times of beacons and frames, and sleep decisions."""

    def __init__(self) -> None:
        self.events: Events = {name: [] for name in ("buffered", "beacons", "up", "down", "served", "rests")}
        self.events["awake"] = [[0.0, 0.0]]
        self._arrived_s: dict[int, float] = {}

    def radio(self, time_s: float, awake: bool) -> None:
        """Start or end an awake period."""
        if awake:
            self.events["awake"].append([_round(time_s), _round(time_s)])
        else:
            self.events["awake"][-1][1] = _round(time_s)

    def beacons(self, first_s: float, count: int, every_s: float) -> None:
        """Record the times of a run of received beacons."""
        first_s, every_s = _round(first_s), _round(every_s)
        self.events["beacons"] += [first_s + number * every_s for number in range(count)]

    def rest(self, time_s: float, poll: Poll | None, rest: Rest) -> None:
        """Record a sleep decision: its time and its number of beacons."""
        self.events["rests"].append([_round(time_s), rest.beacons])

    def frame(self, link: Link, queued_s: float, arrives_s: float, segment: Segment) -> None:
        """Record the time at which a wireless frame is queued, and how long a downlink frame was buffered."""
        if link.name == "wired down":
            self.events["served"].append(_round(queued_s))
            self._arrived_s[id(segment)] = arrives_s  # the id is valid until the segment is sent or dropped
        elif link.name in _LISTS:
            self.events[_LISTS[link.name]].append(_round(queued_s))
            arrived_s = self._arrived_s.pop(id(segment), queued_s)
            if queued_s - arrived_s > _INSTANT_S:
                self.events["buffered"].append([_round(arrived_s), _round(queued_s)])

    def finish(self, time_s: float) -> None:
        """End the last awake period."""
        last = self.events["awake"][-1]
        last[1] = max(last[1], _round(time_s))


def record_events(run: Result, count: int) -> Events:
    """Simulate the first seed or client of a result again, and return the events of *count* pages.

    Returns
    -------
    dict
        Times in seconds. ``pages``, ``awake`` and ``buffered`` have the start and end of each page or period.
        ``beacons`` has the times of the received beacons. ``up`` and ``down`` have the times of the frames on
        the wireless link. ``served`` has the times at which the server sends frames, before the access
        point buffers them. ``rests`` has the time and the number of beacons of each sleep decision.
    """
    block = run.blocks[0]
    observer = _PlotObserver()
    observe(Result((block,), (), run.facts), [observer], count)
    columns = [block.pages[name][:count].tolist() for name in ("start_s", "page_time_s")]
    pages = [[_round(start_s), _round(start_s + time_s)] for start_s, time_s in zip(*columns, strict=True)]
    return {"pages": pages, **observer.events}


def fitting_page_count(block: Block) -> int:
    """Return how many of the first pages fit into :data:`MAX_FRAMES` frames, but at least 1."""
    frames = 2 * block.pages["bytes"] // _PAYLOAD_BYTES + _FRAMES_PER_OBJECT * block.pages["objects"]
    return max(int(np.searchsorted(np.cumsum(frames), MAX_FRAMES, side="right")), 1)


def _round(time_s: float) -> float:
    return round(float(time_s), _DIGITS)

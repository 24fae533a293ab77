"""Watched run: what the page's timeline shows, as compact lists of times in seconds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psm_sim.network import Observer
from psm_sim.network.link import Link
from psm_sim.network.segment import Segment
from psm_sim.simulation.result import Result
from psm_sim.simulation.run_records import PageRecord
from psm_sim.simulation.timeline import observe

MAX_FRAMES = 8_000
"""The frames of one policy, about, up to which further pages are shown."""

_LISTS = {"wireless up": "up", "wireless down": "down", "wired down": "reached"}
_DIGITS = 6
_INSTANT_S = 1e-5
_PAYLOAD_BYTES, _FRAMES_PER_OBJECT = 1460, 8


class _Watcher(Observer):
    """Observer that keeps spans of the radio, runs of beacons and times of frames."""

    def __init__(self) -> None:
        self.awake: list[list[float]] = [[0.0, 0.0]]
        self.heard: list[list[float]] = []
        self.frames: dict[str, list[float]] = {name: [] for name in _LISTS.values()}

    def radio(self, time_s: float, awake: bool) -> None:
        """Begin or end a span."""
        if awake:
            self.awake.append([_short(time_s), _short(time_s)])
        else:
            self.awake[-1][1] = _short(time_s)

    def beacons(self, first_s: float, count: int, every_s: float) -> None:
        """Keep a run of beacons: the time of the first, their number, and from one to the next."""
        self.heard.append([_short(first_s), count, _short(every_s) if count > 1 else 0.0])

    def frame(self, link: Link, queued_s: float, arrives_s: float, segment: Segment) -> None:
        """Keep when a frame is sent; of one for the access point, when it gets there."""
        if link.name in _LISTS:
            time_s = arrives_s if link.name == "wired down" else queued_s
            self.frames[_LISTS[link.name]].append(_short(time_s))

    def finish(self, time_s: float) -> None:
        """End the last span."""
        self.awake[-1][1] = max(self.awake[-1][1], _short(time_s))


def record_timeline(run: Result) -> dict[str, Any]:
    """Run a result of one seed again, and return what its first pages did, all times in seconds.

    Returns
    -------
    dict
        ``pages``: number, request, end and slowdown of each; ``awake`` and ``held``: spans, from and to;
        ``beacons``: runs of those heard, first, number and distance; ``up`` and ``down``: frames on the
        wireless link. ``held`` is empty if frames were dropped: it is then not known which were held.
    """
    count = fitting_page_count(run.page_records)
    watcher = _Watcher()
    observe(run, [watcher], count)
    pages = [
        [
            page_record.page,
            _short(page_record.start_s),
            _short(page_record.start_s + page_record.page_time_s),
            f"{page_record.slowdown:.4g}",
        ]
        for page_record in run.page_records[:count]
    ]
    frames = watcher.frames
    held = [] if run.traffic.dropped_frames else _held(frames["reached"], frames["down"])
    up, down = frames["up"], frames["down"]
    spans = {"awake": watcher.awake, "held": held}
    return {"pages": pages, **spans, "beacons": watcher.heard, "up": up, "down": down}


def fitting_page_count(records: Sequence[PageRecord]) -> int:
    """Return how many pages from the first on have about :data:`MAX_FRAMES` frames, at least 1."""
    total = 0
    for count, record in enumerate(records, 1):
        total += 2 * record.bytes // _PAYLOAD_BYTES + _FRAMES_PER_OBJECT * record.objects
        if total > MAX_FRAMES:
            return max(count - 1, 1)
    return len(records)


def _held(reached: Sequence[float], sent: Sequence[float]) -> list[list[float]]:
    """Return from when to when frames waited; they leave in the order in which they came."""
    return [[at, on] for at, on in zip(reached, sent, strict=False) if on - at > _INSTANT_S]


def _short(time_s: float) -> float:
    return round(float(time_s), _DIGITS)

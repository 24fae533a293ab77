"""Timelines as Chrome trace files for Perfetto, with one process for each station.

Source: "Trace Event Format", Google. Times are whole microseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from json import dumps
from math import inf
from typing import Any, BinaryIO

from psm_sim.simulation.recorder import Event, Recorder
from psm_sim.workload import Workload

_RADIO, _BEACONS, _POLICY, _PAGES, _TRANSFERS = 1, 2, 3, 4, 5  # thread IDs, in the order of the tracks
_TRACKS = {_RADIO: "radio", _BEACONS: "beacons received", _POLICY: "policy", _PAGES: "pages"}


def write_perfetto(file: BinaryIO, recorders: Sequence[Recorder]) -> None:
    """Write the events of all stations. The timeline of a station ends with its last page."""
    file.write(b'{"displayTimeUnit":"ms","traceEvents":[\n')
    for number, recorder in enumerate(recorders, 1):
        lines = [dumps(line, separators=(",", ":")) for line in _Process(number, recorder).lines]
        file.write((",\n" if number > 1 else "").encode() + ",\n".join(lines).encode())
    file.write(b"\n]}\n")


def perfetto_bytes(workload: Workload) -> int:
    """Return the approximate size of a timeline: 2 kB for each page, object and message.

    Measured under ``psm``: 1.4 kB with trace ``modern`` and 2.0 kB with ``mqtt``. With a policy that decides
    often, a timeline is up to six times as large.
    """
    objects = sum(page.objects for page in workload.pages)
    return 2000 * (len(workload.pages) + objects + len(workload.messages))


class _Process:
    """Chrome trace events of one station, collected in ``lines``."""

    def __init__(self, number: int, recorder: Recorder) -> None:
        self.lines: list[dict[str, Any]] = []
        topology = recorder.topology
        self._number, self._pages, self._free_s = number, 0, list[float]()
        self._beacon_ms, self._polled_beacons = 1000 * topology.beacon.interval_s, 0
        self._watts = {"wakes": topology.power.awake_w, "dozes": topology.power.asleep_w}
        self._radio: Event = {"event": "wakes", "time_s": 0.0}
        self._beacons: list[float] = []
        self._rest: Event | None = None
        self._page: Event = {}
        self._describe(0, "process", f"{recorder.name} under {recorder.policy.name}")
        for track, name in _TRACKS.items():
            self._describe(track, "thread", name)
        self._count("power (W)", 0.0, {"W": self._watts["wakes"]})
        self._count("buffered frames", 0.0, {"frames": 0})
        for event in recorder.events:
            self._draw(event)
        self._end_radio(recorder.ended_s)
        self._end_rest(recorder.ended_s)
        self._end_beacons()

    def _draw(self, event: Event) -> None:
        time_s, name = event["time_s"], event["event"]
        if name == "beacon":
            self._beacons.append(time_s)
        elif name in ("wakes", "dozes"):
            self._end_beacons()
            self._end_radio(time_s)
            self._radio = event
            self._count("power (W)", time_s, {"W": self._watts[name]})
        elif name == "rest":
            self._end_beacons()
            self._end_rest(time_s)
            self._rest = event
            if event["beacons"] != self._polled_beacons and event["awake_s"] < inf:
                self._polled_beacons = event["beacons"]
                self._count("polling time (ms)", time_s, {"ms": self._beacon_ms * event["beacons"]})
        elif name == "weights":
            weights = {time: round(weight, 4) for time, weight in event["weights"].items()}
            self._count("weights", time_s, weights)
        elif name == "buffered":
            self._count("buffered frames", time_s, {"frames": event["buffered_frames"]})
        elif name == "transfer":
            self._draw_transfer(event)
        elif name == "page requested":
            self._page = event
        elif name in ("page complete", "page failed"):
            self._draw_page(event)

    def _end_radio(self, time_s: float) -> None:
        state = "awake" if self._radio["event"] == "wakes" else "dozing"
        self._slice(_RADIO, state, self._radio["time_s"], time_s)

    def _end_rest(self, time_s: float) -> None:
        if self._rest is not None:
            seen = ("slept_ms", "buffered_frames", "buffered_bytes")
            facts = {name: self._rest[name] for name in seen if name in self._rest}
            self._slice(_POLICY, _describe_rest(self._rest), self._rest["time_s"], time_s, facts)

    def _end_beacons(self) -> None:
        """Draw the collected beacons as a single slice."""
        if count := len(self._beacons):
            name = f"{count:,} beacons" if count > 1 else "beacon"
            self._slice(_BEACONS, name, self._beacons[0], self._beacons[-1], {"count": count})
            self._beacons.clear()

    def _draw_page(self, event: Event) -> None:
        """Draw a page. Pauses (pages without objects) are not drawn."""
        self._pages += 1
        page = self._page
        if page["objects"]:
            facts = {name: page[name] for name in ("objects", "bytes", "think_s")}
            facts |= {"failure": event["reason"]} if "reason" in event else {}
            self._slice(_PAGES, f"page {self._pages}", page["time_s"], event["time_s"], facts)

    def _draw_transfer(self, event: Event) -> None:
        """Draw a transfer on the first free track, because slices on one track must not overlap."""
        begins_s, ends_s, kind = event["time_s"], event["arrives_s"], event["kind"]
        lane = next((number for number, free_s in enumerate(self._free_s) if free_s <= begins_s), -1)
        if lane < 0:
            lane = len(self._free_s)
            self._free_s.append(ends_s)
            self._describe(_TRANSFERS + lane, "thread", f"transfers {lane + 1}")
        self._free_s[lane] = ends_s
        kind = f"connection {event['connection']}" if kind == "reply" else kind
        facts: Event = {name: event[name] for name in ("request_bytes", "server_delay_s") if name in event}
        self._slice(_TRANSFERS + lane, f"{kind}: {event['bytes']:,} B", begins_s, ends_s, facts)

    def _describe(self, track: int, kind: str, name: str) -> None:
        """Set the name and the order of a track, or of the process (track 0)."""
        for key, values in (("name", {"name": name}), ("sort_index", {"sort_index": track or self._number})):
            self.lines.append(
                {"ph": "M", "pid": self._number, "tid": track, "name": f"{kind}_{key}", "args": values}
            )

    def _slice(
        self, track: int, name: str, begins_s: float, ends_s: float, facts: Event | None = None
    ) -> None:
        begins_us, ends_us = round(1e6 * begins_s), round(1e6 * ends_s)
        self.lines.append(
            {
                "ph": "X", "pid": self._number, "tid": track, "name": name, "ts": begins_us,
                "dur": ends_us - begins_us, "args": facts or {},
            }
        )  # fmt: skip

    def _count(self, name: str, time_s: float, values: Event) -> None:
        self.lines.append(
            {"ph": "C", "pid": self._number, "name": name, "ts": round(1e6 * time_s), "args": values}
        )


def _describe_rest(rest: Event) -> str:
    if rest["awake_s"] == inf:
        return "stay awake"
    count = f"{rest['beacons']} beacons" if rest["beacons"] > 1 else "1 beacon"
    doze = f"doze, awake every {count}" if rest["repeat"] else f"doze for {count}"
    return f"stay awake for {rest['awake_s']:.4g} s, then {doze}" if rest["awake_s"] else doze

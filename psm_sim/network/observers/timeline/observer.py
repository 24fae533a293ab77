"""Timeline of a run, as an observer: tracks for radio, policy, pages and transfers, and counters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from psm_sim.network.browser import Visit
from psm_sim.network.observers.observer import Observer
from psm_sim.network.observers.timeline.decisions import Decisions
from psm_sim.network.observers.timeline.trace_file import Process, TraceFile
from psm_sim.network.observers.timeline.transfers import Transfers
from psm_sim.network.on_air import OnAir
from psm_sim.network.topology import Topology
from psm_sim.policies import Policy, Poll, Rest

_RADIO, _BEACONS, _POLICY, _PAGES, _TRANSFERS = 1, 2, 3, 4, 5


class Timeline(Observer):
    """Timeline of one station, which ends with its last page, as its numbers do.

    Parameters
    ----------
    file
        Opened for bytes; or a trace file, in which it is one of several stations.
    name
        Of the station.
    """

    def __init__(self, file: BinaryIO | TraceFile, name: str = "station") -> None:
        self._file = file if isinstance(file, TraceFile) else TraceFile(file)
        self._name = name
        self._awake, self._since_s = True, 0.0
        self._pages = self._lanes = 0
        self._trace: Process
        self._decisions: Decisions
        self._transfers = Transfers(self._transfer)

    def begin(self, topology: Topology, policy: Policy) -> None:
        """Write the names of the tracks."""
        power = topology.power
        self._watts = tuple(f'"W":{watts:.6g}' for watts in (power.asleep_w, power.awake_w))
        self._trace = trace = self._file.process(f"{self._name} under {policy.name}")
        names = {_RADIO: "radio", _BEACONS: "beacons heard", _POLICY: "policy", _PAGES: "pages"}
        for number, name in names.items():
            trace.track(number, name)
        self._decisions = Decisions(trace, _POLICY, policy, topology.beacon.interval_s)
        trace.counter("power (W)", 0.0, self._watts[True])
        trace.counter("held frames", 0.0, '"frames":0')

    def radio(self, time_s: float, awake: bool) -> None:
        """Show the state that ends, and the power of the one that begins."""
        self._state_until(time_s)
        self._awake, self._since_s = awake, time_s
        self._trace.counter("power (W)", time_s, self._watts[awake])

    def beacons(self, first_s: float, count: int, every_s: float) -> None:
        """Show beacons heard, those heard in one doze as one."""
        last_s = first_s + (count - 1) * every_s if count > 1 else first_s
        name = f"{count:,} beacons" if count > 1 else "beacon"
        self._trace.slice(_BEACONS, name, first_s, last_s, f'"count":{count}')

    def asked(self, time_s: float, poll: Poll | None, rest: Rest) -> None:
        """Show a decision."""
        self._decisions.asked(time_s, poll, rest)

    def held(self, time_s: float, frames: int, fetched: int) -> None:
        """Show the number of frames held."""
        self._trace.counter("held frames", time_s, f'"frames":{frames}')

    def air(self, frame: OnAir) -> None:
        """Follow the transfers."""
        self._transfers.air(frame)

    def page(self, visit: Visit) -> None:
        """Show a page; a pause is none."""
        self._pages += 1
        page = visit.page
        if page.objects:
            facts = f'"objects":{page.objects},"bytes":{page.total_bytes},"think_s":{page.think_s:.6g}'
            facts += f',"failure":"{visit.failure}"' if visit.failure else ""
            self._trace.slice(_PAGES, f"page {self._pages}", visit.started_s, visit.ended_s, facts)

    def finish(self, time_s: float) -> None:
        """Show what still lasts, and complete the file if no other station is on it."""
        self._state_until(time_s)
        self._decisions.until(time_s)
        self._trace.close()

    def _state_until(self, time_s: float) -> None:
        self._trace.slice(_RADIO, "awake" if self._awake else "dozing", self._since_s, time_s)

    def _transfer(self, lane: int, name: str, begins_s: float, ends_s: float, facts: str) -> None:
        if lane == self._lanes:
            self._lanes += 1
            self._trace.track(_TRANSFERS + lane, f"transfers {lane + 1}")
        self._trace.slice(_TRANSFERS + lane, name, begins_s, ends_s, facts)


def timelines(file: BinaryIO, names: Sequence[str]) -> list[Timeline]:
    """Return a timeline for each of several stations, all in one file, opened for bytes."""
    together = TraceFile(file)
    return [Timeline(together, name) for name in names]

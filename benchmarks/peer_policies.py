"""Policies of psm_sim in the loop of ns-3: their pages, energy and decisions beside those here.

    python benchmarks/peer_policies.py [FOLDER]

``peer_policies.csv`` has what each page takes in ns-3.44 if a policy of psm_sim decides there when the radio
dozes: 100 pages of ``ucb`` in one run for each policy, means of five runs. They are printed beside the means
of five runs here. With FOLDER, see ``peer_air_ns3.py``, the file is measured first.

The C++ program and this one exchange lines through pipes. Times are integers, in ns since the 20th beacon of
ns-3, which is the start of the run here. A connection is known by its port. The program writes

    sent TIME PORT BYTES PAYLOAD SYN FIN        a frame is queued at the radio of the station
    received TIME PORT BYTES PAYLOAD SYN FIN    a frame is received
    interrupted SINCE TIME                      the next frame sent interrupts the doze begun at SINCE
    rest TIME [SINCE UNTIL [ARRIVED BYTES]...]  the link is idle; the doze since SINCE ended at the beacon of
                                                UNTIL, for which these frames were buffered
    page TIME PAGE AWAKE BEACONS                a page has taken PAGE; time awake and beacons since the start

and reads an answer to ``rest``, ``AWAKE_S BEACONS REPEAT``, and one to ``page``: the next think time in
seconds, and the bytes of the objects, joined by ``+``. The first ``page`` asks for the first page, and the
run ends when the input does. A
:class:`~psm_sim.network.station.Station` tells the policy of each line, as it does here.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.peer_air import COMMON
from benchmarks.peer_air_ns3 import build
from psm_sim.network import Observer, Topology, build_world, load_topology, run_alone
from psm_sim.network.segment import ConnectionId, Segment
from psm_sim.network.station import Station
from psm_sim.policies import Poll, Rest, make_policy
from psm_sim.workload import Page, load_workload

MEASURED = Path(__file__).with_suffix(".csv")
POLICIES = ("psm", "bsd:p=1", "lpsm", "anticipate")
PAGES, SEED, RUNS = 100, 34, 5
COLUMNS = ("page_s", "energy_j", "awake_s", "beacons", "decisions", "loading")
MAX_AWAKE_S = 1e6
"""Stands for ever: the program cannot read ``inf``, and no run is as long."""

Table = npt.NDArray[np.float64]
"""The columns for each page, shape (pages, 6).

They are the time to load it; energy, time awake, beacons that the radio woke up for, and decisions, with the
think time before the page; and the decisions while it loads.
"""


def pages(count: int = PAGES) -> list[Page]:
    """Return the first pages, with requests of 300 B and no server delays."""
    plain_pages = []
    for page in load_workload("ucb", PAGES, SEED).pages[:count]:
        objects = 1 + len(page.image_bytes)
        plain_pages.append(
            Page(page.think_s, page.main_bytes, page.image_bytes, (300,) * objects, (0.0,) * objects)
        )
    return plain_pages


def topology(seed: int = 1) -> Topology:
    """Return the settings for ns-3, with backoffs of their own for each *seed*."""
    keys = {"tcp.initial_window": 2, "tcp.delayed_ack_ms": 200.0}
    return replace(load_topology("three-node", COMMON | keys), seed=seed)


def table(pages_s: Any, usage: Any, decisions_s: Sequence[float]) -> Table:
    """Return what each page takes.

    Parameters
    ----------
    pages_s
        Begin and end of each page, in seconds.
    usage
        Time awake in seconds and number of beacons from the start of the run to the end of each page.
    decisions_s
        Times of the decisions, in seconds.
    """
    begins_s, ends_s = np.array(pages_s).T
    awake_s, beacons = np.array(usage).T
    power = topology().power
    energy_j = power.awake_w * awake_s + power.asleep_w * (ends_s - awake_s) + power.beacon_j * beacons
    decisions = np.searchsorted(decisions_s, ends_s, side="right")
    sums = np.column_stack((energy_j, awake_s, beacons, decisions))
    loading = decisions - np.searchsorted(decisions_s, begins_s)
    return np.column_stack((ends_s - begins_s, np.diff(sums, axis=0, prepend=0.0), loading))


class Decisions(Observer):
    """Times of the decisions, in seconds."""

    def __init__(self) -> None:
        self.times_s: list[float] = []

    def rest(self, time_s: float, poll: Poll | None, rest: Rest) -> None:
        """Note a decision."""
        self.times_s.append(time_s)


def simulated(policy: str, loads: Sequence[Page], seed: int) -> Table:
    """Return what the pages take here."""
    decisions = Decisions()
    world = build_world(topology(seed), make_policy(policy), (decisions,))
    run_alone(world, loads)
    pages_s = [(visit.started_s, visit.ended_s) for visit, _ in world.visits]
    return table(pages_s, [(usage.awake_s, usage.beacons) for _, usage in world.visits], decisions.times_s)


class Peer:
    """Station of ns-3 with a policy of psm_sim, as the lines of the program describe it.

    Parameters
    ----------
    policy
        Spec of the policy.
    loads
        The pages.
    """

    def __init__(self, policy: str, loads: Sequence[Page]) -> None:
        self._loads, self._topology = loads, topology()
        clock: Any = SimpleNamespace(now=0.0)
        self._clock = clock
        self._poll: Poll | None = None
        self._connections: dict[str, ConnectionId] = {}
        self._pages_s: list[tuple[float, float]] = []
        self._usage: list[tuple[float, int]] = []
        self._decisions_s: list[float] = []
        radio: Any = SimpleNamespace(wake_to_send=self._wake_to_send, send=lambda segment: None)
        self._station = Station(clock, make_policy(policy), radio)
        self._station.start(self._topology.beacon.interval_s, self._topology)
        self._receive = self._station.receiver(lambda segment: None)

    def run(self, program: Path, number: int) -> Table:
        """Return what the pages take in run *number* of ns-3."""
        command = [str(program), "--saving=1", "--asks=1", "--delayed=1", f"--run={number}"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            output: Any = process.stdout
            answers: Any = process.stdin
            for line in output:
                method, *values = line.split()
                answer = getattr(self, f"_{method}")(*values)
                if answer is not None:
                    print(answer, file=answers, flush=True)
                elif len(self._pages_s) == len(self._loads):
                    answers.close()
        return table(self._pages_s, self._usage, self._decisions_s)

    def _wake_to_send(self, now_s: float) -> Poll | None:
        poll, self._poll = self._poll, None
        return poll

    def _sent(self, time_ns: str, *fields: str) -> None:
        self._clock.now = int(time_ns) / 1e9
        self._station.send(self._segment(*fields))

    def _received(self, time_ns: str, *fields: str) -> None:
        self._clock.now = int(time_ns) / 1e9
        self._receive(self._segment(*fields))

    def _interrupted(self, since_ns: str, time_ns: str) -> None:
        self._poll = Poll((int(time_ns) - int(since_ns)) / 1e6)

    def _rest(self, time_ns: str, since_ns: str = "", until_ns: str = "", *frames: str) -> str:
        self._decisions_s.append(int(time_ns) / 1e9)
        poll = None
        if since_ns:
            since = int(since_ns)
            sizes = [int(size) for size in frames[1::2]]
            arrivals = [
                ((int(arrived) - since) / 1e6, size) for arrived, size in zip(frames[::2], sizes, strict=True)
            ]
            poll = Poll((int(until_ns) - since) / 1e6, sum(sizes), len(sizes), tuple(arrivals))
        rest = self._station.rest(self._decisions_s[-1], poll)
        return f"{min(rest.awake_s, MAX_AWAKE_S)} {rest.beacons} {int(rest.repeat)}"

    def _page(self, time_ns: str, page_ns: str, awake_ns: str, beacons: str) -> str | None:
        ended_s = int(time_ns) / 1e9
        if ended_s:
            self._pages_s.append((ended_s - int(page_ns) / 1e9, ended_s))
            self._usage.append((int(awake_ns) / 1e9, int(beacons)))
        if len(self._pages_s) == len(self._loads):
            return None
        page = self._loads[len(self._pages_s)]
        return f"{page.think_s} {'+'.join(map(str, (page.main_bytes, *page.image_bytes)))}"

    def _segment(self, port: str, size: str, payload: str, syn: str, fin: str) -> Segment:
        connection = self._connections.setdefault(port, ConnectionId(number=len(self._connections)))
        return Segment(connection, 0, int(payload), 0, syn == "1", fin == "1", int(size))


def measured(program: Path, policy: str) -> Table:
    """Return the means of the runs of ns-3."""
    runs = np.array([Peer(policy, pages()).run(program, number) for number in range(1, RUNS + 1)])
    mean: Table = runs.mean(axis=0)
    return mean


def measure(folder: Path) -> None:
    """Write ``peer_policies.csv``."""
    with tempfile.TemporaryDirectory() as temporary:
        program = Path(temporary) / "peer_air_ns3"
        build(folder, program)
        with ThreadPoolExecutor(2) as pool:
            tables = list(pool.map(partial(measured, program), POLICIES))
    with MEASURED.open("w", newline="") as target:
        writer = csv.writer(target, lineterminator="\n")
        writer.writerow(("policy", "page", *COLUMNS))
        for policy, rows in zip(POLICIES, tables, strict=True):
            for number, row in enumerate(rows):
                writer.writerow((policy, number, *(f"{each:.6g}" for each in row)))


def read() -> dict[str, Table]:
    """Return what the pages take in ns-3, by policy."""
    with MEASURED.open() as source:
        rows = list(csv.DictReader(source))
    return {
        policy: np.array([[float(row[name]) for name in COLUMNS] for row in rows if row["policy"] == policy])
        for policy in POLICIES
    }


def main() -> None:
    """Print the mean page of each policy: here, in ns-3, and the difference in per cent."""
    if len(sys.argv) > 1:
        measure(Path(sys.argv[1]))
    print(f"{'':12}" + "".join(f"{name:>28}" for name in COLUMNS))
    for policy, theirs in read().items():
        runs = np.array([simulated(policy, pages(), seed).mean(axis=0) for seed in range(1, RUNS + 1)])
        pairs = zip(runs.mean(axis=0), theirs.mean(axis=0), strict=True)
        print(f"{policy:12}" + "".join(f"{a:10.4g}{b:10.4g}{100 * (a / b - 1):+8.2f}" for a, b in pairs))


if __name__ == "__main__":
    main()

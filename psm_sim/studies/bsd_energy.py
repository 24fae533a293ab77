"""Bounded Slowdown against the claims of its paper's abstract: energy saved, and the bound kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pandas as pd

from psm_sim.campaign.comparison import RunTask, against
from psm_sim.campaign.hindsight import OptimumTask
from psm_sim.campaign.tasks import Rows, Task
from psm_sim.estimates import interval
from psm_sim.keys import key_of
from psm_sim.network import Observer
from psm_sim.network.link import Link
from psm_sim.network.segment import Segment
from psm_sim.policies import Poll, Rest
from psm_sim.simulation.run import prepare
from psm_sim.simulation.scenario import Scenario
from psm_sim.studies.bars import mean_states
from psm_sim.studies.published import claims
from psm_sim.studies.study import Findings, Scale, Table

BOUNDS = (1.0, 0.5, 0.2, 0.1)
BSD = tuple(f"bsd:p={p:g}" for p in BOUNDS)
TRACE = "ucb:server_delay_ms=none,mean_think_s=54.5"
DELAYED = "ucb:mean_think_s=54.5"


class BoundWatch(Observer):
    """Watch over the bound: the largest stretch of a held reply, and how many exchanges it was taken over.

    The stretch is the time from the last uplink packet to the delivery of a held frame over the time
    from that packet to the frame's arrival at the access point.
    """

    def __init__(self) -> None:
        self.worst = 1.0
        self.exchanges = 0
        self._uplink_s = 0.0  # time of the last uplink packet
        self._after_uplink_s = 0.0  # from there to the last beacon that the station woke for

    def frame(self, link: Link, queued_s: float, arrives_s: float, segment: Segment) -> None:
        """Note when the station sends."""
        if link.name == "wireless up":
            self._uplink_s = queued_s

    def beacons(self, first_s: float, count: int, every_s: float) -> None:
        """Note when a held frame would be delivered."""
        self._after_uplink_s = first_s + (count - 1) * every_s - self._uplink_s

    def rest(self, time_s: float, poll: Poll | None, rest: Rest) -> None:
        """Measure the first of the frames just fetched, which waited longest."""
        if poll is not None and poll.arrivals:
            waited_s = (poll.slept_ms - poll.arrivals[0][0]) / 1000
            self.exchanges += 1
            self.worst = max(self.worst, self._after_uplink_s / (self._after_uplink_s - waited_s))


@dataclass(frozen=True)
class BoundTask:
    """One run of BSD that measures the stretch of every held frame."""

    kind: ClassVar[str] = "bound"
    labels: ClassVar[Mapping[str, Any]] = {}

    p: float
    scenario: Scenario

    @property
    def weight(self) -> int:
        """Its pages."""
        return self.scenario.pages

    def key(self) -> str:
        """Return a hash of everything that decides the row."""
        return key_of([self.kind, self.p, self.scenario.key()])

    def run(self) -> list[dict[str, Any]]:
        """Return the largest stretch as a share of 1 + p."""
        watch = BoundWatch()
        run = prepare(f"bsd:p={self.p:g}", self.scenario.place(), [watch])
        run.over(self.scenario.workload().pages)
        return [{"p": self.p, "bound": watch.worst / (1 + self.p), "exchanges": watch.exchanges}]


class BsdEnergy:
    """Static PSM and BSD at a round trip of 40 ms, with and without a delay of the server."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return comparisons, hindsight's best, and runs in which the bound is watched."""
        plain, delayed = (
            [Scenario(trace, pages=scale.pages, seed=each) for each in scale.seeds(seed)]
            for trace in (TRACE, DELAYED)
        )
        policies = ("always-on", "psm", *BSD)
        runs = [
            RunTask(policies, scenario, {"trace": scenario.trace_name}) for scenario in [*plain, *delayed]
        ]
        best = [OptimumTask(scenario, prices=0) for scenario in plain]
        watched = [BoundTask(p, scenario) for p in BOUNDS for scenario in delayed]
        return [*runs, *best, *watched]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Set savings, page times and the bound beside the abstract's; arguments as for :class:`Study`."""
        count = scale.replications
        frame = against(pd.DataFrame(rows.of("run")), "psm", ("trace", "seed"))
        frame["energy_saved"] = 1 - frame["energy_ratio"]
        frame["time_saved"] = 1 - frame["page_ratio_mean"]
        best = [row["energy_j"] for row in rows.of("optimum")]
        bound = pd.DataFrame(rows.of("bound"))
        plain = frame[frame["trace"] == TRACE]
        worst = {p: float(bound.loc[bound["p"] == p, "bound"].max()) for p in BOUNDS}
        return Findings(
            "bsd-energy",
            "Bounded Slowdown: energy, page times and the bound (BSD paper's abstract)",
            "no server delay (for the bound: the default one), mean think time 54.5 s,"
            f" {count} replications of {scale.pages} pages, seeds {seed} to {seed + count - 1}",
            remarks=_remarks(worst, bound),
            tables=[
                Table("No server delay", _means(plain, best)),
                Table(
                    "With the ucb trace's default server delay", _means(frame[frame["trace"] == DELAYED], [])
                ),
            ],
            claims=claims("bsd-energy", _values(plain, worst)),
            figures={"energy": mean_states(plain, best)},
        )


def _values(frame: pd.DataFrame, worst: Mapping[float, float]) -> dict[tuple[str, str], list[float]]:
    values = {
        (str(policy), quantity): group[quantity].tolist()
        for policy, group in frame.groupby("policy", sort=False)
        for quantity in ("slowdown", "energy_saved", "time_saved")
    }
    always, bsd = (
        frame.loc[frame["policy"] == name, "energy_j"].to_numpy() for name in ("always-on", BSD[0])
    )
    values[BSD[0], "always_on_ratio"] = (always / bsd).tolist()
    values[BSD[0], "bound"] = [max(worst.values())]
    return values


def _remarks(worst: Mapping[float, float], bound: pd.DataFrame) -> list[str]:
    stretches = ", ".join(f"{value:.4f} for p = {p:g}" for p, value in worst.items())
    return [
        (
            "Largest stretch of a held reply as a share of 1 + p, with the default server delay:"
            f" {stretches} ({int(bound['exchanges'].sum())} exchanges)."
        ),
        (
            "At a round trip of 40 ms every reply comes while BSD is still awake, so its page times are those"
            " without power saving; a server delay is what makes it differ."
        ),
        (
            "A tight bound costs more than it saves: BSD stays awake for a beacon interval over p after each"
            " uplink packet, a delayed ACK and a FIN included, 1 s for p = 0.1."
        ),
    ]


def _means(frame: pd.DataFrame, best: Sequence[float]) -> pd.DataFrame:
    columns = {
        "energy_j": "J/page",
        "awake_j": "awake J",
        "beacons_j": "beacons J",
        "energy_saved": "energy saved",
        "time_saved": "page time saved",
        "slowdown": "slowdown",
    }
    rows = [
        {"policy": policy, **{label: f"{interval(group[name]):.3f}" for name, label in columns.items()}}
        for policy, group in frame.groupby("policy", sort=False)
    ]
    if best:
        blank = dict.fromkeys(columns.values(), "")
        rows.append(
            {"policy": "hindsight, no delay", **blank, "J/page": f"{interval(best):.3f}", "slowdown": "1"}
        )
    return pd.DataFrame(rows)


STUDY = BsdEnergy()

"""Bounded Slowdown study: energy, page times and the bound, compared with the paper's abstract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pandas as pd

from psm_lab.studies.bar_chart_numbers import mean_energy_by_state
from psm_lab.studies.published_claims import Claim, published_claims
from psm_lab.studies.published_experiment_runs import BSD, PRESETS, Experiment, setting_of, values_of
from psm_lab.studies.study import Findings, Scale, Study, Table, join_paragraphs
from psm_lab.studies.tasks import Row, Rows, Task
from psm_sim.common.hashing import digest_of
from psm_sim.common.summary_stats import confidence_interval
from psm_sim.network import Observer
from psm_sim.network.link import Link
from psm_sim.network.segment import Segment
from psm_sim.policies import Poll, Rest
from psm_sim.simulation.run import prepare
from psm_sim.simulation.scenario import DigestCache, Scenario

HOLDING_MS = 1500
"""Server delay longer than the time for which BSD stays awake, which is at most 1 s for the paper's p."""


class BoundObserver(Observer):
    """Observer that measures the stretch of every buffered reply.

    The stretch is a ratio of two times since the last uplink packet: the delivery of a buffered frame over
    its arrival at the access point. ``stretches`` has one value for each doze that ended with buffered
    frames, for the first frame, because it waited longest. A reply that finds the station awake is not
    buffered and has no stretch.
    """

    def __init__(self) -> None:
        self.stretches: list[float] = []
        self._uplink_s = 0.0  # time of the last uplink packet
        self._after_uplink_s = 0.0  # from the last uplink packet to the last received beacon

    def frame(self, link: Link, queued_s: float, arrives_s: float, segment: Segment) -> None:
        """Record when the station sends; arguments as for :class:`~psm_sim.network.Observer`."""
        if link.name == "wireless up":
            self._uplink_s = queued_s

    def beacons(self, first_s: float, count: int, every_s: float) -> None:
        """Record when a buffered frame would be delivered.

        Parameters
        ----------
        first_s : float
            Time of the first received beacon, in seconds.
        count : int
            Number of received beacons.
        every_s : float
            Time between two received beacons, in seconds.
        """
        self._after_uplink_s = first_s + (count - 1) * every_s - self._uplink_s

    def rest(self, time_s: float, poll: Poll | None, rest: Rest) -> None:
        """Measure the stretch of the first retrieved frame.

        Parameters
        ----------
        time_s : float
            Time in seconds.
        poll : Poll or None
            Frames that the station retrieved when it woke; None after an uplink packet.
        rest : Rest
            Sleep decision of the policy.
        """
        if poll is not None and poll.arrivals:
            waited_s = (poll.slept_ms - poll.arrivals[0][0]) / 1000
            self.stretches.append(self._after_uplink_s / (self._after_uplink_s - waited_s))


@dataclass(frozen=True)
class BoundTask:
    """Task that runs BSD with a bound p and measures the stretch of every buffered reply.

    The row has the number of buffered replies as ``held`` and the largest stretch as a share of 1 + p as
    ``bound``. ``bound`` is None if no reply was buffered.
    """

    kind: ClassVar[str] = "bound"

    p: float
    scenario: Scenario
    labels: Mapping[str, Any] = field(default_factory=dict)

    @property
    def weight(self) -> int:
        """Number of pages."""
        return self.scenario.pages

    def key(self, cache: DigestCache | None = None) -> str:
        """Return a hash of everything that determines the row."""
        return digest_of([self.kind, self.p, self.scenario.key(cache=cache)])

    def run(self) -> list[Row]:
        """Run BSD and return the row."""
        observer = BoundObserver()
        run = prepare(f"bsd:p={self.p:g}", self.scenario.resolve_topology(), [observer])
        run.execute(self.scenario.workload().pages)
        bound = max(observer.stretches) / (1 + self.p) if observer.stretches else None
        return [{"p": self.p, "bound": bound, "held": len(observer.stretches)}]


NAME = "bsd-energy"
BOUNDS = (1.0, 0.5, 0.2, 0.1)
OPTIMA = 10
COMMENTARY = join_paragraphs(
    """
    A tight bound costs energy because BSD stays awake for a beacon interval over p after each uplink
    packet, including delayed ACKs and FINs. For p = 0.1 this is 1 s.

    The abstract states its savings as ranges over p and over the paper's workloads. Each p is judged by the
    whole range.
    """
)
COLUMNS = {
    "energy_j": "J/page",
    "awake_j": "awake J",
    "beacons_j": "beacons J",
    "energy_saved": "energy saved",
    "time_saved": "page time saved",
    "slowdown": "slowdown",
}


class BsdEnergy(Study):
    """Static PSM and BSD under each preset, and the bound with every reply buffered."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return comparisons, offline optima, and runs that measure the bound.

        *scale* and *seed* as for :class:`Study`.
        """
        return [task for experiment in _experiments() for task in _tasks(experiment, scale, seed)]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Compare savings, page times and the bound with the abstract; arguments as for :class:`Study`."""
        experiments = _experiments()
        frames = {experiment.preset.name: experiment.frame(rows) for experiment in experiments}
        bound = pd.DataFrame(rows.of("bound"))
        best = pd.DataFrame(rows.of("optimum")).groupby("preset")["energy_j"].apply(list)
        return Findings(
            NAME,
            "Bounded Slowdown: energy, page times and the bound (BSD paper's abstract)",
            f"{setting_of(experiments, scale, seed)}; for the bound every reply takes {HOLDING_MS} ms",
            remarks=[_savings_remark(name, frame) for name, frame in frames.items()],
            commentary=COMMENTARY,
            tables=[
                *(
                    Table(f"Means, preset {name}", _means(frame, best[name]))
                    for name, frame in frames.items()
                ),
                Table(
                    "Buffered replies, and the largest delivery time as a share of its bound", _bounds(bound)
                ),
            ],
            claims=[claim for experiment in experiments for claim in _claims(experiment, frames, bound)],
            presets=[experiment.preset for experiment in experiments],
            provisional=not scale.full,
            figures={"energy": mean_energy_by_state(frames[PRESETS[0]], best[PRESETS[0]], NAME)},
        )


def _experiments() -> list[Experiment]:
    return [Experiment.under(NAME, preset) for preset in PRESETS]


def _tasks(experiment: Experiment, scale: Scale, seed: int) -> list[Task]:
    seeds, labels = experiment.seeds(scale, seed), {"preset": experiment.preset.name}
    bounds = [
        BoundTask(p, experiment.scenario(scale.pages, number, server_delay_ms=HOLDING_MS), labels)
        for p in BOUNDS
        for number in seeds[:OPTIMA]
    ]
    optima = experiment.optima(scale.pages, seeds[:OPTIMA])
    return [*experiment.runs(scale.pages, seeds), *optima, *bounds]


def _claims(experiment: Experiment, frames: dict[str, pd.DataFrame], bound: pd.DataFrame) -> list[Claim]:
    frame = frames[experiment.preset.name]
    values = values_of(frame, ("energy_j", "beacons_j", "slowdown", "energy_saved", "time_saved"))
    always, bsd = (
        frame.loc[frame["policy"] == name, "energy_j"].to_numpy() for name in ("always-on", BSD[0])
    )
    values[BSD[0], "always_on_ratio"] = (always / bsd).tolist()
    rows = bound[bound["preset"] == experiment.preset.name]
    for p, policy in zip(BOUNDS, BSD, strict=True):
        values[policy, "bound"] = rows.loc[rows["p"] == p, "bound"].dropna().tolist()
    return published_claims(NAME, values, experiment.preset)


def _savings_remark(preset: str, frame: pd.DataFrame) -> str:
    slowest = frame.loc[frame["policy"].isin(BSD), "slowdown"].max()
    saved = frame[frame["policy"].isin(BSD)].groupby("policy", sort=False)["energy_saved"].mean()
    return (
        f"Preset {preset}: BSD saves {100 * saved.min():.1f} % ({saved.idxmin()}) to"
        f" {100 * saved.max():.1f} % ({saved.idxmax()}) of static PSM's energy. Its slowdown is at most"
        f" {slowest:.3f} in any replication."
    )


def _bounds(bound: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for policy, p in zip(BSD, BOUNDS, strict=True):
        row: dict[str, object] = {"policy": policy}
        for preset, group in bound[bound["p"] == p].groupby("preset", sort=False):
            row[f"buffered, {preset}"] = int(group["held"].sum())
            row[f"largest share, {preset}"] = f"{group['bound'].max():.4f}"
        rows.append(row)
    return pd.DataFrame(rows)


def _means(frame: pd.DataFrame, best: Sequence[float]) -> pd.DataFrame:
    shown = frame[~frame["policy"].str.startswith("lpsm")]
    rows = [
        {
            "policy": policy,
            **{label: f"{confidence_interval(group[name]):.3f}" for name, label in COLUMNS.items()},
        }
        for policy, group in shown.groupby("policy", sort=False)
    ]
    blank = dict.fromkeys(COLUMNS.values(), "")
    optimum = {**blank, "J/page": f"{confidence_interval(best):.3f}", "slowdown": "1"}
    return pd.DataFrame([*rows, {"policy": "offline optimum, no delay", **optimum}])


STUDY = BsdEnergy()

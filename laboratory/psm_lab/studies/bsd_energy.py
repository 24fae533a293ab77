"""Bounded Slowdown study: energy, page times and the bound, compared with the paper's abstract."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from psm_lab.studies.published_claims import published_claims, study_texts
from psm_lab.studies.published_experiment_runs import (
    BSD,
    PRESETS,
    Experiment,
    mean_energy_by_state,
    setting_of,
    table_of_means_and_optimum,
    values_of,
)
from psm_lab.studies.study import Findings, Scale, Table
from psm_lab.studies.tasks import Row, Rows, Task
from psm_sim.network import Observer
from psm_sim.network.link import Link
from psm_sim.network.segment import Segment
from psm_sim.policies import Poll, Rest
from psm_sim.simulation import Scenario
from psm_sim.simulation.run import run_workload

NAME = "bsd-energy"
HOLDING_MS = 1500
"""Server delay longer than the time for which BSD stays awake, which is at most 1 s for the paper's p."""

BOUNDS = dict(zip(BSD, (1.0, 0.5, 0.2, 0.1), strict=True))  # values of p in the BSD paper
OPTIMA = 10
"""Number of seeds with an offline optimum, which takes as long as all policies."""
COLUMNS = {
    "J/page": ("energy_j", "{:.3f}"),
    "awake J": ("awake_j", "{:.3f}"),
    "beacons J": ("beacons_j", "{:.3f}"),
    "energy saved": ("energy_saved", "{:.3f}"),
    "page time saved": ("time_saved", "{:.3f}"),
    "slowdown": ("slowdown", "{:.3f}"),
}


class BoundObserver(Observer):
    """Observer that measures the stretch of every buffered reply.

    The stretch of a buffered frame is its delivery time divided by its arrival time at the access point. Both
    times are measured from the last uplink packet. ``stretches`` has one value for each doze that ended with
    buffered frames: the stretch of the first frame, which waited longest. A reply that finds the station
    awake is not buffered and has no stretch.

    The arguments of the methods are those of :class:`~psm_sim.network.Observer`.
    """

    def __init__(self) -> None:
        self.stretches: list[float] = []
        self._uplink_s = 0.0  # time of the last uplink packet
        self._after_uplink_s = 0.0  # time from the last uplink packet to the last received beacon

    def frame(self, link: Link, queued_s: float, arrives_s: float, segment: Segment) -> None:
        """Record when the station sends."""
        if link.name == "wireless up":
            self._uplink_s = queued_s

    def beacons(self, first_s: float, count: int, every_s: float) -> None:
        """Record when a buffered frame would be delivered."""
        self._after_uplink_s = first_s + (count - 1) * every_s - self._uplink_s

    def rest(self, time_s: float, poll: Poll | None, rest: Rest) -> None:
        """Measure the stretch of the first retrieved frame."""
        if poll is not None and poll.arrivals:
            waited_s = (poll.slept_ms - poll.arrivals[0][0]) / 1000
            self.stretches.append(self._after_uplink_s / (self._after_uplink_s - waited_s))


def measure_bound(p: float, scenario: Scenario) -> list[Row]:
    """Run BSD with the bound *p* and return the number and maximum stretch of buffered replies.

    ``held`` is the number of these replies, and ``bound`` the maximum stretch as a share of 1 + p, or None
    without such replies. :class:`BoundObserver` defines the stretch.
    """
    observer = BoundObserver()
    run_workload(f"bsd:p={p:g}", scenario.resolve_topology(), scenario.workload(), observers=[observer])
    bound = max(observer.stretches) / (1 + p) if observer.stretches else None
    return [{"p": p, "bound": bound, "held": len(observer.stretches)}]


def tasks(scale: Scale, seed: int) -> Sequence[Task]:
    """Return comparisons, offline optima, and runs that measure the bound with every reply buffered."""
    all_tasks: list[Task] = []
    for experiment in Experiment.under_each_preset(NAME):
        seeds, labels = experiment.seeds(scale, seed), {"preset": experiment.preset.name}
        all_tasks += experiment.runs(scale.pages, seeds) + experiment.optima(scale.pages, seeds[:OPTIMA])
        for p in BOUNDS.values():
            for number in seeds[:OPTIMA]:
                scenario = experiment.scenario(scale.pages, number, server_delay_ms=HOLDING_MS)
                arguments = {"p": p, "scenario": scenario}
                all_tasks.append(Task("bound", measure_bound, arguments, scale.pages, labels))
    return all_tasks


def digest(rows: Rows, scale: Scale, seed: int) -> Findings:
    """Compare savings, page times and the bound with the abstract."""
    experiments, bounds = Experiment.under_each_preset(NAME), pd.DataFrame(rows.of("bound"))
    remarks, tables, claims, figures = [], [], [], {}
    for experiment in experiments:
        preset, frame, best = experiment.preset, experiment.frame(rows), experiment.optimal_energies(rows)
        held = bounds[bounds["preset"] == preset.name]
        shares = {
            (policy, "bound"): held.loc[held["p"] == p, "bound"].dropna().tolist()
            for policy, p in BOUNDS.items()
        }
        claims += published_claims(NAME, values_of(frame) | shares, preset)
        remarks.append(_savings_remark(preset.name, frame[frame["policy"].isin(BSD)]))
        shown = frame[~frame["policy"].str.startswith("lpsm")]
        tables.append(Table(f"Means, preset {preset.name}", table_of_means_and_optimum(shown, best, COLUMNS)))
        if preset.name == PRESETS[0]:
            figures["energy"] = mean_energy_by_state(frame, best, NAME)
    title = "Buffered replies, and the largest delivery time as a share of its bound"
    return Findings(
        **study_texts(NAME),
        setting=f"{setting_of(experiments, scale, seed)}; for the bound every reply takes {HOLDING_MS} ms",
        remarks=remarks,
        tables=[*tables, Table(title, _bounds(bounds))],
        claims=claims,
        presets=[experiment.preset for experiment in experiments],
        provisional=not scale.full,
        figures=figures,
    )


def _savings_remark(preset: str, bsd: pd.DataFrame) -> str:
    saved = bsd.groupby("policy", sort=False)["energy_saved"].mean()
    return (
        f"Preset {preset}: BSD saves {100 * saved.min():.1f} % ({saved.idxmin()}) to"
        f" {100 * saved.max():.1f} % ({saved.idxmax()}) of static PSM's energy. Its slowdown is at most"
        f" {bsd['slowdown'].max():.3f} in any replication."
    )


def _bounds(bounds: pd.DataFrame) -> pd.DataFrame:
    lines = []
    for policy, p in BOUNDS.items():
        line: Row = {"policy": policy}
        for preset, group in bounds[bounds["p"] == p].groupby("preset", sort=False):
            line[f"buffered, {preset}"] = int(group["held"].sum())
            line[f"largest share, {preset}"] = f"{group['bound'].max():.4f}"
        lines.append(line)
    return pd.DataFrame(lines)

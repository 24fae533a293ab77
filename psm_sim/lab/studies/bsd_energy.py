"""Bounded Slowdown study: energy, page times and the bound, compared with the paper's abstract."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from psm_sim.campaign.task_runner import Rows, Task
from psm_sim.common.summary_stats import confidence_interval
from psm_sim.lab.studies.bar_chart_numbers import mean_energy_by_state
from psm_sim.lab.studies.bsd_bound import HOLDING_MS, BoundTask
from psm_sim.lab.studies.published_claims import Claim, published_claims
from psm_sim.lab.studies.published_experiment_runs import BSD, PRESETS, Experiment, setting_of, values_of
from psm_sim.lab.studies.study import Findings, Scale, Study, Table, join_paragraphs

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
                Table("Held replies, and the largest delivery time as a share of its bound", _bounds(bound)),
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
            row[f"held, {preset}"] = int(group["held"].sum())
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
    return pd.DataFrame([*rows, {"policy": "hindsight, no delay", **optimum}])


STUDY = BsdEnergy()

"""Air instead of a link: what a finer MAC changes in the published numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from psm_sim.campaign.task_runner import Rows, Task
from psm_sim.lab.studies.published import PublishedNumber, published_numbers
from psm_sim.lab.studies.published_experiments import BSD, PRESETS, Experiment, values_of
from psm_sim.lab.studies.study import Findings, Scale, Study, Table
from psm_sim.simulation.preset import load_preset
from psm_sim.summary_stats import Interval, confidence_interval

AIR = {"mac.model": "dcf", "beacon.interval_tu": 100}
MODELS: dict[str, Mapping[str, Any]] = {
    "link": {},
    "link, 100 TU": {"beacon.interval_tu": 100},
    "air": AIR,
    "air, bit kept set": {**AIR, "access_point.release_on_uplink": False},
}
"""Settings of each model of the wireless hop; in the last one only beacons release frames, as in ns-3."""

EXPERIMENTS = ("lpsm-100", "lpsm-4x500", "bsd-energy")
POLICIES = ("always-on", "psm", "bsd:p=1", "bsd:p=0.1", "lpsm:loss=inverse-log", "lpsm:loss=inverse")
COLUMNS = ("energy_j", "awake_j", "beacons_j", "slowdown", "page_time_s")
QUANTITIES = (*COLUMNS, "energy_ratio", "page_ratio_mean", "page_ratio_long", "page_ratio_max")
MAX_LONG_RUNS = 4
"""The most replications of the experiment with long runs."""


class MacStudy(Study):
    """Study of the headline experiments over the papers' link and over the air of 802.11b."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one comparison per experiment, model and seed."""
        return [
            task
            for name in EXPERIMENTS
            for model in MODELS
            for task in _experiment(name, model).runs(*_size(name, scale, seed))
        ]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Set the published numbers and each policy's means under the models side by side.

        Parameters
        ----------
        rows, scale, seed
            As for :class:`~psm_sim.lab.studies.study.Study`.
        """
        frames = {
            (name, model): _experiment(name, model).frame(rows) for name in EXPERIMENTS for model in MODELS
        }
        found = {key: _values(frame) for key, frame in frames.items()}
        return Findings(
            study="mac",
            title="What the air of 802.11b changes: every published number over a link and over the air",
            setting=f"preset {PRESETS[0]}; {scale.replications} replications of {scale.pages} pages, at most"
            f" {MAX_LONG_RUNS} of {scale.long_pages}, from seed {seed} on; 802.11b at 11 Mbit/s with a long"
            " preamble, beacons every 100 TU; a link has 5 Mbit/s each way and beacons every 100 ms",
            remarks=_remarks(frames),
            tables=[
                Table("Published numbers", pd.DataFrame(_numbers(found))),
                Table("Means per page, lpsm-100", _means(frames, "lpsm-100")),
            ],
        )


STUDY = MacStudy()


def _experiment(name: str, model: str) -> Experiment:
    preset = load_preset(PRESETS[0])
    changed = replace(preset, name=f"{name}, {model}", settings={**preset.settings, **MODELS[model]})
    judged = {number.policy for number in published_numbers(name)} | set(POLICIES)
    return Experiment(name, changed, tuple(sorted(judged, key=_place)))


def _place(policy: str) -> tuple[bool, str]:
    return policy not in ("always-on", "psm"), policy


def _size(name: str, scale: Scale, seed: int) -> tuple[int, Sequence[int]]:
    """Return the pages of a replication, and the seeds."""
    if name == "lpsm-4x500":
        return scale.long_pages, scale.seeds(seed)[:MAX_LONG_RUNS]
    return scale.pages, scale.seeds(seed)


def _values(frame: pd.DataFrame) -> dict[tuple[str, str], list[float]]:
    values = values_of(frame, (*QUANTITIES, "energy_saved", "time_saved"))
    always = values["always-on", "energy_j"]
    ratios = [one / other for one, other in zip(always, values[BSD[0], "energy_j"], strict=True)]
    return values | {(BSD[0], "always_on_ratio"): ratios}


def _numbers(found: Mapping[tuple[str, str], Mapping[tuple[str, str], list[float]]]) -> list[dict[str, str]]:
    """Return one row per published number; the bound of Bounded Slowdown is watched elsewhere."""
    rows = []
    for name in EXPERIMENTS:
        for number in published_numbers(name):
            key = number.policy, number.quantity
            if key in found[name, "link"]:
                ours = {model: _shown(number, found[name, model][key]) for model in MODELS}
                facts = {"study": name, "policy": number.policy, "quantity": number.quantity}
                rows.append({**facts, "published": str(number), **ours})
    return rows


def _shown(number: PublishedNumber, values: Sequence[float]) -> str:
    if number.at_most is not None:
        return f"{max(values):.3f} (largest)"
    return f"{confidence_interval(values):.3f}"


def _means(frames: Mapping[tuple[str, str], pd.DataFrame], name: str) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "model": model,
                "policy": policy,
                **{each: f"{confidence_interval(group[each]):.3f}" for each in COLUMNS},
            }
            for model in MODELS
            for policy, group in frames[name, model].groupby("policy", sort=False)
        ]
    )


def _remarks(frames: Mapping[tuple[str, str], pd.DataFrame]) -> list[str]:
    """Say by how much static PSM's page time and energy change, paired by seed, with the same beacons."""
    _, base, *others = MODELS
    link = _psm(frames["lpsm-100", base])
    found = []
    for model in others:
        over = _psm(frames["lpsm-100", model])
        changes = {name: _change(over[name], link[name]) for name in ("page_time_s", "energy_j", "awake_j")}
        told = ", ".join(f"{name} {100 * each.mean:+.1f} %" for name, each in changes.items())
        found.append(f"Static PSM over {model}, against {base}, on the same pages: {told}.")
    return found


def _psm(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["policy"] == "psm"].sort_values("seed").reset_index(drop=True)


def _change(over: pd.Series[float], link: pd.Series[float]) -> Interval:
    return confidence_interval((over / link - 1).tolist())

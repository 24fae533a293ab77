"""Study of the published numbers over a simulated 802.11b channel in place of a link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from psm_lab.studies.published_claims import PublishedNumber, published_numbers
from psm_lab.studies.published_experiment_runs import PRESETS, Experiment, values_of
from psm_lab.studies.study import Findings, Scale, Study, Table
from psm_lab.studies.tasks import Rows, Task
from psm_sim.common.summary_stats import Interval, confidence_interval
from psm_sim.simulation.preset import load_preset

AIR = {"mac.model": "dcf", "beacon.interval_ms": 102.4}
MODELS: dict[str, Mapping[str, Any]] = {
    "link": {},
    "link, 100 TU": {"beacon.interval_ms": 102.4},
    "channel": AIR,
    "channel, TIM bit kept": {**AIR, "access_point.release_on_uplink": False},
}
"""Settings of each model of the wireless hop. In the last model only beacons release frames, as in ns-3."""

EXPERIMENTS = ("lpsm-100", "lpsm-4x500", "bsd-energy")
POLICIES = ("always-on", "psm", "bsd:p=1", "bsd:p=0.1", "lpsm:loss=inverse-log", "lpsm:loss=inverse")
COLUMNS = ("energy_j", "awake_j", "beacons_j", "slowdown", "page_time_s")
MAX_LONG_RUNS = 4
"""Maximum number of replications of the experiment with long runs."""


class MacStudy(Study):
    """Headline experiments over the papers' link and over an 802.11b channel."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one comparison per experiment, model and seed; *scale* and *seed* as for :class:`Study`."""
        return [
            task
            for name in EXPERIMENTS
            for model in MODELS
            for task in _experiment(name, model).runs(*_size(name, scale, seed))
        ]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Compare the published numbers and each policy's means under all models.

        Parameters
        ----------
        rows, scale, seed
            As for :class:`~psm_lab.studies.study.Study`.
        """
        frames = {
            (name, model): _experiment(name, model).frame(rows) for name in EXPERIMENTS for model in MODELS
        }
        values = {key: values_of(frame) for key, frame in frames.items()}
        return Findings(
            study="mac",
            title="Effect of an 802.11b channel on every published number",
            setting=f"preset {PRESETS[0]}; {scale.replications} replications of {scale.pages} pages, at most"
            f" {MAX_LONG_RUNS} of {scale.long_pages}, from seed {seed} on; 802.11b at 11 Mbit/s with a long"
            " preamble, beacons every 100 TU; a link has 5 Mbit/s each way and beacons every 100 ms",
            remarks=_remarks(frames),
            tables=[
                Table("Published numbers", pd.DataFrame(_numbers(values))),
                Table("Means per page, lpsm-100", _means(frames, "lpsm-100")),
            ],
        )


STUDY = MacStudy()


def _experiment(name: str, model: str) -> Experiment:
    preset = load_preset(PRESETS[0])
    variant = replace(preset, name=f"{name}, {model}", settings={**preset.settings, **MODELS[model]})
    policies = {number.policy for number in published_numbers(name)} | set(POLICIES)
    return Experiment(name, variant, tuple(sorted(policies, key=_sort_key)))


def _sort_key(policy: str) -> tuple[bool, str]:
    return policy not in ("always-on", "psm"), policy


def _size(name: str, scale: Scale, seed: int) -> tuple[int, Sequence[int]]:
    """Return the pages of a replication, and the seeds."""
    if name == "lpsm-4x500":
        return scale.long_pages, scale.seeds(seed)[:MAX_LONG_RUNS]
    return scale.pages, scale.seeds(seed)


def _numbers(values: Mapping[tuple[str, str], Mapping[tuple[str, str], list[float]]]) -> list[dict[str, str]]:
    """Return one row per published number, except the bound, which ``bsd-energy`` measures."""
    rows = []
    for name in EXPERIMENTS:
        for number in published_numbers(name):
            key = number.policy, number.quantity
            if key in values[name, "link"]:
                simulated = {model: _format_value(number, values[name, model][key]) for model in MODELS}
                labels = {"study": name, "policy": number.policy, "quantity": number.quantity}
                rows.append({**labels, "published": str(number), **simulated})
    return rows


def _format_value(number: PublishedNumber, values: Sequence[float]) -> str:
    if number.at_most is not None:
        return f"{max(values):.3f} (largest)"
    return f"{confidence_interval(values):.3f}"


def _means(frames: Mapping[tuple[str, str], pd.DataFrame], name: str) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "model": model,
                "policy": policy,
                **{column: f"{confidence_interval(group[column]):.3f}" for column in COLUMNS},
            }
            for model in MODELS
            for policy, group in frames[name, model].groupby("policy", sort=False)
        ]
    )


def _remarks(frames: Mapping[tuple[str, str], pd.DataFrame]) -> list[str]:
    """Return remarks on the change of static PSM's page time and energy, paired by seed, at equal beacons."""
    _, base, *others = MODELS
    link = _psm(frames["lpsm-100", base])
    remarks = []
    for model in others:
        channel = _psm(frames["lpsm-100", model])
        changes = {
            name: _change(channel[name], link[name]) for name in ("page_time_s", "energy_j", "awake_j")
        }
        text = ", ".join(f"{name} {100 * change.mean:+.1f} %" for name, change in changes.items())
        remarks.append(f"Static PSM with '{model}' compared with '{base}', on the same pages: {text}.")
    return remarks


def _psm(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["policy"] == "psm"].sort_values("seed").reset_index(drop=True)


def _change(channel: pd.Series[float], link: pd.Series[float]) -> Interval:
    return confidence_interval((channel / link - 1).tolist())

"""Study of the published numbers over a simulated 802.11b channel in place of a link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from psm_lab.studies.published_claims import PublishedNumber, published_numbers, study_texts
from psm_lab.studies.published_experiment_runs import PRESETS, Experiment, values_of
from psm_lab.studies.study import Findings, Scale, Table, table_of_means
from psm_lab.studies.tasks import Rows, Task
from psm_sim.common.summary_stats import confidence_interval
from psm_sim.simulation.preset import load_preset

AIR = {"mac.model": "dcf", "beacon.interval_ms": 102.4}  # a beacon interval of 100 TU
MODELS: dict[str, Mapping[str, Any]] = {
    "link": {},
    "link, 100 TU": {"beacon.interval_ms": 102.4},
    "channel": AIR,
    "channel, TIM bit kept": {**AIR, "access_point.release_on_uplink": False},
}
"""Settings of each model of the wireless hop. In the last model only beacons release frames, as in ns-3."""

EXPERIMENTS = ("lpsm-100", "lpsm-4x500", "bsd-energy")
POLICIES = ("always-on", "psm", "bsd:p=1", "bsd:p=0.1", "lpsm:loss=inverse-log", "lpsm:loss=inverse")
COLUMNS = {name: (name, "{:.3f}") for name in ("energy_j", "awake_j", "beacons_j", "slowdown", "page_time_s")}
MAX_LONG_RUNS = 4
"""Maximum number of replications of the experiment with long runs."""


def tasks(scale: Scale, seed: int) -> Sequence[Task]:
    """Return one comparison per experiment, model and seed."""
    sizes = {name: (scale.pages, scale.seeds(seed)) for name in EXPERIMENTS}
    sizes["lpsm-4x500"] = scale.long_pages, scale.seeds(seed)[:MAX_LONG_RUNS]
    return [
        task
        for name in EXPERIMENTS
        for model in MODELS
        for task in _experiment(name, model).runs(*sizes[name])
    ]


def digest(rows: Rows, scale: Scale, seed: int) -> Findings:
    """Compare the published numbers and each policy's means under all models."""
    frames = {(name, model): _experiment(name, model).frame(rows) for name in EXPERIMENTS for model in MODELS}
    means = [
        table_of_means(frames["lpsm-100", model].assign(model=model), ["model", "policy"], COLUMNS)
        for model in MODELS
    ]
    return Findings(
        **study_texts("mac"),
        setting=f"preset {PRESETS[0]}; {scale.replications} replications of {scale.pages} pages, at most"
        f" {MAX_LONG_RUNS} of {scale.long_pages}, from seed {seed} on; 802.11b at 11 Mbit/s with a long"
        " preamble, beacons every 100 TU; a link has 5 Mbit/s each way and beacons every 100 ms",
        remarks=_remarks({model: frames["lpsm-100", model] for model in MODELS}),
        tables=[
            Table("Published numbers", _numbers(frames)),
            Table("Means per page, lpsm-100", pd.concat(means, ignore_index=True)),
        ],
    )


def _experiment(name: str, model: str) -> Experiment:
    preset = load_preset(PRESETS[0])
    variant = replace(preset, name=f"{name}, {model}", settings={**preset.settings, **MODELS[model]})
    policies = {number.policy for number in published_numbers(name)} | set(POLICIES)
    return Experiment(name, variant, tuple(sorted(policies, key=_sort_key)))


def _sort_key(policy: str) -> tuple[bool, str]:
    return policy not in ("always-on", "psm"), policy


def _numbers(frames: Mapping[tuple[str, str], pd.DataFrame]) -> pd.DataFrame:
    """Return one row per published number, except the bound, which ``bsd-energy`` measures."""
    values = {key: values_of(frame) for key, frame in frames.items()}
    return pd.DataFrame(
        {"study": name, "policy": number.policy, "quantity": number.quantity, "published": str(number)}
        | {
            model: _format_value(number, values[name, model][number.policy, number.quantity])
            for model in MODELS
        }
        for name in EXPERIMENTS
        for number in published_numbers(name)
        if (number.policy, number.quantity) in values[name, "link"]
    )


def _format_value(number: PublishedNumber, values: Sequence[float]) -> str:
    if number.at_most is not None:
        return f"{max(values):.3f} (largest)"
    return f"{confidence_interval(values):.3f}"


def _remarks(frames: Mapping[str, pd.DataFrame]) -> list[str]:
    """Return remarks on how static PSM's page time and energy differ between models, paired by seed."""
    _, base, *others = MODELS
    link = _psm(frames[base])
    remarks = []
    for model in others:
        changes = _psm(frames[model]) / link - 1
        text = ", ".join(f"{name} {100 * changes[name].mean():+.1f} %" for name in changes)
        remarks.append(f"Static PSM with '{model}' compared with '{base}', on the same pages: {text}.")
    return remarks


def _psm(frame: pd.DataFrame) -> pd.DataFrame:
    psm = frame[frame["policy"] == "psm"].set_index("seed")
    return psm[["page_time_s", "energy_j", "awake_j"]]

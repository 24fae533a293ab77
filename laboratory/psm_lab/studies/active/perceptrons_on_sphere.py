"""Study of labels and mistakes of Perceptron, modified Perceptron and DKM on the uniform sphere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from psm_lab.active import make_selective
from psm_lab.active.sphere_instances import error_of, first_hits, sphere_points, unit_vector
from psm_lab.active.theorem_bounds import dkm_errors, modified_mistakes
from psm_lab.studies.active.learner_trials import (
    THEOREM,
    direction,
    frame_of,
    is_full,
    judge_claim,
)
from psm_lab.studies.published_claims import Claim, PublishedNumber
from psm_lab.studies.study import Findings, Scale, Table
from psm_lab.studies.tasks import Rows, Task
from psm_sim.common.random_streams import random_stream

NAME = "sphere"

LEVELS = (0.1, 0.03, 0.01, 0.003, 0.001)
MARKS = (30, 100, 300, 1000, 3000)
"""Errors at which the labels are counted, and numbers of updates at which the error is recorded."""


@dataclass(frozen=True)
class SphereSetting:
    """Setting of a run.

    ``keep`` is a parameter of the distribution of the points, and ``reference`` has the labels of an
    independent program for each of the error ``levels``. A run has at most ``limit`` points.
    """

    label: str
    sampler: str
    features: int
    keep: float | None = None
    reference: tuple[float, ...] = ()
    levels: tuple[float, ...] = LEVELS
    limit: int = 4_000_000

    @property
    def targets(self) -> int:
        """Number of targets per replication, more for short runs; medians over 20 targets vary by a sixth."""
        return 10 if self.features <= (20 if "DKM" in self.label else 10) else 2

    @property
    def spec(self) -> str:
        """Spec of the sampler with the thesis's initial band for the uniform sphere."""
        return self.sampler.format(s1=self.features**-0.5)


_DKM = "dkm:R=16,s1={s1}"
# References are missing for the four largest error levels.
_LAST = (np.nan,) * 4
SETTINGS = (
    SphereSetting("every label, d = 5", "modified-perceptron", 5),
    SphereSetting("every label, d = 10", "modified-perceptron", 10, None, (87, 382, 1332, 3620, 15374)),
    SphereSetting("every label, d = 20", "modified-perceptron", 20),
    SphereSetting("every label, d = 50", "modified-perceptron", 50),
    SphereSetting("Perceptron, every label, d = 10", "perceptron", 10, None, (119, 1680, 21026), LEVELS[:3]),
    SphereSetting("DKM R = 16, d = 5", _DKM, 5, None, (21, 84, 124, 190, 248)),
    SphereSetting("DKM R = 16, d = 10", _DKM, 10, None, (69, 179, 262, 375, 502)),
    SphereSetting("DKM R = 16, d = 20", _DKM, 20, None, (*_LAST, 880)),
    SphereSetting("DKM R = 16, d = 50", _DKM, 50, None, (*_LAST, 1948)),
    SphereSetting("DKM R = 24, d = 100", "dkm:R=24,s1={s1}", 100, None, (*_LAST, 4487)),
    SphereSetting("DKM, lambda = .67", _DKM, 10, 0.5, (*_LAST, 482)),
    SphereSetting("DKM, lambda = .4", _DKM, 10, 0.25, (*_LAST, 516)),
    SphereSetting("DKM, lambda = .18", _DKM, 10, 0.1, (*_LAST, 520)),
    SphereSetting(
        "band R = 8, Perceptron", "dkm-perceptron:R=8,s1={s1}", 10, None, (70, 382), LEVELS[:2], 400_000
    ),
)


def hits_of(label: str, seed: int) -> list[dict[str, Any]]:
    """Return the labels, updates and errors until a setting reaches each error, one row per error.

    Parameters
    ----------
    label : str
        Label of a :class:`SphereSetting`.
    seed : int
        Seed of the target and the points.
    """
    (setting,) = (setting for setting in SETTINGS if setting.label == label)
    rng, sampler = random_stream(seed, f"sphere {label}"), make_selective(setting.spec, setting.features)
    target = unit_vector(random_stream(seed, f"target {setting.features}"), setting.features)
    draw = sphere_points(rng, target, keep=setting.keep)
    hits = first_hits(sampler.learner, sampler.rule, target, draw, setting.levels, setting.limit)
    reference = (*setting.reference, *(np.nan,) * (len(setting.levels) - len(setting.reference)))
    return [
        {
            "setting": label,
            "seed": seed,
            "features": setting.features,
            "error": level,
            "labels": hits.labels[index],
            "updates": hits.updates[index],
            "errors": hits.errors[index],
            "reference": reference[index],
            "scale": setting.features * np.log(1 / level),
        }
        for index, level in enumerate(setting.levels)
    ]


def rate_of(seed: int) -> list[dict[str, Any]]:
    """Return the slope of ln(error) over ln(updates) of the Perceptron, 30 to 3000 updates, d = 10."""
    target = unit_vector(random_stream(seed, "target 10"), 10)
    draw, learner = (
        sphere_points(random_stream(seed, "sphere rate"), target),
        make_selective("perceptron", 10).learner,
    )
    errors: list[float] = []
    updates = 0
    while len(errors) < len(MARKS):
        X, y = draw(1024)
        for index in np.flatnonzero(y * (X @ learner.w) <= 0):
            updates += learner.learn(X[index], int(y[index]))
            if len(errors) < len(MARKS) and updates == MARKS[len(errors)]:
                errors.append(error_of(learner.w, target))
    return [{"seed": seed, "slope": float(np.polyfit(np.log(MARKS), np.log(errors), 1)[0])}]


def tasks(scale: Scale, seed: int) -> Sequence[Task]:
    """Return one trial per setting and target."""
    settings = [setting for setting in SETTINGS if is_full(scale) or setting.features <= 50]
    hits = [
        Task("hits", hits_of, {"label": setting.label, "seed": number}, weight=setting.features // 5)
        for setting in settings
        for number in range(seed, seed + setting.targets * scale.replications)
    ]
    seeds = range(seed, seed + 2 * scale.replications)
    rates = [Task("rate", rate_of, {"seed": number}, weight=4) for number in seeds]
    return [*hits, *rates]


def digest(rows: Rows, scale: Scale, seed: int) -> Findings:
    """Compare the labels until each error with the reference, and judge the theorems."""
    hits = frame_of(rows, "hits")
    groups = hits.groupby(["setting", "error"], sort=False)
    table = groups[["labels", "updates", "errors", "reference"]].median().reset_index()
    arrived = groups["labels"].apply(lambda labels: labels.notna().mean())
    table["share that reaches the error"] = arrived.to_numpy()
    table.insert(3, "quartiles", [_quartiles(labels) for _, labels in groups["labels"]])
    table["labels / (d ln 1/error)"] = table["labels"] / groups["scale"].first().to_numpy()
    rates = frame_of(rows, "rate")
    shown = table[table["setting"].str.endswith("d = 10")]
    return Findings(
        NAME,
        "Labels and mistakes on the uniform sphere",
        f"uniform points, a random half-space, {2 * scale.replications} targets from seed {seed}, "
        f"{10 * scale.replications} up to d = 10, and for DKM up to d = 20",
        tables=[Table("Labels, mistakes and wrong predictions until the error is reached", table)],
        claims=_claims(hits, rates),
        figures={"labels": shown[["setting", "error", "labels"]]},
    )


def _quartiles(labels: pd.Series[float]) -> str:
    low, high = labels.quantile([0.25, 0.75])
    return f"{low:.0f} to {high:.0f}"


def _claims(hits: pd.DataFrame, rates: pd.DataFrame) -> list[Claim]:
    labels = hits.pivot_table(index="seed", columns=["setting", "error"], values="labels")
    updates = hits.pivot_table(index="seed", columns=["setting", "error"], values="updates")
    dkm, every, perceptron = "DKM R = 16, d = 10", "every label, d = 10", "Perceptron, every label, d = 10"
    growth = np.log10(labels[dkm, 0.001] / labels[dkm, 0.01])
    saving = np.log10(labels[dkm, 0.001] / labels[every, 0.001])
    fewer = np.log10(updates[every, 0.01] / updates[perceptron, 0.01])
    allowed = modified_mistakes(10, 0.001, 0.05)
    selective = hits[hits["setting"].str.startswith("DKM")]
    return [
        _direction("DKM", "growth exponent of labels, .01 to .001, less 1/2", "Theorem 5", growth - 0.5),
        _direction("DKM - every label", "log10 of labels to .001, d = 10", "sections 3.6, 3.7", saving),
        _direction("modified - Perceptron", "log10 of mistakes to .01, d = 10", "Theorems 3, 4", fewer),
        judge_claim(
            PublishedNumber(
                NAME, "Perceptron", "slope, error over updates", "thesis, Theorem 3", low=-0.6, high=-0.4
            ),
            rates["slope"],
            THEOREM,
        ),
        judge_claim(
            PublishedNumber(
                NAME, "modified", "mistakes to .001 over the bound", "thesis, Theorem 4", at_most=1.0
            ),
            updates[every, 0.001] / allowed,
            THEOREM,
        ),
        judge_claim(
            PublishedNumber(
                NAME, "DKM", "wrong predictions over 64 updates", "thesis, Theorem 5", at_most=1.0
            ),
            selective["errors"] / selective["updates"].map(dkm_errors),
            THEOREM,
        ),
    ]


def _direction(learner: str, quantity: str, reference: str, values: ArrayLike) -> Claim:
    return judge_claim(direction(NAME, learner, quantity, f"thesis, {reference}", side=-1), values, THEOREM)

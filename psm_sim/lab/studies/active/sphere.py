"""Study of labels and mistakes of Perceptron, modified Perceptron and DKM on the uniform sphere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from psm_sim.campaign.task_runner import Rows, Task
from psm_sim.lab.active.theorem_bounds import dkm_errors, modified_mistakes
from psm_sim.lab.studies.active.learner_trials import (
    Direction,
    Trial,
    frame_of,
    is_full,
    judge_claim,
    medians,
)
from psm_sim.lab.studies.active.sphere_trials import SETTINGS, hits_of, noise_of, rate_of
from psm_sim.lab.studies.published_claims import Claim, PublishedNumber
from psm_sim.lab.studies.study import Findings, Scale, Table

NAME = "sphere"
_NOISE = (
    "If labels are noisy and every label is used, the reflection is the worst update. The query rule protects"
    " it."
)


class SphereStudy:
    """Study of every setting over many targets, of the Perceptron's rate, and of noisy labels."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one trial per setting and target; *scale* and *seed* as for :meth:`digest`."""
        settings = [setting for setting in SETTINGS if is_full(scale) or setting.features <= 50]
        hits = [
            Trial("hits", hits_of, {"label": setting.label, "seed": number}, weight=setting.features // 5)
            for setting in settings
            for number in range(seed, seed + setting.targets * scale.replications)
        ]
        seeds = range(seed, seed + 2 * scale.replications)
        rates = [Trial("rate", rate_of, {"seed": number}, weight=4) for number in seeds]
        points = 100_000 if is_full(scale) else 20_000
        noisy = [
            Trial("noise", noise_of, {"flips": flips, "points": points, "seed": number}, weight=12)
            for flips in (0.02, 0.1)
            for number in scale.seeds(seed)
        ]
        return [*hits, *rates, *noisy]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Compare labels and mistakes to each error with the reference, and judge the theorems.

        *rows*, *scale* and *seed* as for :class:`~psm_sim.lab.studies.study.Study`.
        """
        hits = frame_of(rows, "hits")
        table = medians(hits, ["setting", "error"], ["labels", "updates", "errors", "reference"])
        groups = hits.groupby(["setting", "error"], sort=False)
        table.insert(3, "quartiles", [_quartiles(labels) for _, labels in groups["labels"]])
        table["labels / (d ln 1/error)"] = table["labels"] / groups["scale"].first().to_numpy()
        rates = frame_of(rows, "rate")
        noise = frame_of(rows, "noise").groupby(["flips", "learner"], sort=False)["final error"].median()
        shown = table[table["setting"].str.endswith("d = 10")]
        return Findings(
            NAME,
            "Labels and mistakes on the uniform sphere",
            f"uniform points, a random half-space, {2 * scale.replications} targets from seed {seed}, "
            f"{10 * scale.replications} up to d = 10, and for DKM up to d = 20",
            commentary=[_NOISE],
            tables=[
                Table("Labels, mistakes and wrong predictions until the error is reached", table),
                Table("Median final error with flipped labels, d = 10", noise.reset_index()),
            ],
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
        ),
        judge_claim(
            PublishedNumber(
                NAME, "modified", "mistakes to .001 over the bound", "thesis, Theorem 4", at_most=1.0
            ),
            updates[every, 0.001] / allowed,
        ),
        judge_claim(
            PublishedNumber(
                NAME, "DKM", "wrong predictions over 64 updates", "thesis, Theorem 5", at_most=1.0
            ),
            selective["errors"] / selective["updates"].map(dkm_errors),
        ),
    ]


def _direction(learner: str, quantity: str, place: str, values: ArrayLike) -> Claim:
    return judge_claim(Direction(NAME, learner, quantity, f"thesis, {place}", side=-1), values)


STUDY = SphereStudy()

"""Study of ISAL in one dimension: its bound, its importance weights, and label noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from psm_lab.active.noisy_threshold_learner import Isalg1d, weighted_error
from psm_lab.active.threshold_learner import Isal1d, isal_draws
from psm_lab.studies.active.learner_trials import CONTROL, THEOREM, frame_of, judge_claim
from psm_lab.studies.active.reference_results import (
    LABELS_1D,
    judge_direction,
    paired_differences,
)
from psm_lab.studies.published_claims import Claim, PublishedNumber
from psm_lab.studies.study import Findings, Scale, Table
from psm_lab.studies.tasks import Rows, Task
from psm_sim.common.random_streams import random_stream

NAME = "isal-1d"
WIDTHS = (0.1, 0.25, 0.5, 1.0, 2.0)
LABELS = (20, 50, 100)
"""Widths s and numbers of labels in the table, as in the reference results."""
THRESHOLDS = 40
"""Number of thresholds in one replication. A row is the mean over these thresholds."""


def widths_of(seed: int) -> list[dict[str, Any]]:
    """Return the mean number of labels until the region is 1e-4 wide, one row per eta and s."""
    return [
        {
            "eta": eta,
            "s": s,
            "labels": _labels(seed, s, eta, 1e-4),
            "bound": isal_draws(s, 1e-4) if eta == 0 else None,
            "reference": reference,
        }
        for eta, references in LABELS_1D.items()
        for s, reference in zip(WIDTHS, references, strict=True)
    ]


def passive_of(seed: int) -> list[dict[str, Any]]:
    """Return the mean labels until the region is .01 wide, for uniform draws and ISAL with s = .25."""
    labels = {name: _labels(seed, 0.25, eta, 0.01) for name, eta in (("passive", 1.0), ("isal", 0.0))}
    return [{**labels, "reference": 171.0}]


def _labels(seed: int, s: float, eta: float, width: float) -> float:
    targets = random_stream(seed, "isal-1d targets").random(THRESHOLDS).tolist()
    learners = (Isal1d(s=s, eta=eta, seed=seed, replication=number) for number in range(THRESHOLDS))
    return float(np.mean([one.run(_answers(c), width) for one, c in zip(learners, targets, strict=True)]))


def _answers(target: float, rng: np.random.Generator | None = None) -> Callable[[float], int]:
    """Return an oracle of a threshold; with *rng* it flips a tenth of its answers."""

    def oracle(x: float) -> int:
        correct = rng is None or rng.random() >= 0.1
        return 1 if (x >= target) == correct else -1

    return oracle


def weights_of(seed: int) -> list[dict[str, Any]]:
    """Return the mean weighted error, over 40 samples, of a threshold with true error .3, one row."""
    return [{f"eta {eta:g}": np.mean([_estimate(seed, n, eta) for n in range(40)]) for eta in (0.0, 0.2)}]


def _estimate(seed: int, number: int, eta: float) -> float:
    """Return the weighted error over 200 draws, a share *eta* uniform on [0, 1], the rest N(.5, .1)."""
    rng = random_stream(seed, f"weights {eta}", number)
    x = np.where(rng.random(200) < eta, rng.random(200), rng.normal(0.5, 0.1, 200))
    bell = np.exp(-(((x - 0.5) / 0.1) ** 2) / 2) / (0.1 * np.sqrt(2 * np.pi))
    weights = ((x >= 0) & (x <= 1)) / ((1 - eta) * bell + eta)
    return weighted_error(np.where(x >= 0.2, 1, -1), np.where(x >= 0.5, 1, -1), weights)


def noise_of(seed: int) -> list[dict[str, Any]]:
    """Return the mean errors of ISALg and of uniform draws after each number of labels."""
    rows = []
    for draws, eta in (("ISALg", 0.2), ("uniform", 1.0)):
        errors = [_noisy_run(seed, number, eta) for number in range(THRESHOLDS)]
        columns = (f"{labels} labels" for labels in LABELS)
        means = dict(zip(columns, np.mean(errors, axis=0).tolist(), strict=True))
        rows.append({"draws": draws, "seed": seed, **means})
    return rows


def _noisy_run(seed: int, number: int, eta: float) -> list[float]:
    target = 0.2 + 0.6 * float(random_stream(seed, "noisy targets", number).random())
    oracle = _answers(target, random_stream(seed, "flips", number))
    learner = Isalg1d(eta=eta, seed=seed, replication=number)
    return [abs(learner.run(oracle, labels) - target) for labels in LABELS]


# Functions, and rough durations of their tasks, of which the longest takes 0.8 s.
WORKS = {
    "width": (widths_of, 4),
    "passive": (passive_of, 1),
    "weights": (weights_of, 1),
    "noise": (noise_of, 20),
}
COMMENTARY = (
    "Under noise ISALg concentrates its draws near the threshold, where the errors carry little information."
    " [003] judges ISALg under noise with planes only, so the thresholds under noise are a control."
)


def tasks(scale: Scale, seed: int) -> Sequence[Task]:
    """Return one trial per kind and replication."""
    return [
        Task(kind, work, {"seed": number}, weight=weight)
        for kind, (work, weight) in WORKS.items()
        for number in scale.seeds(seed)
    ]


def digest(rows: Rows, scale: Scale, seed: int) -> Findings:
    """Compare labels with theory and reference, and return the errors under noise."""
    width, passive, weights, noise = (frame_of(rows, kind) for kind in WORKS)
    columns = ["labels", "bound", "reference"]
    means = width.groupby(["eta", "s"], sort=False)[columns].mean().reset_index()
    errors = noise.drop(columns="seed").groupby("draws", sort=False).mean().reset_index()
    return Findings(
        NAME,
        "ISAL in one dimension",
        f"{scale.replications} x {THRESHOLDS} uniform thresholds on [0, 1], from seed {seed}",
        commentary=[COMMENTARY],
        tables=[
            Table("Labels to a width of 1e-4", means),
            Table("Labels to a width of .01", passive[["passive", "isal", "reference"]].mean().to_frame().T),
            Table("Mean error of the threshold, 10 % of the labels flipped", errors),
        ],
        claims=[*_width_claims(width, passive), *_weight_claims(weights), *_noise_claims(noise)],
    )


def _width_claims(width: pd.DataFrame, passive: pd.DataFrame) -> list[Claim]:
    within = [
        judge_claim(
            PublishedNumber(
                NAME,
                f"ISAL, s = {s:g}",
                "mean labels over the bound of Theorem 2",
                "[003] 5.2, Theorem 2",
                low=0.0,
                high=1.0,
            ),
            group["labels"] / group["bound"],
            THEOREM,
        )
        for s, group in width[width["eta"] == 0].groupby("s", sort=False)
    ]
    names = "passive - ISAL", "labels to a width of .01"
    fewer = passive["passive"] - passive["isal"]
    return [*within, judge_direction(NAME, names, "[003] 5.2", fewer, side=1, role=THEOREM)]


def _weight_claims(weights: pd.DataFrame) -> list[Claim]:
    return [
        judge_claim(
            PublishedNumber(
                NAME,
                f"weights, {eta}",
                "weighted error of a threshold that errs .3",
                "[003], Lemma 1",
                0.3,
                0.024,
            ),
            weights[eta],
            THEOREM,
        )
        for eta in ("eta 0", "eta 0.2")
    ]


def _noise_claims(noise: pd.DataFrame) -> list[Claim]:
    return [
        judge_direction(
            NAME,
            ("ISALg - uniform", f"error after {labels} labels, 10 % flips"),
            "control, not published",
            paired_differences(noise, "draws", f"{labels} labels", ("ISALg", "uniform")),
            role=CONTROL,
        )
        for labels in LABELS
    ]

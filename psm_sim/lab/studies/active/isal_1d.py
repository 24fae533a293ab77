"""Study of ISAL in one dimension: its bound, its importance weights, and label noise."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from psm_sim.campaign.task_runner import Rows, Task
from psm_sim.lab.studies.active.independent_program_results import judge_direction, paired_differences
from psm_sim.lab.studies.active.isal_1d_trials import (
    LABELS,
    THRESHOLDS,
    noise_of,
    passive_of,
    weights_of,
    widths_of,
)
from psm_sim.lab.studies.active.learner_trials import Trial, frame_of, judge_claim
from psm_sim.lab.studies.published_claims import Claim, PublishedNumber
from psm_sim.lab.studies.study import Findings, Scale, Table

NAME = "isal-1d"
SOURCE = "[003] 5.2"
WORKS = {
    "width": (widths_of, 4),
    "passive": (passive_of, 1),
    "weights": (weights_of, 1),
    "noise": (noise_of, 20),
}
COMMENTARY = (
    "Under noise ISALg concentrates its draws near the threshold, where the errors carry little information."
    " This negative result is kept in the report."
)


class Isal1dStudy:
    """Study of labels to a width, weighted errors, and thresholds under 10 % noise."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one trial per kind and replication; *scale* and *seed* as for :meth:`digest`."""
        return [
            Trial(kind, work, {"seed": number}, weight=weight)
            for kind, (work, weight) in WORKS.items()
            for number in scale.seeds(seed)
        ]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Compare labels with theory and reference, and return the errors under noise.

        *rows*, *scale* and *seed* as for :class:`~psm_sim.lab.studies.study.Study`.
        """
        width, passive, weights, noise = (frame_of(rows, kind) for kind in WORKS)
        columns = ["labels", "at most", "reference"]
        means = width.groupby(["eta", "s"], sort=False)[columns].mean().reset_index()
        errors = noise.drop(columns="seed").groupby("draws", sort=False).mean().reset_index()
        return Findings(
            NAME,
            "ISAL in one dimension",
            f"{scale.replications} x {THRESHOLDS} uniform thresholds on [0, 1], from seed {seed}",
            commentary=[COMMENTARY],
            tables=[
                Table("Labels to a width of 1e-4", means),
                Table(
                    "Labels to a width of .01", passive[["passive", "isal", "reference"]].mean().to_frame().T
                ),
                Table("Mean error of the threshold, 10 % of the labels flipped", errors),
            ],
            claims=[*_width_claims(width, passive), *_weight_claims(weights), *_noise_claims(noise)],
        )


def _width_claims(width: pd.DataFrame, passive: pd.DataFrame) -> list[Claim]:
    within = [
        judge_claim(
            PublishedNumber(
                NAME, f"ISAL, s = {s:g}", "labels over the bound of Theorem 2", SOURCE, at_most=1.0
            ),
            [float((group["labels"] / group["at most"]).mean())],
        )
        for s, group in width[width["eta"] == 0].groupby("s", sort=False)
    ]
    names = "passive - ISAL", "labels to a width of .01"
    return [*within, judge_direction(NAME, names, SOURCE, passive["passive"] - passive["isal"], side=1)]


def _weight_claims(weights: pd.DataFrame) -> list[Claim]:
    return [
        judge_claim(
            PublishedNumber(
                NAME, f"weights, {eta}", "weighted error of a threshold that errs .3", "Lemma 1", 0.3, 0.024
            ),
            weights[eta],
        )
        for eta in ("eta 0", "eta 0.2")
    ]


def _noise_claims(noise: pd.DataFrame) -> list[Claim]:
    return [
        judge_direction(
            NAME,
            ("ISALg - uniform", f"error after {labels} labels, 10 % flips"),
            SOURCE,
            paired_differences(noise, "draws", f"{labels} labels", ("ISALg", "uniform")),
        )
        for labels in LABELS
    ]


STUDY = Isal1dStudy()

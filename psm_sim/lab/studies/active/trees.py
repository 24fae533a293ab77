"""OPTNBDT and rival trees: optimal under its model, and errors on six tables."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from psm_sim.campaign.task_runner import Rows, Task
from psm_sim.lab.studies.active.reference_numbers import TREES
from psm_sim.lab.studies.active.reference_tables import direction, reference_table
from psm_sim.lab.studies.active.tree_trials import LARGE, LEARNERS, folds_of, models_of
from psm_sim.lab.studies.active.trials import Trial, frame_of, is_full, judge_claim
from psm_sim.lab.studies.published import Claim, PublishedNumber
from psm_sim.lab.studies.study import Findings, Scale, Table

NAME = "trees"
SOURCE = "[003] figure 2.4"
COMMENTARY = (
    (
        "Four of the six tables are the paper's. Votes comes without its incomplete rows; in crx the source"
        " has lost the decimal points of three columns."
    ),
    (
        "The paper's other tables (flare, hepatitis, lymphography, connect-4, prostate, promoters) are not"
        " shipped: not in the package, not whole, or not public."
    ),
)


class TreesStudy:
    """Repeated 5-fold cross validation, and the value of the trees against brute force."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one trial per table and repeat, 4 repeats in full; and one for the random models."""
        repeats = 4 if is_full(scale) else 1
        folds = [
            Trial("folds", folds_of, {"name": name, "seed": number}, weight=10)
            for name in TREES
            for number in range(seed, seed + (1 if name in LARGE else repeats))
        ]
        models = {"models": 200 if is_full(scale) else 40, "seed": seed}
        return [*folds, Trial("models", models_of, models, weight=40)]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Return mean errors beside the reference, and differences over tables, as the paper tested them.

        *rows*, *scale* and *seed* as in :class:`~psm_sim.lab.studies.study.Study`.
        """
        frame, models = frame_of(rows, "folds"), frame_of(rows, "models")
        words = "OPTNBDT", f"distance from brute force, {len(models)} random models", "Theorem 1"
        repeats = 4 if is_full(scale) else 1
        return Findings(
            NAME,
            "Trees of fixed depth",
            f"5-fold cross validation, {repeats} repeats ({' and '.join(LARGE)} 1), from seed {seed}",
            commentary=COMMENTARY,
            tables=[
                Table(
                    "Mean error; in brackets an independent program's",
                    reference_table(frame, "table", LEARNERS, TREES),
                )
            ],
            claims=[
                judge_claim(PublishedNumber(NAME, *words, at_most=1e-12), models["distance"]),
                *_claims(frame),
            ],
        )


def _claims(frame: pd.DataFrame) -> list[Claim]:
    """Return the claims over tables, one value per table, and on tables, one value per fold."""
    means = frame.groupby("table", sort=False)[list(LEARNERS)].mean()
    over = [("3-NBDT", "2-NBDT"), ("3-NBDT", "3-ID3")]
    on = [("chess", "3-NBDT", "2-NBDT"), ("chess", "3-NBDT", "1-OPT")]
    on += [(table, "1-OPT", rival) for table in ("crx", "votes") for rival in ("3-NBDT", "3-ID3")]
    on += [(str(table), "3-NBDT", "3-ID3") for table in means.index]
    general = [
        direction(NAME, (f"{one} - {two}", "mean error over tables"), SOURCE, means[one] - means[two])
        for one, two in over
    ]
    folds = {str(name): group for name, group in frame.groupby("table", sort=False)}
    special = [
        direction(
            NAME, (f"{one} - {two}, {name}", "error of a fold"), SOURCE, folds[name][one] - folds[name][two]
        )
        for name, one, two in on
    ]
    return [*general, *special]


STUDY = TreesStudy()

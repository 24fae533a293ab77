"""Study of OPTNBDT and other trees, with its optimality under the model and the errors on six tables."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from psm_sim.campaign.task_runner import Rows, Task
from psm_sim.lab.studies.active.independent_program_results import judge_direction, reference_table
from psm_sim.lab.studies.active.learner_trials import Trial, frame_of, is_full, judge_claim
from psm_sim.lab.studies.active.reference_numbers import TREES
from psm_sim.lab.studies.active.tree_trials import LARGE, LEARNERS, folds_of, models_of
from psm_sim.lab.studies.published_claims import Claim, PublishedNumber
from psm_sim.lab.studies.study import Findings, Scale, Table

NAME = "trees"
SOURCE = "[003] figure 2.4"
COMMENTARY = (
    (
        "Four of the six tables are those of the paper. Votes is without its incomplete rows. In crx the"
        " source lacks the decimal points of three columns."
    ),
    (
        "The other tables of the paper (flare, hepatitis, lymphography, connect-4, prostate, promoters) are"
        " not bundled, because they are not in the package, not complete, or not public."
    ),
)


class TreesStudy:
    """Study with repeated 5-fold cross-validation, and with brute force on random models."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one trial per table and repeat, and one for the random models.

        *scale* and *seed* as for :meth:`digest`. At the full scale there are 4 repeats.
        """
        repeats = 4 if is_full(scale) else 1
        folds = [
            Trial("folds", folds_of, {"name": name, "seed": number}, weight=10)
            for name in TREES
            for number in range(seed, seed + (1 if name in LARGE else repeats))
        ]
        models = {"models": 200 if is_full(scale) else 40, "seed": seed}
        return [*folds, Trial("models", models_of, models, weight=40)]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Compare mean errors with the reference, and return differences over tables, as the paper does.

        *rows*, *scale* and *seed* as for :class:`~psm_sim.lab.studies.study.Study`.
        """
        frame, models = frame_of(rows, "folds"), frame_of(rows, "models")
        names = "OPTNBDT", f"distance from brute force, {len(models)} random models", "Theorem 1"
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
                judge_claim(PublishedNumber(NAME, *names, at_most=1e-12), models["distance"]),
                *_claims(frame),
            ],
        )


def _claims(frame: pd.DataFrame) -> list[Claim]:
    """Return the claims over all tables, with a value per table, and on each table, with a value per fold."""
    means = frame.groupby("table", sort=False)[list(LEARNERS)].mean()
    pairs = [("3-NBDT", "2-NBDT"), ("3-NBDT", "3-ID3")]
    table_pairs = [("chess", "3-NBDT", "2-NBDT"), ("chess", "3-NBDT", "1-OPT")]
    table_pairs += [(table, "1-OPT", rival) for table in ("crx", "votes") for rival in ("3-NBDT", "3-ID3")]
    table_pairs += [(str(table), "3-NBDT", "3-ID3") for table in means.index]
    general = [
        judge_direction(NAME, (f"{one} - {two}", "mean error over tables"), SOURCE, means[one] - means[two])
        for one, two in pairs
    ]
    folds = {str(name): group for name, group in frame.groupby("table", sort=False)}
    special = [
        judge_direction(
            NAME, (f"{one} - {two}, {name}", "error of a fold"), SOURCE, folds[name][one] - folds[name][two]
        )
        for name, one, two in table_pairs
    ]
    return [*general, *special]


STUDY = TreesStudy()

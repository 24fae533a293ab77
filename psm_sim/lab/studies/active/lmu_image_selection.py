"""Study of LMU on synthetic sky, with chosen and with random images."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from psm_sim.campaign.task_runner import Rows, Task
from psm_sim.lab.studies.active.independent_program_results import (
    curves,
    judge_direction,
    paired_differences,
    reference_table,
)
from psm_sim.lab.studies.active.learner_trials import Trial, frame_of, is_full, judge_claim
from psm_sim.lab.studies.active.lmu_trials import COLUMNS, COUNTS, LEARNERS, POOL, TEST, all_of, run_of
from psm_sim.lab.studies.active.reference_numbers import IMAGES
from psm_sim.lab.studies.published_claims import Claim, PublishedNumber
from psm_sim.lab.studies.study import Findings, Scale, Table

NAME = "lmu"
SOURCE = "[003] figures 4.4 to 4.9"
NEAR, NEVER = 0.01, 7
"""Distance to the F-measure of all images that counts as reached, and the count if six do not suffice."""

LEVELS = "The F-measure of all {} images is {:.3f}. Without pairs it is {:.3f}, and fitted jointly {:.3f}."
NEEDED = (
    "Mean number of images until F is within .01 of that of all images, counted as {} if six do not suffice:"
    " lmu {:.1f}, random {:.1f}."
)
SYNTHETIC = (
    "The images are synthetic. Their difficulty was set so that random choice and all images give the results"
    " of an independent program, on other seeds than these. Photographs may differ."
)


class LmuStudy:
    """Study of the F-measure after 1 to 6 images out of 30, and of all images."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one trial per learner and set; *scale* and *seed* as for :meth:`digest`.

        At the full scale there are 40 sets. The slowest learner, ``ru``, runs at the full scale only.
        """
        numbers = range(seed, seed + (40 if is_full(scale) else scale.replications))
        runs = [
            Trial("run", run_of, {"learner": name, "seed": number}, weight=15 if name == "ru" else 5)
            for name in LEARNERS
            if is_full(scale) or name != "ru"
            for number in numbers
        ]
        return [*runs, *(Trial("all", all_of, {"seed": number}, weight=3) for number in numbers)]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Compare mean F-measures with the reference, and return the paired differences over sets.

        *rows*, *scale* and *seed* as for :class:`~psm_sim.lab.studies.study.Study`.
        """
        runs, level = frame_of(rows, "run"), frame_of(rows, "all").set_index("seed")
        means = level[["all", "no pairs", "jointly"]].mean()
        needed = {name: _needed(runs, level["all"], name) for name in ("lmu", "random")}
        return Findings(
            NAME,
            "LMU: choosing images to be segmented",
            f"{len(level)} sets of {POOL} + {TEST} synthetic images of 32 x 32 pixels, from seed {seed}",
            remarks=[
                LEVELS.format(POOL, *means),
                NEEDED.format(NEVER, needed["lmu"].mean(), needed["random"].mean()),
            ],
            commentary=[SYNTHETIC],
            tables=[
                Table(
                    "Mean F-measure; in brackets an independent program's",
                    reference_table(runs, "learner", COLUMNS, IMAGES),
                )
            ],
            claims=[*_gain_claims(runs), *_level_claims(level, needed)],
            figures={"bought": curves(runs, "learner", COLUMNS, "F")},
        )


def _needed(runs: pd.DataFrame, level: pd.Series[float], learner: str) -> pd.Series[float]:
    """Return the number of images after which a learner first reaches the level, one value per set."""
    own = runs[runs["learner"] == learner].set_index("seed")
    needed = pd.Series(float(NEVER), index=level.index)
    for count, column in reversed(list(zip(COUNTS, COLUMNS, strict=True))):
        needed[level - own[column] < NEAR] = float(count)
    return needed


def _gain_claims(runs: pd.DataFrame) -> list[Claim]:
    pairs = [("lmu", "random", column) for column in COLUMNS] + [("lmu", "lmu-rand-start", COLUMNS[0])]
    return [
        judge_direction(
            NAME,
            (f"{name} - {rival}", f"F-measure after {column}"),
            SOURCE,
            paired_differences(runs, "learner", column, (name, rival)),
            side=1,
        )
        for name, rival, column in pairs
    ]


def _level_claims(level: pd.DataFrame, needed: dict[str, pd.Series[float]]) -> list[Claim]:
    two = PublishedNumber(NAME, "lmu", "images needed, in the mean", SOURCE, at_most=2.0)
    fewer = ("random - lmu", "images needed")
    pairs = ("CRF - logReg", "F-measure of all images")
    return [
        judge_direction(NAME, fewer, SOURCE, needed["random"] - needed["lmu"], side=1),
        judge_claim(two, [needed["lmu"].mean()]),
        judge_direction(NAME, pairs, SOURCE, level["all"] - level["no pairs"], side=1),
    ]


STUDY = LmuStudy()

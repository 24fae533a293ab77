"""Study of six combinations of query rule and update on handwritten digits (thesis, table 4.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from psm_sim.campaign.task_runner import Rows, Task
from psm_sim.lab.active.data.handwritten_digits import digits_file, mnist_file
from psm_sim.lab.studies.active.learner_trials import (
    Direction,
    Trial,
    frame_of,
    is_full,
    judge_claim,
    missing_requirements,
)
from psm_sim.lab.studies.active.ocr_tables import (
    PAIRS,
    REFERRED,
    nearest_of,
    remarks_of,
    table_of,
    untuned_table_of,
)
from psm_sim.lab.studies.active.ocr_trials import COMBINATIONS, MNIST, SMALL, labels_of
from psm_sim.lab.studies.published_claims import Claim
from psm_sim.lab.studies.study import Findings, Scale, Table

NAME = "ocr"
TITLE = "Labels to a test error on handwritten digits"
QUICK = ("0v1", "4v7", "6v9")
SMALL_SPLITS = 2


ABSENT = "The images are not installed: pip install 'psm_sim[studies]'."
COMMENTARY = (
    "Problems with two digits have 700 training images here, and about 9000 in the thesis.",
    "The USPS digits are not available.",
    (
        "The tuning part of a problem with two digits has 300 images. The chosen parameters vary between"
        " splits, and so do the labels. The tables state the spread over the splits."
    ),
    "DKMperc is fast on the folds that reach the error. On the other folds it stops querying (small R).",
)
_SMALL = "No claim refers to the digits of 8 x 8 pixels, which are small and easy and have two splits."


class OcrStudy:
    """Study of the labels to a test error, per split, problem, combination and fold."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one trial per split, problem and combination or untuned spec.

        *scale* and *seed* as for :meth:`digest`. Without the images there are no trials.
        """
        return [
            task
            for problem in _problems(is_full(scale))
            for split in scale.seeds(seed)[: SMALL_SPLITS if problem in SMALL else None]
            for task in _trials({"problem": problem, "reshuffles": 5 if is_full(scale) else 1, "seed": split})
        ]

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Compare the labels with the published means, and return paired tests.

        *rows*, *scale* and *seed* as for :class:`~psm_sim.lab.studies.study.Study`.
        """
        if not len(rows):
            return missing_requirements(NAME, TITLE, ABSENT)
        frame = frame_of(rows, "folds")
        frame["counted"] = frame["labels"].fillna(frame["length"])
        parts = {name: frame[frame["problem"].isin(names)] for name, names in (("", MNIST), ("small", SMALL))}
        untuned = frame_of(rows, "untuned") if len(parts[""]) else parts[""]
        caption = "Labels to the test error"
        return Findings(
            NAME,
            TITLE,
            f"MNIST-5k, 30 % tuning, the rest in {frame['reshuffle'].nunique()} x 5 folds, one pass,"
            f" {frame['seed'].nunique()} splits from seed {seed}; sd, lowest and highest refer to the means"
            " of the splits; a fold that misses the error counts as its length in the median",
            remarks=[*remarks_of(parts[""]), *nearest_of(untuned)],
            commentary=[*COMMENTARY, *([_SMALL] if len(parts["small"]) else [])],
            tables=[
                *(
                    Table(
                        f"{caption}, digits of 8 x 8 pixels, eight passes" if name else caption,
                        table_of(part),
                    )
                    for name, part in parts.items()
                    if len(part)
                ),
                *([Table(f"{REFERRED} without tuning", untuned_table_of(untuned))] if len(untuned) else []),
            ],
            claims=_claims(parts[""]),
        )


def _trials(arguments: dict[str, Any]) -> Iterator[Task]:
    """Yield the tuned trials of one split, and the untuned trials of a problem that has a reference."""
    for name, specs in COMBINATIONS.items():
        yield Trial("folds", labels_of, {**arguments, "combination": name}, weight=len(specs))
    for spec in COMBINATIONS[REFERRED] if arguments["problem"] in MNIST else ():
        yield Trial("untuned", labels_of, {**arguments, "combination": REFERRED, "fixed": spec})


def _problems(full: bool) -> list[str]:
    problems = list(MNIST) if mnist_file() is not None else []
    if not full:
        return [problem for problem in problems if problem in QUICK]
    return [*problems, *(SMALL if digits_file() is not None else ())]


def _claims(frame: pd.DataFrame) -> list[Claim]:
    """Return one claim per pair, from the mean over the problems of each split."""
    if not len(frame):
        return []
    logs = frame.groupby(["seed", "problem", "combination"])["counted"].median().map(np.log10)
    means = logs.groupby(["seed", "combination"]).mean().unstack()
    quantity = "log10 of median labels, mean over the problems"
    return [
        judge_claim(
            Direction(NAME, f"{first} - {second}", quantity, "thesis, table 4.1", side=-1),
            means[first] - means[second],
        )
        for first, second in PAIRS
    ]


STUDY = OcrStudy()
